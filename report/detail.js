/* detail.js: what is shown, and said, of a point of the chart. */
"use strict";

const TIP = ["time_min_ms", "time_max_ms", "wall_ms", "copies_ms", "gb_s", "memcpy_pct", "gelem_s", "chose", "samples",
  "launches", "occupancy_pct", "energy_mj"];

const rangeOf = (point, name) => `${pretty(point.low, name)} .. ${pretty(point.high, name)}`;

function detailOf(line, point) {
  const lines = [[state.x, state.x === "n" ? sizeText(point.rows[0]) : String(point.x)]];
  if (state.by) return [...lines, ...changeDetail(point)];
  lines.push([titleOf(state.y), pretty(point.y, state.y)]);
  return [...lines, ...(point.rows.length > 1 ? runsDetail(point) : rowDetail(point)), ...identityOf(point.rows[0])];
}

const changeDetail = ({ y, margin, change, oldTime, newTime }) => [["ratio", y.toFixed(3)],
  ["undecided up to", `${(100 * margin).toFixed(1)} %`], ["change", change],
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
