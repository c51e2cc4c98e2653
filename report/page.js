/* page.js: what is chosen, the controls to choose it, and the page that follows from it. What is
 * chosen is in the address, so that a view can be passed on, and so that Back undoes a choice. */
"use strict";

const $ = (id) => document.getElementById(id);
const XS = new Map([["n", "elements n"], ["block", "threads per block"], ["threads", "CPU threads"], ["keep", "fraction kept"]]);
const YS = new Map([["gb_s", "GB/s"], ["time_ms", "time"], [SPEEDUP, "speedup"], ["memcpy_pct", "% of memcpy"],
  ["gelem_s", "10⁹ elements/s"], ["wall_ms", "wall time"], ["copies_ms", "time with copies"], ["energy_mj", "energy, mJ"]]);
const BASES = ["cub", "thrust", "std", "memcpy"];
const MOST_LINES = 40;
const USUAL = ["op", "algo", "kernel", "device_name", "type", "n", "time_ms", "noise_pct", "gb_s", "memcpy_pct", "check", "reason"];
const TIP = ["time_min_ms", "time_max_ms", "wall_ms", "copies_ms", "gb_s", "memcpy_pct", "gelem_s", "chose", "samples",
  "launches", "occupancy_pct", "energy_mj"];

/* ---- What is chosen ---- */

const atFirst = () => ({ x: "n", y: "gb_s", logx: "1", logy: "", base: "", by: "", a: "", b: "", sort: "", down: "", find: "" });
/* What was chosen, and what it comes to with the rows that there are. */
let wanted = atFirst(), state = wanted;
let chosen = new Map(), hidden = new Set(), columnsChosen = null, allTableRows = false;
const xNames = ["n", ...AXES.filter((name) => isNumeric(name) && !["n", "launch"].includes(name) &&
  valuesOf(name).filter(Boolean).length > 1)];

function readHash() {
  [wanted, chosen, hidden] = [atFirst(), new Map(), new Set()];
  for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
    if (Object.hasOwn(wanted, key)) wanted[key] = value;
    else if (key === "hide") hidden.add(value);
    else if (FILTERS.includes(key)) chosen.set(key, value);
  if (!xNames.includes(wanted.x)) wanted.x = "n";
  if (!comparable.includes(wanted.by)) wanted.by = "";
}

function hashOf() {
  const usual = atFirst();
  const words = Object.entries(wanted).filter(([key, value]) => value !== usual[key]);
  return `#${new URLSearchParams([...words, ...chosen, ...[...hidden].map((name) => ["hide", name])])}`;
}

/* A step that Back undoes. */
function choose(change) {
  change();
  history.pushState(null, "", hashOf());
  update();
}

/* ---- What follows from it ---- */

/* What A and B may differ in. */
const comparable = FILTERS.filter((name) => !["op", "n"].includes(name) && valuesOf(name).length > 1);

/* B is what shares most with A, unless it is chosen. */
function settleSides() {
  const values = valuesOf(state.by);
  const shared = (a, b) => (a === b ? 0 : pairedRows({ by: state.by, a, b }).length);
  const partners = (a) => new Map(values.map((b) => [b, shared(a, b)]));
  if (!values.includes(state.a))
    state.a = d3.greatest(values, (a) => d3.max(partners(a).values()));
  const withA = partners(state.a);
  if (!(withA.get(state.b) > 0)) [state.b] = d3.greatest(withA, ([, count]) => count);
  return { values, withA };
}

function viewOf() {
  state = { ...wanted };
  const sides = state.by ? settleSides() : null;
  const start = (state.by ? pairedRows(state) : passedRows).filter((row) => Number.isFinite(number(row, state.x)));
  const { rows, filters } = filtered(start, chosen, state.x, state.by);
  const ys = [...YS.keys()].filter((name) => name === SPEEDUP || rows.some((row) => cell(row, name) !== ""));
  if (!ys.includes(state.y)) [state.y] = ys;
  const rank = new Map([...looks.keys()].map((name, i) => [name, i]));
  const algorithms = [...new Set(rows.map((row) => cell(row, "algo")))]
    .sort((a, b) => (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size) || compareTexts(a, b));
  if (!algorithms.includes(state.base)) state.base = BASES.find((name) => algorithms.includes(name)) ?? algorithms[0] ?? "";
  const compared = state.by ? comparison(rows, state) : null;
  const all = compared ? compared.lines : withPoints(linesOf(rows, state.x, IDENTITY), state);
  const order = (line) => algorithms.indexOf(cell(line.row, "algo"));
  const lines = d3.sort(all.filter((line) => !hidden.has(cell(line.row, "algo"))), order);
  nameLines(lines, state.x);
  giveLooks(lines);
  const drawn = lines.flatMap((line) => line.points.flatMap((point) => point.rows));
  return { sides, filters, rows, ys, algorithms, compared, lines, drawn, shared: sharedNames(drawn) };
}

/* The columns that say the same of all rows of the chart. */
function sharedNames(rows) {
  return IDENTITY.filter((name) => name !== state.x && rows.length > 0 && cell(rows[0], name) !== "" &&
    rows.every((row) => cell(row, name) === cell(rows[0], name)));
}

function pictureOf(view, title) {
  const ratio = Boolean(state.by);
  const y = ratio ? `time of ${state.b || "none"} / time of ${state.a || "none"}`
    : state.y === SPEEDUP ? `times as fast as ${state.base}` : YS.get(state.y);
  return {
    lines: view.lines.slice(0, MOST_LINES), title, reference: ratio || state.y === SPEEDUP,
    x: { title: XS.get(state.x) ?? state.x, log: state.logx && view.lines.every((line) => line.points[0].x > 0) && state.x !== "keep",
      base: 2, format: (value) => (state.x === "n" ? powerOfTwo(value) : String(value)) },
    y: { title: y, log: Boolean(state.logy), fromZero: !ratio, nice: Boolean(state.logy),
      format: (value) => pretty(value, ratio ? "" : state.y) },
  };
}

/* ---- What is known of a point ---- */

const rangeOf = (point, name) => `${pretty(point.low, name)} .. ${pretty(point.high, name)}`;

function detailOf(line, point) {
  const row = point.rows[0], lines = [[state.x, cell(row, "n") && state.x === "n" ? sizeText(row) : String(point.x)]];
  if (state.by)
    return [...lines, ["ratio", point.y.toFixed(3)], ["99.5 % interval", `${point.low.toFixed(3)} .. ${point.high.toFixed(3)}`],
      ["change", point.change], [state.a || "none", pretty(point.oldTime, "time_ms")], [state.b || "none", pretty(point.newTime, "time_ms")]];
  lines.push([YS.get(state.y), pretty(point.y, state.y)]);
  if (point.rows.length > 1)
    return [...lines, ["", `median of ${point.rows.length} rows`], ["range", rangeOf(point, state.y)], ...identityOf(row)];
  const noise = cell(row, "noise_pct") ? ` ± ${Number(number(row, "noise_pct").toPrecision(2))} %` : "";
  if (point.low !== point.high) lines.push(["quartiles", rangeOf(point, state.y)]);
  return [...lines, ["time", pretty(number(row, "time_ms"), "time_ms") + noise],
    ...TIP.filter((name) => name !== state.y && cell(row, name) !== "")
      .map((name) => [name.replace(/_ms$/, "").replaceAll("_", " "), /_ms$/.test(name) ? pretty(number(row, name), name) : cell(row, name)]),
    ...identityOf(row)];
}

function sizeText(row) {
  const text = textOf("n", cell(row, "n"));
  return text === cell(row, "n") ? text : `${text} = ${cell(row, "n")}`;
}

/* What is not already above the chart. */
const identityOf = (row) => [...IDENTITY, "date"]
  .filter((name) => ![state.x, "algo", ...view.shared].includes(name) && cell(row, name) !== "")
  .map((name) => [name, cell(row, name)]);

function spokenOf(line, point) {
  const value = state.by ? `ratio ${point.y.toFixed(3)}, ${point.change}` : `${pretty(point.y, state.y)} ${/_ms$/.test(state.y) ? "" : YS.get(state.y)}`;
  return `${line.name}, ${state.x} ${textOf(state.x, String(point.x))}, ${value}`;
}

/* ---- Controls ---- */

const option = (value, text, disabled = false) => ({ value, text, disabled });

function controlsOf(view) {
  const list = [
    { name: "x", title: "x", value: state.x, options: xNames.map((name) => option(name, XS.get(name) ?? name)) },
    { name: "by", title: "compare two", value: state.by,
      options: [option("", "no"), ...comparable.map((name) => option(name, name))] },
  ];
  if (view.sides) {
    const named = (value, disabled) => option(value, value || "none", disabled);
    list.push({ name: "a", title: "A", value: state.a, options: view.sides.values.map((value) => named(value)) },
      { name: "b", title: "B", value: state.b, options: view.sides.values.map((value) => named(value, !(view.sides.withA.get(value) > 0))) });
  } else {
    list.splice(1, 0, { name: "y", title: "y", value: state.y, options: view.ys.map((name) => option(name, YS.get(name))) });
    if (state.y === SPEEDUP)
      list.splice(2, 0, { name: "base", title: "over", value: state.base, options: view.algorithms.map((name) => option(name, name)) });
  }
  return [...list, ...view.filters.filter(({ choices }) => choices.size > 1).map(filterControl)];
}

/* All values that rows have; those that would leave nothing are disabled. */
function filterControl({ name, value, choices }) {
  const options = valuesOf(name).filter((text) => text !== "" || choices.has(text))
    .map((text) => option(text, textOf(name, text) || "none", !choices.has(text)));
  return { name, title: name.replaceAll("_", " "), value, filter: true, options: [option(ALL, "all, each a line"), ...options] };
}

function showControls(view) {
  d3.select("#controls").selectAll("label.list").data(controlsOf(view), (control) => control.name).join((enter) => {
    const label = enter.append("label").attr("class", "list").attr("title", ({ name }) => columnOf.get(name)?.meaning ?? "");
    label.append("span");
    label.append("select").attr("name", ({ name }) => name).on("change", (event, { name, filter }) => choose(() => {
      if (filter) chosen.set(name, event.target.value);
      else wanted[name] = event.target.value;
    }));
    return label;
  }).order().call((label) => label.select("span").text(({ title }) => title))
    .select("select").each(function fill({ options, value }) {
      d3.select(this).selectAll("option").data(options).join("option").attr("value", (o) => o.value)
        .property("disabled", (o) => o.disabled).text((o) => o.text);
      this.value = value;
    });
  d3.select("#controls").selectAll("label.tick").data([["logx", "log x"], ["logy", "log y"]]).join((enter) => {
    const label = enter.append("label").attr("class", "tick");
    label.append("input").attr("type", "checkbox").attr("name", ([name]) => name)
      .on("change", (event, [name]) => choose(() => { wanted[name] = event.target.checked ? "1" : ""; }));
    label.append("span").text(([, title]) => title);
    return label;
  }).raise().select("input").property("checked", ([name]) => Boolean(state[name]));
}

function showPicks({ algorithms }) {
  const toggle = (name) => choose(() => { if (!hidden.delete(name)) hidden.add(name); });
  const buttons = d3.select("#picks").selectAll("button.pick").data(algorithms, String).join((enter) => {
    const button = enter.append("button").attr("type", "button").attr("class", "pick").attr("data-algorithm", String);
    button.append("svg").attr("width", 22).attr("height", 4).attr("aria-hidden", "true").append("line")
      .attr("x2", 22).attr("y1", 2).attr("y2", 2).attr("stroke-width", 3)
      .attr("stroke", (name) => lookOf(name).color).attr("stroke-dasharray", (name) => lookOf(name).dash);
    button.append("span").text(String);
    return button.on("click", (_, name) => toggle(name));
  }).order();
  buttons.attr("aria-pressed", (name) => String(!hidden.has(name)));
  const some = algorithms.some((name) => hidden.has(name));
  d3.select("#picks").selectAll("button.all").data([some]).join("button").attr("type", "button").attr("class", "all").lower()
    .text(some ? "all" : "none").on("click", () => choose(() => { hidden = new Set(some ? [] : algorithms); }));
}

/* ---- The table and the notes ---- */

const CHANGES = new Map(Object.entries({
  a_ms: (change) => String(Number(change.oldTime.toPrecision(6))), b_ms: (change) => String(Number(change.newTime.toPrecision(6))),
  ratio: (change) => change.y.toFixed(3), low: (change) => change.low.toFixed(3), high: (change) => change.high.toFixed(3),
  change: ({ change }) => change,
}));

function changesTable({ compared, lines }) {
  const drawn = new Set(lines.flatMap((line) => line.points));
  const changes = compared.changes.filter((change) => drawn.has(change));
  const axes = AXES.filter((name) => ["algo", "n"].includes(name) ||
    (name !== state.by && new Set(changes.map(({ row }) => cell(row, name))).size > 1));
  const columns = [...axes, ...CHANGES.keys()];
  return { columns, everyColumn: columns, rows: changes, isBad: ({ change }) => change === "slower",
    isNumeric: (name) => (CHANGES.has(name) ? name !== "change" : isNumeric(name)),
    text: (change, name) => (CHANGES.has(name) ? CHANGES.get(name)(change) : cell(change.row, name)) };
}

function rowsTable({ filters }) {
  const passes = (row) => !hidden.has(cell(row, "algo")) && filters.every(({ name, value }) => fits(row, name, value));
  const rows = $("everything").checked ? allRows : allRows.filter(passes);
  const differ = IDENTITY.filter((name) => new Set(rows.map((row) => cell(row, name))).size > 1);
  const columns = data.columns.map(({ name }) => name);
  const wanted = columnsChosen ?? new Set([...USUAL.filter((name) => rows.some((row) => cell(row, name) !== "")), ...differ]);
  return { columns: columns.filter((name) => wanted.has(name)), everyColumn: columns, rows, text: cell, isNumeric,
    isBad: (row) => ["failed", "error"].includes(cell(row, "check")) };
}

let table, view;

function showRows() {
  table = view.compared ? changesTable(view) : rowsTable(view);
  const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
  table.rows = sorted(found(table.rows, table, words), table, { column: state.sort, down: state.down });
  showTable(table, { column: state.sort, down: Boolean(state.down) }, allTableRows,
    (name) => choose(() => { wanted.down = wanted.sort === name && !wanted.down ? "1" : ""; wanted.sort = name; }));
  $("table-title").textContent = view.compared ? "Changes" : "Rows";
  d3.selectAll("#table-head .of-rows").property("hidden", Boolean(view.compared));
  const all = view.compared ? view.compared.changes.length : allRows.length;
  $("count").textContent = table.rows.length === all ? `${all}` : `${table.rows.length} of ${all}`;
  d3.select("#columns").selectAll("label").data(view.compared ? [] : table.everyColumn, String).join((enter) => {
    const label = enter.append("label");
    label.append("input").attr("type", "checkbox").on("change", (event, name) => {
      columnsChosen = new Set(table.columns);
      columnsChosen[event.target.checked ? "add" : "delete"](name);
      showRows();
    });
    label.append("span").text((name) => ` ${name}`);
    return label;
  }).select("input").property("checked", (name) => table.columns.includes(name));
}

function notesOf({ lines, compared }) {
  const notes = [];
  if (lines.length === 0) notes.push("No row that passed is left by these choices.");
  if (lines.length > MOST_LINES) notes.push(`${MOST_LINES} of ${lines.length} lines are drawn; choose fewer algorithms or values.`);
  const pooled = d3.sum(lines, (line) => d3.sum(line.points, (point) => !compared && point.rows.length > 1));
  if (pooled) notes.push(`${pooled} points are medians of several runs; their bands are the range.`);
  if (!compared) return notes.join(" ");
  const counts = d3.rollup(lines.flatMap((line) => line.points), (all) => all.length, (point) => point.change);
  notes.push([...counts].map(([word, count]) => `${count} ${word}`).join(", ") + ".");
  const mean = Math.exp(d3.mean(lines.flatMap((line) => line.points), (point) => Math.log(point.y)));
  if (lines.length > 0) notes.push(`Geometric mean of ${state.b || "none"} / ${state.a || "none"}: ${mean.toFixed(3)}.`);
  if (compared.pooled) notes.push(`${compared.pooled} configurations are left out: one side has rows of several builds or machines.`);
  return notes.join(" ");
}

/* ---- All of it ---- */

function update() {
  view = viewOf();
  showControls(view);
  showPicks(view);
  const shown = view.lines.length > 0, drawn = pictureOf(view, "");
  $("constant").textContent = view.shared.map((name) => `${name}=${textOf(name, cell(view.drawn[0], name))}`).join(", ");
  $("notes").textContent = notesOf(view);
  $("chart").hidden = $("exports").hidden = !shown;
  $("chart").setAttribute("aria-label", `${drawn.y.title} against ${drawn.x.title}, ${view.lines.length} lines`);
  if (shown) showChart(drawn, detailOf, spokenOf);
  $("find").value = state.find;
  showRows();
}

const fileName = (suffix) => `scanbench-${state.by ? "changes" : `${cell(view.rows[0] ?? [], "op")}-${state.y}`}`.replace(/[^\w-]+/g, "-") + suffix;
const titled = () => pictureOf(view, $("constant").textContent);
const SAVES = {
  svg: () => save(fileName(".svg"), "image/svg+xml", textOfSvg(pictureFile(titled()))),
  png: () => savePng(fileName(".png"), pictureFile(titled())),
  csv: () => saveCsv(fileName(".csv"), view.compared ? table.columns : table.everyColumn.filter((name) => name !== "file"), table.rows, table.text),
};

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function listen() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => setTheme(dark.matches ? "dark" : "light");
  follow();
  dark.onchange = () => { follow(); update(); };
  $("theme").onclick = () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); update(); };
  $("find").oninput = () => { wanted.find = state.find = $("find").value; history.replaceState(null, "", hashOf()); showRows(); };
  $("everything").onchange = showRows;
  $("more").onclick = () => { allTableRows = true; showRows(); };
  $("controls").onsubmit = () => false;
  d3.selectAll("[data-save]").on("click", (event) => SAVES[event.target.dataset.save]());
  d3.select("#chart").on("pointermove pointerdown", hover).on("pointerleave blur", hideTip).on("keydown", moveByKey);
  narrow.onchange = foldIfNarrow;
  addEventListener("resize", update);
  addEventListener("popstate", () => { readHash(); update(); });
}

function showSubject() {
  const [devices, files, dates] = ["device_name", "file", "date"].map((name) => (columnOf.has(name) ? valuesOf(name).filter(Boolean) : []));
  $("subject").textContent = [devices.join(", "), d3.max(dates)?.slice(0, 10), files.length > 4 ? `${files.length} files` : files.join(", ")]
    .filter(Boolean).join(" · ");
  document.title = ["scanbench", devices.join(", ")].filter(Boolean).join(": ");
}

/* On narrow screens the controls are folded. */
const narrow = matchMedia("(max-width: 640px)");
const foldIfNarrow = () => { $("fold").open = !narrow.matches; };

foldIfNarrow();
listen();
showSubject();
readHash();
update();
performance.mark("drawn");
