"use strict";

/* The runs as the emulator wrote them, and what memory held at each step. */

const runs = JSON.parse(document.getElementById("data").textContent);

const threadOf = (request, lane) => request.warp * 32 + lane;
const lanesOf = (request) => [...Array(32).keys()].filter((lane) => request.lanes >>> lane & 1);
const isWrite = ({kind}) => ["store", "atomic", "give"].includes(kind);

/* One list of the steps of all launches, each with its place. */
for (const run of runs)
  run.steps = run.launches.flatMap((launch, l) => launch.steps.map((step, s) => ({...step, launch: l, index: s})));

/* Blocks have shared memory and registers of their own, which begin empty with each launch. */
const ownerOf = (run, request) => run.arrays[request.array].space === "global" ? -1 : request.block;
const cellKey = (array, owner, index) => `${array},${owner},${index}`;

/* The cells of a request, lane by lane: {thread, array, owner, index, value, before, time}. */
function cellsOf(run, request) {
  const owner = ownerOf(run, request);
  return lanesOf(request).flatMap((lane, i) => Array.from({length: request.cells}, (_, k) => {
    const at = i * request.cells + k;
    return {thread: threadOf(request, lane), array: request.array, owner, index: request.index[i] + k,
            value: request.value[at], before: request.before?.[at], time: request.times?.[i] ?? request.time};
  }));
}

/* What a request reads and what it writes. By a reduction each lane reads what all lanes gave, and has
 * the same; the first lane stands for all, and zeros are left out. */
function readsOf(run, request) {
  const cells = cellsOf(run, request);
  if (request.kind === "atomic")
    return cells.map((cell) => ({...cell, value: cell.before}));
  if (request.kind === "reduce") {
    const {thread} = cells[0];
    return cells.filter(({before}) => before !== 0).map((cell) => ({...cell, thread, value: cell.before}));
  }
  return isWrite(request) ? [] : cells;
}
const writesOf = (run, request) => isWrite(request) ? cellsOf(run, request) : [];

/* In the order in which they were made. */
const inOrder = (cells) => cells.sort((a, b) => a.time - b.time);

/* Memory before step `s`, as far as it is known: what was read or written up to there. */
function memoryBefore(run, s) {
  const memory = new Map();
  for (let i = 0; i < s; i++)
    advance(run, memory, i);
  return startLaunch(run, memory, s);
}
function startLaunch(run, memory, s) {
  if (s > 0 && run.steps[s].launch !== run.steps[s - 1].launch)
    for (const key of [...memory.keys()].filter((key) => key.split(",")[1] !== "-1"))
      memory.delete(key);
  return memory;
}
function advance(run, memory, s) {
  startLaunch(run, memory, s);
  const {requests} = run.steps[s];
  for (const cellsOfStep of [readsOf, writesOf])
    for (const {array, owner, index, value} of inOrder(requests.flatMap((request) => cellsOfStep(run, request))))
      memory.set(cellKey(array, owner, index), value);
  return memory;
}

/* The words of a shared request by the pass that serves them. Accesses of 8 bytes pass by half
 * warps, those of 16 by quarters. Each part is {lanes, banks}, and each bank a list of
 * {word, lanes}. */
function bankParts(run, request) {
  const array = run.arrays[request.array], bytes = array.bytes * request.cells;
  const together = 128 / Math.max(bytes, 4), parts = new Map();
  lanesOf(request).forEach((lane, i) => {
    const part = Math.floor(lane / together), first = Math.floor((array.at + request.index[i] * array.bytes) / 4);
    if (!parts.has(part))
      parts.set(part, {lanes: [part * together, (part + 1) * together - 1], banks: Array.from({length: 32}, () => [])});
    for (let word = first; word < first + Math.max(1, bytes / 4); word++) {
      const bank = parts.get(part).banks[word % 32], there = bank.find((entry) => entry.word === word);
      if (there)
        there.lanes.push(lane);
      else
        bank.push({word, lanes: [lane]});
    }
  });
  return [...parts.values()];
}
const conflictsOf = (run, request) => run.arrays[request.array].space !== "shared" ? 0 :
  bankParts(run, request).reduce((sum, {banks}) => sum + Math.max(...banks.map((bank) => bank.length)) - 1, 0);

/* The sectors of a global request, in order: {start, used}, `start` in bytes from the array, and 32
 * marks of the bytes that lanes ask for. */
function sectorsOf(run, request) {
  const array = run.arrays[request.array], sectors = new Map();
  for (const index of request.index)
    for (let byte = 0; byte < array.bytes * request.cells; byte++) {
      const at = array.at + index * array.bytes + byte, sector = Math.floor(at / 32);
      if (!sectors.has(sector))
        sectors.set(sector, {start: sector * 32 - array.at, used: Array(32).fill(false)});
      sectors.get(sector).used[at % 32] = true;
    }
  return [...sectors.keys()].sort((a, b) => a - b).map((sector) => sectors.get(sector));
}
