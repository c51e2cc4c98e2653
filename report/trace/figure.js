"use strict";

/* Steps as SVG: rows of cells before and after each step, and arrows between them. The picture has
 * its own style, so that it is the same in the page, in a slide and in a document. */

const CELL_HEIGHT = 24, LABEL_HEIGHT = 17, ROW_GAP = 6, MARGIN = 14, BLOCK_GAP = 14, MOST_ARROWS = 6000;

const FIGURE_STYLE = `
svg.scanbench { --page: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #c3ccd4; --field: #f6f8fa; --mark: #0969da;
  --written: #cfe5ff; --bad: #cf222e; --bad-field: #ffdcd9; font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) {
  svg.scanbench { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --field: #161b22; --mark: #4493f8;
    --written: #173b68; --bad: #ff7b72; --bad-field: #5c1f1f; }
}
.scanbench .page { fill: var(--page); }
.scanbench text { fill: var(--ink); }
.scanbench .soft, .scanbench .index { fill: var(--soft); font-size: 11px; }
.scanbench .step { fill: var(--mark); font-size: 11px; }
.scanbench .index { font-size: 9px; text-anchor: middle; }
.scanbench .value { text-anchor: middle; }
.scanbench .tag { font-size: 9px; fill: var(--soft); }
.scanbench .title { font-weight: 600; }
.scanbench .cell { fill: var(--field); stroke: var(--line); }
.scanbench .unknown { fill: var(--page); }
.scanbench .read { stroke: var(--mark); stroke-width: 1.5; }
.scanbench .written { fill: var(--written); stroke: var(--mark); }
.scanbench .arrow { fill: none; stroke: var(--ink); stroke-opacity: .65; }
.scanbench .head { fill: var(--ink); }
.scanbench .conflict { fill: var(--bad-field); stroke: var(--bad); }
.scanbench .sign { fill: var(--bad); font-weight: 700; }
.scanbench .unused { fill: url(#scanbench-hatch); stroke: var(--line); }
.scanbench .hatch { stroke: var(--soft); }
`;

const escapeText = (text) => String(text).replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"})[c]);
const rounded = (number) => Math.round(number * 10) / 10;

function svgOf(width, height, body, label) {
  return `<svg xmlns="http://www.w3.org/2000/svg" class="scanbench" role="img" aria-label="${escapeText(label)}" ` +
    `width="${Math.ceil(width)}" height="${Math.ceil(height)}" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}">` +
    `<style>${FIGURE_STYLE}</style><defs>` +
    `<marker id="scanbench-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">` +
    `<path class="head" d="M0,0.8L8,4L0,7.2z"/></marker>` +
    `<pattern id="scanbench-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
    `<line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>` +
    `<rect class="page" width="100%" height="100%"/>${body}</svg>`;
}

const textAt = (x, y, className, text) => `<text x="${rounded(x)}" y="${rounded(y)}" class="${className}">${escapeText(text)}</text>`;

/* ---- Arrows ---- */

/* From each cell that a thread has read before, in this step, to each that it writes. */
function arrowsOf(run, step, block) {
  const reads = new Map(), arrows = new Map();
  for (const request of step.requests.filter((request) => block === null || request.block === block)) {
    const thread = (cell) => `${request.block},${cell.thread}`;
    for (const cell of readsOf(run, request))
      reads.set(thread(cell), [...reads.get(thread(cell)) ?? [], cell]);
    for (const to of writesOf(run, request))
      for (const from of reads.get(thread(to)) ?? [])
        arrows.set([cellKey(from.array, from.owner, from.index), cellKey(to.array, to.owner, to.index)].join(" "),
                   {from, to, block: request.block});
  }
  return [...arrows.values()];
}

/* ---- Levels: the arrays before or after a step ---- */

/* {arrays, values, read, written}: which arrays are shown, what their cells hold, and which cells the
 * step reads and writes. */
function levelsOf(run, steps, block) {
  const levels = [];
  const memory = memoryBefore(run, steps[0]);
  const wanted = (request) => block === null || request.block === block;
  for (const s of steps) {
    const requests = run.steps[s].requests.filter(wanted);
    const reads = inOrder(requests.flatMap((request) => readsOf(run, request)));
    const writes = inOrder(requests.flatMap((request) => writesOf(run, request)));
    startLaunch(run, memory, s);
    const before = levelFor(memory, reads, "read");
    if (!continues(levels.at(-1), before, run, s))
      levels.push({...before, gap: levels.length > 0});
    else
      before.marks.forEach((mark, key) => levels.at(-1).marks.set(key, (levels.at(-1).marks.get(key) ?? "") + mark));
    advance(run, memory, s);
    levels.push({...levelFor(memory, writes, "written"), step: s});
  }
  return levels.filter(({arrays}) => arrays.length > 0 || levels.length === 1);
}

function levelFor(memory, cells, mark) {
  const values = new Map(memory), marks = new Map();
  for (const {array, owner, index, value} of cells) {
    values.set(cellKey(array, owner, index), value);
    marks.set(cellKey(array, owner, index), ` ${mark}`);
  }
  return {arrays: [...new Set(cells.map(({array}) => array))].sort((a, b) => a - b), values, marks};
}

/* Does the level before show what the step reads already? */
function continues(level, before, run, s) {
  return level?.step !== undefined && before.arrays.every((array) => level.arrays.includes(array) &&
      (run.arrays[array].space === "global" || run.steps[level.step].launch === run.steps[s].launch)) &&
    [...before.marks.keys()].every((key) => level.values.get(key) === before.values.get(key));
}

/* ---- Where cells lie ---- */

const arrayName = ({name, from}) => from > 0 ? `${name} + ${from} bytes` : name;

/* Which owners and cells of an array are drawn: all or, of one block, those that it touches. Of
 * registers those up to the last that is not 0 in these steps. */
function extentsOf(run, steps, block) {
  const extents = new Map();
  for (const s of steps)
    for (const request of run.steps[s].requests)
      for (const cell of [...readsOf(run, request), ...writesOf(run, request)]) {
        if (block !== null && request.block !== block)
          continue;
        const {cells, space} = run.arrays[cell.array];
        const isCut = space === "registers";
        const extent = extents.get(cell.array) ?? {owners: new Set(), first: 0, last: isCut ? 0 : cells - 1};
        extent.owners.add(cell.owner);
        if (isCut && cell.value !== 0)
          extent.last = Math.max(extent.last, cell.index);
        if (block !== null && space === "global") {
          extent.first = Math.min(extent.narrowed ? extent.first : cell.index, cell.index);
          extent.last = Math.max(extent.narrowed ? extent.last : cell.index, cell.index);
          extent.narrowed = true;
        }
        extents.set(cell.array, extent);
      }
  for (const extent of extents.values())
    extent.owners = [...extent.owners].sort((a, b) => a - b);
  return extents;
}

function cellWidth(levels) {
  let longest = 1;
  for (const {values, arrays} of levels)
    for (const [key, value] of values)
      if (arrays.includes(Number(key.split(",")[0])))
        longest = Math.max(longest, String(value).length);
  return Math.min(96, Math.max(26, 7 * longest + 8));
}

function rowWidth(extent, width) {
  return extent.owners.length * ((extent.last - extent.first + 1) * width + BLOCK_GAP) - BLOCK_GAP;
}

/* `layout` has what all rows share: {run, extents, width, left}, where `left` is where cells begin. */
function cellLeft({extents, width, left}, {array, owner, index}) {
  const {owners, first, last} = extents.get(array), each = (last - first + 1) * width + BLOCK_GAP;
  return left + owners.indexOf(owner) * each + (index - first) * width;
}

/* ---- Drawing ---- */

function drawCell(x, y, width, value, className, hint) {
  const [text, tag] = String(value ?? "").split(" #");
  const label = value === undefined ? "" :
    `<text class="value" x="${rounded(x + width / 2)}" y="${y + 16}">${escapeText(text)}` +
    (tag ? `<tspan class="tag" dx="3">#${escapeText(tag)}</tspan>` : "") + "</text>";
  return `<rect class="cell${value === undefined ? " unknown" : ""}${className}" x="${rounded(x)}" y="${rounded(y)}" ` +
    `width="${width}" height="${CELL_HEIGHT}"><title>${escapeText(hint)}</title></rect>${label}`;
}

/* One array of a level. A label of its blocks and of its cells stands above those it has. */
function drawRow(layout, array, level, y, labels) {
  const {run, width} = layout, {space, type} = run.arrays[array], {owners, first, last} = layout.extents.get(array);
  const name = arrayName(run.arrays[array]), cellsY = y + (labels.any ? LABEL_HEIGHT : 0);
  let body = textAt(MARGIN, cellsY + 16, "soft", name);
  for (const owner of owners) {
    const whose = space === "global" ? "" : ` of block ${owner}`, label = labels.blocks ? `block ${owner}` : "";
    body += textAt(cellLeft(layout, {array, owner, index: first}), y + 12, "soft", label);
    for (let index = first; index <= last; index++) {
      const key = cellKey(array, owner, index), value = level.values.get(key), x = cellLeft(layout, {array, owner, index});
      if (labels.indices && (index - first) * width >= 6.5 * label.length)
        body += textAt(x + width / 2, y + 13, "index", index);
      body += drawCell(x, cellsY, width, value, level.marks.get(key) ?? "", `${name}[${index}]${whose}: ${value ?? "not known"}, ${type}`);
    }
  }
  if (space === "registers" && last < run.arrays[array].cells - 1)
    body += textAt(cellLeft(layout, {array, owner: owners.at(-1), index: last + 1}) + 6, cellsY + 16, "soft", "… 0");
  return body;
}

function drawArrows(layout, arrows, tops, bottoms) {
  const nameOf = ({array, index}) => `${escapeText(layout.run.arrays[array].name)}[${index}]`, half = layout.width / 2;
  return arrows.slice(0, MOST_ARROWS).map(({from, to, block}) =>
    `<path class="arrow" marker-end="url(#scanbench-head)" ` +
    `d="M${rounded(cellLeft(layout, from) + half)},${rounded(bottoms.get(from.array))}L${rounded(cellLeft(layout, to) + half)},${rounded(tops.get(to.array))}">` +
    `<title>block ${block}, thread ${to.thread}: ${nameOf(from)} to ${nameOf(to)}</title></path>`).join("");
}

/* Those between cells that are drawn. */
function drawnArrows({run, extents}, step, block) {
  const isDrawn = ({array, index}) => index <= extents.get(array).last;
  return arrowsOf(run, step, block).filter(({from, to}) => isDrawn(from) && isDrawn(to));
}

/* Room for arrows: more, the further they go. */
function arrowHeight(layout, arrows) {
  const spans = arrows.slice(0, MOST_ARROWS).map(({from, to}) => Math.abs(cellLeft(layout, from) - cellLeft(layout, to)));
  return Math.min(110, Math.max(30, Math.max(0, ...spans) / 9));
}

function layoutOf(run, steps, block, levels) {
  const extents = extentsOf(run, steps, block), width = cellWidth(levels);
  const longest = Math.max(...levels.flatMap(({arrays}) => arrays.map((array) => arrayName(run.arrays[array]).length)), 6);
  const left = MARGIN + 6.6 * longest + 10;
  const right = left + Math.max(...[...extents.values()].map((extent) => rowWidth(extent, width)));
  const isCut = [...extents].some(([array, {last}]) => last < run.arrays[array].cells - 1 && run.arrays[array].space === "registers");
  return {run, extents, width, left, right, isCut};
}

/* The rows of one level, from `y` down: {body, tops, bottoms, y}, where arrows to and from its arrays
 * end and begin. */
function drawLevel(layout, level, y, shown) {
  const tops = new Map(), bottoms = new Map();
  let body = "";
  for (const array of level.arrays) {
    const labels = {blocks: layout.extents.get(array).owners.length > 1, indices: !shown.has(array)};
    labels.any = labels.blocks || labels.indices;
    body += drawRow(layout, array, level, y, labels);
    tops.set(array, y + (labels.any ? 2 : -1));
    y += CELL_HEIGHT + (labels.any ? LABEL_HEIGHT : 0);
    bottoms.set(array, y);
    y += ROW_GAP;
    shown.add(array);
  }
  return {body, tops, bottoms, y: y - ROW_GAP};
}

/* Draws steps of a run, by their indices in run.steps; of one block, or of all if it is null. */
function drawSteps(run, steps, block, title) {
  const levels = levelsOf(run, steps, block), layout = layoutOf(run, steps, block, levels), shown = new Set();
  let body = textAt(MARGIN, 20, "title", title), y = 30, bottoms = new Map(), leftOut = 0;
  for (const level of levels) {
    const arrows = level.step === undefined ? [] : drawnArrows(layout, run.steps[level.step], block);
    const isNamed = steps.length > 1 && level.step !== undefined;
    const room = arrows.length > 0 ? arrowHeight(layout, arrows) : isNamed ? 20 : levels[0] === level ? 0 : 2 * ROW_GAP;
    const drawn = drawLevel(layout, level, y + room, shown);
    if (isNamed)
      body += textAt(MARGIN, y + room / 2 + 4, "step", stepName(run, run.steps[level.step]));
    body += drawArrows(layout, arrows, drawn.tops, bottoms) + drawn.body;
    leftOut += Math.max(0, arrows.length - MOST_ARROWS);
    ({y, bottoms} = drawn);
  }
  if (leftOut > 0)
    body += textAt(MARGIN, y += 18, "soft", `${leftOut} more arrows are left out; choose one block`);
  return svgOf(Math.max(layout.right + (layout.isCut ? 30 : 0), MARGIN + 7 * title.length) + MARGIN, y + 12, body, title);
}

function stepName(run, {launch, index}) {
  const number = run.launches.length > 1 ? `${launch + 1}.${index + 1}` : index + 1;
  return `step ${number}`;
}
