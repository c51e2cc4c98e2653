/* state.js: what is chosen, and what it comes to with the rows that there are. What is chosen is in
 * the address, so that a view can be passed on, and so that Back undoes a choice. */
"use strict";

const XS = new Map([["n", "elements n"], ["block", "threads per block"], ["threads", "CPU threads"],
  ["keep", "fraction kept"]]);
const YS = new Map([["gb_s", "GB/s"], ["time_ms", "time"], [SPEEDUP, "speedup"], ["memcpy_pct", "% of memcpy"],
  ["gelem_s", "10⁹ elements/s"], ["wall_ms", "wall time"], ["copies_ms", "time with copies"],
  ["energy_mj", "energy, mJ"]]);
const MEASURES = namesOf(({ class: of, kind }) => of === "MEASURE" && kind !== "TEXT");
const titleOf = (y) => YS.get(y) ?? y.replaceAll("_", " ");
const BASES = ["cub", "thrust", "std", "memcpy"];
const MOST_LINES = 40;

/* ---- What is chosen ---- */

/* A and B: "" is the empty value, null that none is chosen. */
const atFirst = () => ({ x: "n", y: "gb_s", logx: "1", logy: "", base: "", by: "", a: null, b: null, sort: "", down: "",
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

/* A and B are what share most configurations, unless they are chosen and share any. */
function settleSides(rows) {
  const keys = d3.rollup(rows, (own) => new Set(own.map((row) => configurationOf(row, state.by))),
    (row) => cell(row, state.by));
  const values = d3.sort(keys.keys(), compareTexts);
  const shared = (a, b) => (a === b ? 0 : d3.sum(keys.get(a), (key) => keys.get(b).has(key)));
  const partners = new Map(values.map((a) => [a, new Map(values.map((b) => [b, shared(a, b)]))]));
  const most = (value) => d3.max(partners.get(value)?.values() ?? []);
  if (!(most(state.a) > 0)) state.a = d3.greatest(values, most);
  const withA = partners.get(state.a) ?? new Map();
  if (!(withA.get(state.b) > 0)) state.b = d3.greatest(withA.keys(), (b) => withA.get(b));
  return { values, most, withA };
}

function viewOf() {
  state = { ...wanted };
  if (state.x === state.by) state.x = "n";
  const usable = passedRows.filter((row) => Number.isFinite(number(row, state.x)) &&
    (!state.by || number(row, "time_ms") > 0));
  const sides = state.by ? settleSides(usable) : null;
  const { rows, filters } = filtered(pairedRows(usable, state), chosen, state);
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
