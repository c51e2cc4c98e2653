/* page.js: the whole page, made anew after each choice. */
"use strict";

const $ = (id) => document.getElementById(id);
/* The columns of the table at first, and those in which its rows differ. */
const USUAL = ["op", "algo", "kernel", "device_name", "type", "n", "time_ms", "noise_pct", "gb_s", "memcpy_pct",
  "check", "reason"];

/* ---- The table and the notes ---- */

const CHANGES = new Map(Object.entries({
  a_ms: ({ oldTime }) => String(Number(oldTime.toPrecision(6))),
  b_ms: ({ newTime }) => String(Number(newTime.toPrecision(6))),
  ratio: ({ y }) => y.toFixed(3),
  undecided_pct: ({ margin }) => (100 * margin).toFixed(1),
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
  const empty = compared && state.a === state.b ? `No two values of ${state.by} have a configuration in common.`
    : "No row that passed is left by these choices.";
  return [
    lines.length === 0 && empty,
    lines.length > MOST_LINES && `${MOST_LINES} of ${lines.length} lines are drawn; choose fewer algorithms or values.`,
    pooled > 0 && `${pooled} points are medians of several runs; their bands are the range.`,
    ...(compared ? changesNotes(points, compared) : []),
  ].filter(Boolean).join(" ");
}

function changesNotes(points, { alone, pooled }) {
  const counts = d3.rollup(points, (all) => all.length, (point) => point.change);
  const mean = Math.exp(d3.mean(points, (point) => Math.log(point.y)));
  return [
    counts.size > 0 && `${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")}.`,
    counts.size > 0 && `Geometric mean of ${sideName("b")} / ${sideName("a")}: ${mean.toFixed(3)}.`,
    alone > 0 && `${alone} configurations are left out: the filters leave one side of them.`,
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
