/* chart.js: draws lines as SVG, on the page or into a file. A picture is {lines, x, y, title,
 * reference}; an axis {title, log, format, base}. */
"use strict";

const FONT = "12px system-ui, sans-serif";
const LABEL_HEIGHT = 14;
const HIGHLIGHTED = ["auto", "cub", "memcpy", "parallel"];
const PALETTE = ["#d55e00", "#1f7fc0", "#00966d", "#b5509c", "#a5762a", "#4c9ad6"];
const DASHES = new Map(Object.entries({ solid: "", dashed: "7 4", dotted: "2 3", dashdot: "8 3 2 3" }));
const SYMBOLS = d3.symbolsFill.slice(0, 6);

/* ---- Looks ---- */

function lookOf(algorithm) {
  let hash = 0;
  for (const c of algorithm) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  const [color, dash] = looks.get(algorithm) ?? [PALETTE[hash % PALETTE.length], [...DASHES.keys()][hash % 3]];
  return { color, dash: DASHES.get(dash), width: HIGHLIGHTED.includes(algorithm) ? 3 : 1.6 };
}

const isBold = (line) => line.look.width > 2;

/* Lines of one algorithm have the same colour and dash, and different symbols. */
function giveLooks(lines) {
  for (const own of d3.group(lines, (line) => cell(line.row, "algo")).values())
    own.forEach((line, i) => { line.look = { ...lookOf(cell(line.row, "algo")), symbol: SYMBOLS[i % SYMBOLS.length] }; });
}

const colorsOf = (element) => Object.fromEntries(["page", "ink", "soft", "line"].map((name) =>
  [name, getComputedStyle(element).getPropertyValue(`--${name}`).trim()]));

/* ---- Labels ---- */

const pen = document.createElement("canvas").getContext("2d");

function widthOf(text, bold) {
  pen.font = bold ? `bold ${FONT}` : FONT;
  return pen.measureText(text).width;
}

function shortened(text, width, bold) {
  if (widthOf(text, bold) <= width) return text;
  let length = text.length;
  while (length > 1 && widthOf(`${text.slice(0, length)}…`, bold) > width) length--;
  return `${text.slice(0, length)}…`;
}

/* Places at least `distance` apart, in the order of the wanted ones and as near to them
 * as can be: what would touch forms a pile around the middle of its wishes. */
function spread(wanted, distance, low, high) {
  const piles = [];
  for (const i of d3.sort(d3.range(wanted.length), (k) => wanted[k])) {
    piles.push({ members: [i] });
    for (;;) {
      const pile = piles.at(-1), below = piles.at(-2);
      const half = distance * (pile.members.length - 1) / 2;
      pile.middle = Math.max(Math.min(d3.mean(pile.members, (k) => wanted[k]), high - half), low + half);
      if (!below || pile.middle - half >= below.middle + distance * (below.members.length + 1) / 2) break;
      below.members.push(...pile.members);
      piles.pop();
    }
  }
  const places = [];
  for (const { members, middle } of piles)
    members.forEach((k, rank) => { places[k] = middle + distance * (rank - (members.length - 1) / 2); });
  return places;
}

/* ---- Scales ---- */

function scaleOf(axis, values, range) {
  let [low, high] = d3.extent(values);
  if (low === high) [low, high] = axis.log ? [low / 2, high * 2] : [low - 1, high + 1];
  const scale = axis.log ? d3.scaleLog().base(axis.base ?? 10) : d3.scaleLinear();
  if (!axis.log && axis.fromZero) [low, high] = [0, high * 1.04];
  return axis.nice ? scale.domain([low, high]).range(range).nice() : scale.domain([low, high]).range(range);
}

/* No more ticks than there is room for: powers of two, or of ten with steps between if there are
 * few of them, or whole steps. */
function ticksOf(axis, scale, room) {
  if (!axis.log) return scale.ticks(room);
  const base = axis.base ?? 10, logs = scale.domain().map((value) => Math.log(value) / Math.log(base));
  const first = Math.floor(logs[0]), last = Math.ceil(logs[1]);
  const step = Math.max(1, Math.ceil((last - first) / room));
  const between = base === 10 && last - first < 3 ? [1, 2, 5] : [1];
  return d3.range(Math.ceil(first / step) * step, last + 1, step).flatMap((k) => between.map((m) => m * base ** k))
    .filter((value) => value >= scale.domain()[0] * 0.999 && value <= scale.domain()[1] * 1.001);
}

/* ---- Drawing ---- */

/* Where things are: labels have a margin of their own, which no line enters. */
function layoutOf(picture, width, height) {
  const narrow = width < 640;
  const label = Math.min(d3.max(picture.lines, (line) => widthOf(line.name, isBold(line))) + 4, width * 0.4);
  const top = picture.title ? 34 : 14, bottom = 46, left = narrow ? 58 : 76;
  const high = Math.max(height, picture.lines.length * LABEL_HEIGHT + top + bottom);
  return { width, height: high, top, bottom: high - bottom, left, right: width - label - 22, label };
}

function drawAxes(svg, picture, layout, colors, scales) {
  const { left, right, top, bottom } = layout;
  const room = Math.max(3, Math.floor((right - left) / 52));
  const xAxis = d3.axisBottom(scales.x).tickValues(ticksOf(picture.x, scales.x, room)).tickFormat(picture.x.format)
    .tickSizeOuter(0);
  const yAxis = d3.axisLeft(scales.y).tickValues(ticksOf(picture.y, scales.y, 7)).tickFormat(picture.y.format)
    .tickSize(left - right).tickPadding(8);
  const axes = svg.append("g").attr("class", "axes").attr("color", colors.soft);
  axes.append("g").attr("transform", `translate(0,${bottom})`).call(xAxis);
  axes.append("g").attr("transform", `translate(${left},0)`).call(yAxis)
    .call((g) => g.select(".domain").remove())
    .call((g) => g.selectAll(".tick line").attr("stroke", colors.line).attr("stroke-opacity", 0.6));
  axes.selectAll("g").attr("font-size", null).attr("font-family", null);
  axes.append("text").attr("class", "x-title").attr("x", (left + right) / 2).attr("y", bottom + 38)
    .attr("text-anchor", "middle").attr("fill", colors.soft).text(picture.x.title);
  axes.append("text").attr("class", "y-title").attr("transform", `translate(13,${(top + bottom) / 2}) rotate(-90)`)
    .attr("text-anchor", "middle").attr("fill", colors.soft).text(picture.y.title);
  if (picture.reference)
    axes.append("line").attr("x1", left).attr("x2", right).attr("y1", scales.y(1)).attr("y2", scales.y(1))
      .attr("stroke", colors.ink).attr("stroke-dasharray", "4 3");
}

/* Each line, with a mark at each point, over the bands of all. */
function drawLines(svg, lines, { x, y }) {
  const inside = (value) => y(Math.max(value, d3.min(y.domain())));
  const faint = Math.max(0.05, Math.min(0.2, 1.2 / lines.length));
  svg.append("g").attr("class", "bands").selectAll("path").data(lines).join("path").attr("class", "band")
    .attr("fill", (line) => line.look.color).attr("stroke", (line) => line.look.color)
    .attr("fill-opacity", faint).attr("stroke-opacity", faint)
    .attr("d", (line) => d3.area((p) => x(p.x), (p) => inside(p.low), (p) => inside(p.high))(line.points));
  const groups = svg.append("g").attr("class", "lines").selectAll("g").data(lines).join("g");
  groups.append("path").attr("class", "line").attr("fill", "none").attr("stroke", (line) => line.look.color)
    .attr("stroke-width", (line) => line.look.width).attr("stroke-dasharray", (line) => line.look.dash)
    .attr("stroke-linejoin", "round").attr("d", (line) => d3.line((p) => x(p.x), (p) => y(p.y))(line.points));
  groups.selectAll("path.mark").data((line) => line.points.map((point) => ({ ...point, ...line.look }))).join("path")
    .attr("class", "mark").attr("fill", ({ color }) => color).attr("d", ({ symbol }) => d3.symbol(symbol, 22)())
    .attr("transform", (p) => `translate(${x(p.x)},${y(p.y)})`);
}

/* Each line's name in the right margin, with a thin leader to the line's end, dotted where it is
 * far away. */
function drawLabels(svg, lines, layout, { x, y }) {
  const ends = lines.map((line) => [x(line.points.at(-1).x), y(line.points.at(-1).y)]);
  const places = spread(ends.map(([, end]) => end), LABEL_HEIGHT, layout.top, layout.bottom);
  const labels = svg.append("g").attr("class", "labels").selectAll("g").data(lines).join("g");
  labels.append("path").attr("fill", "none").attr("stroke", (line) => line.look.color).attr("stroke-opacity", 0.5)
    .attr("stroke-width", 0.7).attr("stroke-dasharray", (_, i) => (layout.right - ends[i][0] > 20 ? "1 4" : null))
    .attr("d", (_, i) => `M${ends[i][0] + 4},${ends[i][1]}L${layout.right + 4},${ends[i][1]}L${layout.right + 16},${places[i]}`);
  labels.append("text").attr("x", layout.right + 19).attr("y", (_, i) => places[i]).attr("dy", "0.35em")
    .attr("fill", (line) => line.look.color).attr("font-weight", (line) => (isBold(line) ? "bold" : null))
    .text((line) => shortened(line.name, layout.label, isBold(line))).append("title").text((line) => line.name);
}

/* Draws into an empty svg element; returns the scales. */
function drawChart(svg, picture, width, height, colors) {
  const layout = layoutOf(picture, width, height);
  const points = picture.lines.flatMap((line) => line.points);
  const inside = points.flatMap((p) => (picture.y.log && !(p.low > 0) ? [p.y] : [p.low, p.y, p.high]));
  const scales = {
    x: scaleOf(picture.x, points.map((p) => p.x), [layout.left, layout.right]),
    y: scaleOf(picture.y, picture.reference ? [...inside, 1] : inside, [layout.bottom, layout.top]),
  };
  svg.attr("xmlns", "http://www.w3.org/2000/svg").attr("width", layout.width).attr("height", layout.height)
    .attr("viewBox", [0, 0, layout.width, layout.height]).attr("style", `font: ${FONT}`);
  svg.append("rect").attr("width", "100%").attr("height", "100%").attr("fill", colors.page);
  if (picture.title)
    svg.append("text").attr("x", 12).attr("y", 20).attr("fill", colors.ink).text(shortened(picture.title, layout.width - 24));
  drawAxes(svg, picture, layout, colors, scales);
  drawLines(svg, picture.lines, scales);
  drawLabels(svg, picture.lines, layout, scales);
  return scales;
}

/* ---- The chart of the page: mouse, touch and keys ---- */

const chart = { lines: [], scales: null, at: null, detail: () => [], say: () => "" };

function showChart(picture, detail, say) {
  const box = document.getElementById("chart");
  box.replaceChildren();
  const svg = d3.select(box).append("svg").attr("aria-hidden", "true");
  const scales = drawChart(svg, picture, box.clientWidth, Math.min(innerHeight * 0.62, 560), colorsOf(box));
  Object.assign(chart, { lines: picture.lines, scales, at: null, detail, say });
  hideTip();
}

const pixelOf = (point) => [chart.scales.x(point.x), chart.scales.y(point.y)];

/* Marks one point of a line, and shows what is known of it. */
function showTip(line, point) {
  chart.at = { line, point };
  const box = document.getElementById("chart"), [x, y] = pixelOf(point);
  d3.select(box).selectAll(".lines > g, .labels > g").attr("opacity", (other) => (other === line ? 1 : 0.25));
  d3.select(box).selectAll(".band").attr("opacity", (other) => (other === line ? 1 : 0));
  const tip = d3.select("#tip").attr("hidden", null).html("");
  tip.append("b").text(line.name);
  const lines = tip.append("table").selectAll("tr").data(chart.detail(line, point)).join("tr");
  lines.append("th").attr("scope", "row").text(([name]) => name);
  lines.append("td").text(([, value]) => value);
  const outer = box.getBoundingClientRect(), own = tip.node().getBoundingClientRect();
  const left = Math.min(Math.max(4, outer.left + x + 14), innerWidth - own.width - 4);
  const above = outer.top + y - own.height - 10;
  tip.style("left", `${left + scrollX}px`).style("top", `${(above > 4 ? above : outer.top + y + 14) + scrollY}px`);
}

function hideTip() {
  chart.at = null;
  d3.select("#tip").attr("hidden", "");
  d3.selectAll("#chart .lines > g, #chart .labels > g, #chart .band").attr("opacity", null);
}

function hover(event) {
  const [x, y] = d3.pointer(event, document.querySelector("#chart svg"));
  const places = chart.lines.flatMap((line) => line.points.map((point) => {
    const [px, py] = pixelOf(point);
    return { line, point, distance: Math.hypot(px - x, py - y) };
  }));
  const nearest = d3.least(places, (place) => place.distance);
  if (nearest && nearest.distance < 40) showTip(nearest.line, nearest.point);
  else hideTip();
}

/* The lines at about this place, from the top. */
function linesAt(x) {
  const near = (line) => d3.least(line.points, (point) => Math.abs(chart.scales.x(point.x) - x));
  return d3.sort(chart.lines.map((line) => ({ line, point: near(line) })), ({ point }) => pixelOf(point)[1]);
}

function moveByKey(event) {
  const along = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
  const across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.key === "Escape") hideTip();
  if ((along === undefined && across === undefined) || chart.lines.length === 0) return;
  event.preventDefault();
  const at = chart.at ?? { line: chart.lines[0], point: chart.lines[0].points.at(-1) };
  const { points } = at.line;
  let next = at;
  if (chart.at && along !== undefined)
    next = { line: at.line, point: points[Math.max(0, Math.min(points.length - 1, points.indexOf(at.point) + along))] };
  else if (chart.at) {
    const all = linesAt(pixelOf(at.point)[0]), place = all.findIndex(({ line }) => line === at.line);
    next = all[Math.max(0, Math.min(all.length - 1, place + across))];
  }
  showTip(next.line, next.point);
  document.getElementById("spoken").textContent = chart.say(next.line, next.point);
}
