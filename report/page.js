/* page.js: what is chosen, the controls to choose it, and the page that follows from it. What is
 * chosen is in the address, so that a view can be passed on, and so that Back undoes a choice. */
"use strict";

const $ = (id) => document.getElementById(id);
const XS = new Map([["n", "elements n"], ["block", "threads per block"], ["threads", "CPU threads"],
  ["keep", "fraction kept"]]);
const YS = new Map([["gb_s", "GB/s"], ["time_ms", "time"], [SPEEDUP, "speedup"], ["memcpy_pct", "% of memcpy"],
  ["gelem_s", "10⁹ elements/s"], ["wall_ms", "wall time"], ["copies_ms", "time with copies"],
  ["energy_mj", "energy, mJ"]]);
const MEASURES = namesOf(({ class: of, kind }) => of === "MEASURE" && kind !== "TEXT");
const titleOf = (y) => YS.get(y) ?? y.replaceAll("_", " ");
const BASES = ["cub", "thrust", "std", "memcpy"];
const MOST_LINES = 40;
const USUAL = ["op", "algo", "kernel", "device_name", "type", "n", "time_ms", "noise_pct", "gb_s", "memcpy_pct",
  "check", "reason"];
const TIP = ["time_min_ms", "time_max_ms", "wall_ms", "copies_ms", "gb_s", "memcpy_pct", "gelem_s", "chose", "samples",
  "launches", "occupancy_pct", "energy_mj"];

/* ---- What is chosen ---- */

const atFirst = () => ({ x: "n", y: "gb_s", logx: "1", logy: "", base: "", by: "", a: "", b: "", sort: "", down: "",
  find: "" });
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

const sideName = (side) => state[side] || "none";

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
  const ys = [...new Set([...YS.keys(), ...MEASURES])]
    .filter((name) => name === SPEEDUP || rows.some((row) => cell(row, name) !== ""));
  if (!ys.includes(state.y)) [state.y] = ys;
  const rank = new Map([...looks.keys()].map((name, i) => [name, i]));
  const algorithms = [...new Set(rows.map((row) => cell(row, "algo")))]
    .sort((a, b) => (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size) || compareTexts(a, b));
  if (!algorithms.includes(state.base))
    state.base = BASES.find((name) => algorithms.includes(name)) ?? algorithms[0] ?? "";
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

function yTitle() {
  if (state.by) return `time of ${sideName("b")} / time of ${sideName("a")}`;
  return state.y === SPEEDUP ? `times as fast as ${state.base}` : titleOf(state.y);
}

function pictureOf(view, title) {
  const ratio = Boolean(state.by);
  const canBeLog = state.x !== "keep" && view.lines.every((line) => line.points[0].x > 0);
  const showX = (value) => (state.x === "n" ? powerOfTwo(value) : String(value));
  const showY = (value) => pretty(value, ratio ? "" : state.y);
  return {
    lines: view.lines.slice(0, MOST_LINES), title, reference: ratio || state.y === SPEEDUP,
    x: { title: XS.get(state.x) ?? state.x, log: state.logx && canBeLog, base: 2, format: showX },
    y: { title: yTitle(), log: Boolean(state.logy), fromZero: !ratio, nice: Boolean(state.logy), format: showY },
  };
}

/* ---- What is known of a point ---- */

const rangeOf = (point, name) => `${pretty(point.low, name)} .. ${pretty(point.high, name)}`;

function detailOf(line, point) {
  const lines = [[state.x, state.x === "n" ? sizeText(point.rows[0]) : String(point.x)]];
  if (state.by) return [...lines, ...changeDetail(point)];
  lines.push([titleOf(state.y), pretty(point.y, state.y)]);
  return [...lines, ...(point.rows.length > 1 ? runsDetail(point) : rowDetail(point)), ...identityOf(point.rows[0])];
}

const changeDetail = ({ y, low, high, change, oldTime, newTime }) => [["ratio", y.toFixed(3)],
  ["99.5 % interval", `${low.toFixed(3)} .. ${high.toFixed(3)}`], ["change", change],
  [sideName("a"), pretty(oldTime, "time_ms")], [sideName("b"), pretty(newTime, "time_ms")]];

const runsDetail = (point) => [["", `median of ${point.rows.length} rows`], ["range", rangeOf(point, state.y)]];

function rowDetail(point) {
  const [row] = point.rows;
  const noise = cell(row, "noise_pct") ? ` ± ${Number(number(row, "noise_pct").toPrecision(2))} %` : "";
  const isTime = (name) => /_ms$/.test(name);
  const shown = (name) => (isTime(name) ? pretty(number(row, name), name) : cell(row, name));
  return [...(point.low === point.high ? [] : [["quartiles", rangeOf(point, state.y)]]),
    ["time", shown("time_ms") + noise],
    ...TIP.filter((name) => name !== state.y && cell(row, name) !== "")
      .map((name) => [name.replace(/_ms$/, "").replaceAll("_", " "), shown(name)])];
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
  const unit = /_ms$/.test(state.y) ? "" : ` ${titleOf(state.y)}`;
  const value = state.by ? `ratio ${point.y.toFixed(3)}, ${point.change}` : pretty(point.y, state.y) + unit;
  return `${line.name}, ${state.x} ${textOf(state.x, String(point.x))}, ${value}`;
}

/* ---- Controls ---- */

const option = (value, text, disabled = false) => ({ value, text, disabled });
const control = (name, title, options) => ({ name, title, value: state[name], options });

function controlsOf(view) {
  return [
    control("x", "x", xNames.map((name) => option(name, XS.get(name) ?? name))),
    ...(view.sides ? [] : yControls(view)),
    control("by", "compare two", [option("", "no"), ...comparable.map((name) => option(name, name))]),
    ...(view.sides ? sideControls(view.sides) : []),
    ...view.filters.filter(({ choices }) => choices.size > 1).map(filterControl),
  ];
}

function yControls({ ys, algorithms }) {
  const y = control("y", "y", ys.map((name) => option(name, titleOf(name))));
  return state.y === SPEEDUP ? [y, control("base", "over", algorithms.map((name) => option(name, name)))] : [y];
}

function sideControls({ values, withA }) {
  const named = (value, disabled) => option(value, value || "none", disabled);
  return [control("a", "A", values.map((value) => named(value))),
    control("b", "B", values.map((value) => named(value, !(withA.get(value) > 0))))];
}

/* All values that rows have; those that would leave nothing are disabled. */
function filterControl({ name, value, choices }) {
  const options = valuesOf(name).filter((text) => text !== "" || choices.has(text))
    .map((text) => option(text, textOf(name, text) || "none", !choices.has(text)));
  const all = option(ALL, "all, each a line");
  return { name, title: name.replaceAll("_", " "), value, filter: true, options: [all, ...options] };
}

function showControls(view) {
  d3.select("#controls").selectAll("label.list").data(controlsOf(view), ({ name }) => name).join((enter) => {
    const label = enter.append("label").attr("class", "list");
    label.attr("title", ({ name }) => columnOf.get(name)?.meaning ?? "");
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
  d3.select("#picks").selectAll("button.all").data([some]).join("button").attr("type", "button").attr("class", "all")
    .lower().text(some ? "all" : "none").on("click", () => choose(() => { hidden = new Set(some ? [] : algorithms); }));
}

/* ---- The table and the notes ---- */

const CHANGES = new Map(Object.entries({
  a_ms: ({ oldTime }) => String(Number(oldTime.toPrecision(6))),
  b_ms: ({ newTime }) => String(Number(newTime.toPrecision(6))),
  ratio: ({ y }) => y.toFixed(3),
  low: ({ low }) => low.toFixed(3),
  high: ({ high }) => high.toFixed(3),
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
  const usual = USUAL.filter((name) => rows.some((row) => cell(row, name) !== ""));
  const shown = columnsChosen ?? new Set([...usual, ...differ]);
  return { columns: columns.filter((name) => shown.has(name)), everyColumn: columns, rows, text: cell, isNumeric,
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
  const points = lines.flatMap((line) => line.points);
  const pooled = compared ? 0 : d3.sum(points, (point) => point.rows.length > 1);
  return [
    lines.length === 0 && "No row that passed is left by these choices.",
    lines.length > MOST_LINES && `${MOST_LINES} of ${lines.length} lines are drawn; choose fewer algorithms or values.`,
    pooled > 0 && `${pooled} points are medians of several runs; their bands are the range.`,
    ...(compared ? changesNotes(points, compared.pooled) : []),
  ].filter(Boolean).join(" ");
}

function changesNotes(points, pooled) {
  const counts = d3.rollup(points, (all) => all.length, (point) => point.change);
  const mean = Math.exp(d3.mean(points, (point) => Math.log(point.y)));
  return [
    counts.size > 0 && `${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")}.`,
    counts.size > 0 && `Geometric mean of ${sideName("b")} / ${sideName("a")}: ${mean.toFixed(3)}.`,
    pooled > 0 && `${pooled} configurations are left out: one side has rows of several builds or machines.`,
  ];
}

/* ---- All of it ---- */

function update() {
  view = viewOf();
  showControls(view);
  showPicks(view);
  const shown = view.lines.length > 0, drawn = pictureOf(view, "");
  const sharedText = (name) => `${name}=${textOf(name, cell(view.drawn[0], name))}`;
  $("constant").textContent = view.shared.map(sharedText).join(", ");
  $("notes").textContent = notesOf(view);
  $("chart").hidden = $("exports").hidden = !shown;
  $("chart").setAttribute("aria-label", `${drawn.y.title} against ${drawn.x.title}, ${view.lines.length} lines`);
  if (shown) showChart(drawn, detailOf, spokenOf);
  $("find").value = state.find;
  showRows();
}

function fileName(suffix) {
  const name = state.by ? "changes" : `${cell(view.rows[0] ?? [], "op")}-${state.y}`;
  return `scanbench-${name}`.replace(/[^\w-]+/g, "-") + suffix;
}

/* The columns of the files, so that the program can read them again. */
const savedColumns = () => (view.compared ? table.columns : table.everyColumn.filter((name) => name !== "file"));
const titled = () => pictureOf(view, $("constant").textContent);
const SAVES = {
  svg: () => save(fileName(".svg"), "image/svg+xml", textOfSvg(pictureFile(titled()))),
  png: () => savePng(fileName(".png"), pictureFile(titled())),
  csv: () => saveCsv(fileName(".csv"), savedColumns(), table.rows, table.text),
};

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  update();
}

function find() {
  wanted.find = state.find = $("find").value;
  history.replaceState(null, "", hashOf());
  showRows();
}

function listen() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => setTheme(dark.matches ? "dark" : "light");
  follow();
  dark.onchange = follow;
  $("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  $("find").oninput = find;
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
  const known = (name) => (columnOf.has(name) ? valuesOf(name).filter(Boolean) : []);
  const devices = known("device_name"), files = known("file");
  const named = files.length > 4 ? `${files.length} files` : files.join(", ");
  const day = d3.max(known("date"))?.slice(0, 10);
  $("subject").textContent = [devices.join(", "), day, named].filter(Boolean).join(" · ");
  document.title = ["scanbench", devices.join(", ")].filter(Boolean).join(": ");
}

/* On narrow screens the controls are folded. */
const narrow = matchMedia("(max-width: 640px)");
const foldIfNarrow = () => { $("fold").open = !narrow.matches; };

foldIfNarrow();
showSubject();
readHash();
listen(); // which shows the page, in the theme of the system
performance.mark("drawn");
