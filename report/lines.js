/* lines.js: which rows are left by the filters, and the lines of a chart that they make. Rows
 * that differ in anything but what was measured never share a line. */
"use strict";

const ALL = "*";
const SPEEDUP = "speedup";
/* A filter's choices are those that the filters before it leave. */
const FIRST = ["op", "device_name", "file"], LAST = ["n"];
/* What an algorithm has, or runs with, by its own nature. */
const OF_THE_ALGORITHM = ["block", "threads", "simd", "library_version"];
/* All values at first, each in a line of its own. */
const TOGETHER = [...OF_THE_ALGORITHM, "device"];
const FILTERS = [...FIRST, ...IDENTITY.filter((name) =>
  ![...FIRST, ...LAST, "algo", "kernel", "launch", "line"].includes(name)), ...LAST];
/* The program's defaults count twice where a filter starts. */
const DEFAULTS = new Map(Object.entries({ op: "scan", type: "i32", kind: "exclusive", cache: "cold", input: "uniform",
  max: "49", keep: "0.75", scratch: "kept", values: "none" }));

/* ---- Filters ---- */

const fits = (row, name, value) => value === ALL || cell(row, name) === value || !applies(name, row);

/* How many steps along x the rows have, over all algorithms. */
const stepsOf = (rows, x) => d3.sum(d3.group(rows, (row) => cell(row, "algo")).values(),
  (own) => new Set(own.map((row) => cell(row, x))).size - 1);

/* The value with which most is drawn; of equal ones that with more rows, and the shorter name. */
function startOf(name, groups, x) {
  if (TOGETHER.includes(name) || groups.size === 0) return ALL;
  const sizes = d3.map(groups, ([value, rows]) => {
    const weight = DEFAULTS.get(name) === value ? 2 : 1;
    return { value, steps: weight * stepsOf(rows, x), rows: weight * rows.length };
  });
  return d3.greatest(sizes, (a, b) => a.steps - b.steps || a.rows - b.rows || b.value.length - a.value.length).value;
}

/* {name, value, choices, keeps} of one column: as wished if that leaves rows, of both sides if two
 * are compared, or else where the rows are. A value does not filter a side that lacks it: two
 * files may have no commit in common. */
function filterOf(name, rows, wish, asked) {
  const byValue = (some) => d3.group(some, (row) => cell(row, name));
  const having = rows.filter((row) => applies(name, row)), groups = byValue(having);
  const sideOf = (row) => asked.by && cell(row, asked.by);
  const keeper = (value) => {
    const sides = new Set(groups.get(value)?.map(sideOf));
    return (row) => fits(row, name, value) || !sides.has(sideOf(row));
  };
  const shared = byValue([...groups.values()].flatMap((own) => pairedRows(own, asked)));
  const leaves = (value) => shared.has(value) || pairedRows(rows.filter(keeper(value)), asked).length > 0;
  const choices = new Set([...groups.keys()].filter(leaves));
  const open = having.filter((row) => choices.has(cell(row, name)));
  const starts = shared.size > 0 ? shared : byValue(severalRows(name, open, asked));
  const value = wish === ALL || choices.has(wish) ? wish : startOf(name, starts, asked.x);
  return { name, value, choices, keeps: keeper(value) };
}

/* {rows, filters}: what the filters of all columns leave. */
function filtered(all, chosen, asked) {
  const filters = [];
  let rows = all;
  for (const name of FILTERS.filter((other) => ![asked.x, asked.by].includes(other))) {
    const filter = filterOf(name, rows, chosen.get(name), asked);
    if (filter.choices.size === 0) continue;
    filters.push(filter);
    rows = pairedRows(rows.filter(filter.keeps), asked);
  }
  return { rows: all.filter((row) => filters.every(({ keeps }) => keeps(row))), filters };
}

/* ---- Points ---- */

const isRate = (y) => ["gb_s", "gelem_s", "memcpy_pct", "peak_pct", SPEEDUP].includes(y);

/* The quartiles of the times of a row, or else the noise of their median, over the median. */
function quartiles(row) {
  const time = number(row, "time_ms"), noise = (number(row, "noise_pct") || 0) / 100;
  return [number(row, "time_q1_ms") / time || 1 - noise, number(row, "time_q3_ms") / time || 1 + noise];
}

/* One row: its value, with the quartiles of its runs. Several: their median, and their range. */
function pointOf(x, rows, y, base) {
  const values = rows.map((row) => (y === SPEEDUP ? base / number(row, "time_ms") : number(row, y)));
  const point = { x, y: d3.median(values), rows };
  if (rows.length > 1) [point.low, point.high] = d3.extent(values);
  else if (isRate(y)) [point.high, point.low] = quartiles(rows[0]).map((factor) => point.y / factor);
  else if (y === "time_ms") [point.low, point.high] = quartiles(rows[0]).map((factor) => point.y * factor);
  else point.low = point.high = point.y;
  return point;
}

/* ---- Lines ---- */

const keyOf = (row, names) => JSON.stringify(names.map((name) => cell(row, name)));

/* [{row, at: Map of x to rows}]: what is the same but for x. */
function linesOf(rows, x, identity) {
  const names = identity.filter((name) => name !== x);
  return [...d3.group(rows.filter((row) => Number.isFinite(number(row, x))), (row) => keyOf(row, names)).values()]
    .map((own) => ({ row: own[0], at: d3.group(own, (row) => number(row, x)) }));
}

/* The line of the reference algorithm that has all else in common, if there is just one. */
function baseOf(line, lines, base, x) {
  const must = IDENTITY.filter((name) => !["algo", x, ...OF_THE_ALGORITHM].includes(name));
  const same = (other) => OF_THE_ALGORITHM.filter((name) => cell(other.row, name) === cell(line.row, name)).length;
  const found = lines.filter((other) => cell(other.row, "algo") === base)
    .filter((other) => keyOf(other.row, must) === keyOf(line.row, must))
    .sort((a, b) => same(b) - same(a));
  return found.length === 1 || (found.length > 1 && same(found[0]) > same(found[1])) ? found[0] : undefined;
}

/* Gives each line its points, and drops lines without any. An empty kernel has no rate. */
function withPoints(lines, { x, y, base, logy }) {
  for (const line of lines) {
    const other = y === SPEEDUP ? baseOf(line, lines, base, x) : undefined;
    const baseTime = (at) => d3.median(other?.at.get(at) ?? [], (row) => number(row, "time_ms"));
    line.points = [...line.at].map(([at, rows]) => pointOf(at, rows, y, baseTime(at)))
      .filter((point) => point.y > 0 || (point.y === 0 && !logy)).sort((a, b) => a.x - b.x);
  }
  return lines.filter((line) => line.points.length > 0 && !(cell(line.row, "algo") === "empty" && isRate(y)));
}

/* The shortest names that tell lines apart. */
function nameLines(lines, x) {
  for (const line of lines) line.words = [];
  const names = new Set(["algo", ...AXES, "device_name", "file", ...IDENTITY]);
  names.delete(x);
  for (const name of names)
    for (const same of d3.group(lines, (line) => line.words.join("\n")).values())
      if (name === "algo" || new Set(same.map((line) => cell(line.row, name))).size > 1)
        for (const line of same) line.words.push(wordFor(name, cell(line.row, name)));
  for (const line of lines) line.name = line.words.filter(Boolean).join(", ");
}

function wordFor(name, value) {
  if (name === "algo" || name === "n") return textOf(name, value);
  return value === "" ? "" : isNumeric(name) ? `${name} ${value}` : value;
}

/* ---- A against B ---- */

/* What a row was asked for, but for the column `by`. Kept, since it is asked for often. */
let configurations = { by: null };

function configurationOf(row, by) {
  if (configurations.by !== by) configurations = { by, axes: AXES.filter((name) => name !== by), of: new Map() };
  const { axes, of } = configurations;
  if (!of.has(row)) of.set(row, keyOf(row, axes));
  return of.get(row);
}

/* The rows of configurations that both sides have; all rows if nothing is compared. */
function pairedRows(rows, { by, a, b }) {
  if (!by) return rows;
  if (a === b) return [];
  const sides = [a, b].map((side) => rows.filter((row) => cell(row, by) === side));
  const had = sides.map((own) => new Set(own.map((row) => configurationOf(row, by))));
  return sides.flat().filter((row) => had.every((own) => own.has(configurationOf(row, by))));
}

/* The rows of configurations of which one side has several values of a column. */
function severalRows(name, rows, { by }) {
  return d3.flatGroup(rows, (row) => cell(row, by), (row) => configurationOf(row, by)).map(([, , own]) => own)
    .filter((own) => new Set(own.map((row) => cell(row, name))).size > 1).flat();
}

function verdictOf(low, high, same) {
  if (Math.max(high - 1, 1 / low - 1) <= same) return "same";
  return low > 1 ? "slower" : high < 1 ? "faster" : "undecided";
}

/* By which fraction processes differ, as in scripts/noise.py. */
function oneRunDiffers(device, n) {
  const own = data.noise.one_run.filter(([kind]) => device.startsWith(kind));
  if (own.length === 0) return d3.max(data.noise.one_run, ([, , fraction]) => fraction);
  return (own.findLast(([, size]) => size <= n) || own[0])[2];
}

/* What scripts/compare.py allows between few runs: the noise of both sides, at its level of
 * confidence, and what runs of one program differ by. */
function changeOf(old, now) {
  const sides = (name) => [old, now].map((rows) => rows.map((row) => number(row, name) || 0));
  const times = sides("time_ms"), noises = sides("noise_pct");
  const [oldTime, newTime] = times.map((side) => d3.median(side));
  const { wider, run_to_run: fraction, run_to_run_ms: ms, same } = data.noise;
  const noise = wider * Math.hypot(...noises.map((side) => d3.max(side) / 100));
  const spread = d3.max(times, (side) => d3.max(side) - d3.min(side));
  const differ = oneRunDiffers(cell(old[0], "device"), number(old[0], "n"));
  const margin = noise + Math.max(fraction, differ, (ms + spread) / oldTime);
  const y = newTime / oldTime, low = y / (1 + margin), high = y * (1 + margin);
  return { y, low, high, margin, oldTime, newTime, change: verdictOf(low, high, same), row: old[0], rows: [...old, ...now] };
}

/* {lines, changes, alone, pooled}: the ratio of the times of B and A for each configuration. Left
 * out are those of which the filters leave one side, and those of which a side is not one thing:
 * its rows differ in more than x and `by`. */
function comparison(rows, { x, by, a, b }) {
  const identity = IDENTITY.filter((name) => name !== by), axes = AXES.filter((name) => name !== by);
  const isSeveral = (side) => new Set(side.map((row) => keyOf(row, identity))).size > 1;
  let alone = 0, pooled = 0;
  const lines = linesOf(rows, x, axes);
  for (const line of lines) {
    line.points = [];
    for (const [at, both] of line.at) {
      const sides = [a, b].map((side) => both.filter((row) => cell(row, by) === side));
      if (sides.some((side) => side.length === 0)) alone++;
      else if (sides.some(isSeveral)) pooled++;
      else line.points.push({ x: at, ...changeOf(...sides) });
    }
    line.points.sort((p, q) => p.x - q.x);
  }
  const left = lines.filter((line) => line.points.length > 0);
  return { lines: left, changes: left.flatMap((line) => line.points).sort((p, q) => q.y - p.y), alone, pooled };
}
