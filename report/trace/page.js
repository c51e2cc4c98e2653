"use strict";

/* The controls, and what they show. The address has the state, so that a step can be linked to. */

const PLAY_MS = 900;
const byId = (id) => document.getElementById(id);
const state = {run: 0, step: 0, view: "step", block: null, request: null};
let playing = null;

const run = () => runs[state.run];
const step = () => run().steps[state.step];

function describeRun({title}) {
  const {op, algo, type, kind, n, block} = title;
  return [`${op} ${algo}`, `n = ${n}`, type, kind, block && `block ${block}`].filter(Boolean).join(", ");
}

/* As the tables of --kernels and --counts name it. */
const kernelName = ({kernel}) => kernel.replace(/_kernel$/, "");

function describeStep(s = state.step) {
  const {launch, index} = run().steps[s], {grid, block, steps} = run().launches[launch];
  return `launch ${launch + 1} of ${run().launches.length}: ${kernelName(run().launches[launch])}, ${grid} × ${block} threads, step ${index + 1} of ${steps.length}`;
}

function describeRequest(request) {
  const {name, space} = run().arrays[request.array], conflicts = conflictsOf(run(), request);
  const lanes = lanesOf(request).length;
  return `${request.kind} ${arrayName(run().arrays[request.array])}, block ${request.block} warp ${request.warp}, ${lanes} ${lanes === 1 ? "lane" : "lanes"}` +
    (space === "shared" && conflicts > 0 ? `, ${conflicts} ${conflicts === 1 ? "conflict" : "conflicts"}` : "") +
    (request.line ? `, ${request.line}` : "");
}

/* ---- What is chosen ---- */

function drawnSteps() {
  const all = run().steps.map((_, s) => s);
  if (state.view === "run")
    return all;
  return state.view === "step" ? [state.step] : all.filter((s) => run().steps[s].launch === step().launch);
}

function drawnTitle() {
  const what = describeRun(run());
  if (state.view === "run")
    return what;
  const {launch} = step();
  return state.view === "step" ? `${what}; ${describeStep()}` : `${what}; launch ${launch + 1}: ${kernelName(run().launches[launch])}`;
}

function pictureOfStep() {
  return drawSteps(run(), drawnSteps(), state.block, drawnTitle());
}

/* The request with the most conflicts, or the first to memory. */
function chosenRequest(requests) {
  if (state.request !== null)
    return Math.min(state.request, requests.length - 1);
  const isToMemory = ({array}) => run().arrays[array].space !== "registers";
  const conflicts = requests.map((request) => isToMemory(request) ? conflictsOf(run(), request) : -1);
  return conflicts.indexOf(Math.max(...conflicts));
}

/* ---- Showing it ---- */

function fillSelect(id, options, value) {
  byId(id).replaceChildren(...options.map(([key, text]) => new Option(text, key, false, String(key) === String(value))));
}

function showRun() {
  byId("subject").textContent = describeRun(run());
  document.title = `${run().title.algo}, n = ${run().title.n}: scanbench trace`;
  byId("slider").max = run().steps.length - 1;
  byId("launches").replaceChildren(...run().launches.map((launch, l) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = `${l + 1} ${kernelName(launch)}, ${launch.steps.length} ${launch.steps.length === 1 ? "step" : "steps"}`;
    button.disabled = launch.steps.length === 0;
    button.onclick = () => change({step: run().steps.findIndex((each) => each.launch === l)});
    item.append(button);
    return item;
  }));
  const blocks = [...new Set(run().steps.flatMap(({requests}) => requests.map(({block}) => block)))].sort((a, b) => a - b);
  fillSelect("block", [["", "all"], ...blocks.map((block) => [block, block])], state.block ?? "");
}

function showRequest() {
  const requests = step().requests.filter(({block}) => state.block === null || block === state.block);
  const chosen = chosenRequest(requests), request = requests[chosen];
  fillSelect("request", requests.map((each, i) => [i, describeRequest(each)]), chosen);
  const {space} = request ? run().arrays[request.array] : {};
  byId("banks-part").hidden = space !== "shared";
  byId("sectors-part").hidden = space !== "global";
  byId("lanes").innerHTML = request ? drawLanes(request) : "";
  byId("lanes-text").textContent = request ? `${lanesOf(request).length} of 32 lanes take part` : "no request";
  if (space === "shared") {
    const conflicts = conflictsOf(run(), request);
    byId("banks").innerHTML = drawBanks(run(), request);
    byId("banks-text").textContent = conflicts === 0 ? "no conflict: no bank has two words to deliver" :
      `${conflicts} ${conflicts === 1 ? "conflict, marked ✕: a word that waits" : "conflicts: words marked ✕ wait"} for another of the same bank`;
  } else if (space === "global") {
    const sectors = sectorsOf(run(), request), used = sectors.flatMap((sector) => sector.used).filter(Boolean).length;
    byId("sectors").innerHTML = drawSectors(run(), request);
    byId("sectors-text").textContent = `${sectors.length} ${sectors.length === 1 ? "sector" : "sectors"} of 32 bytes, ` +
      `${used} of ${32 * sectors.length} bytes asked for; the others are hatched`;
  }
}

/* What the step touches is in sight, even in an array that is wider than the page. */
function scrollToCells() {
  const box = byId("figure"), cell = box.querySelector(".read, .written");
  if (!cell || state.view !== "step")
    return;
  const x = cell.getBBox().x;
  if (x < box.scrollLeft || x > box.scrollLeft + box.clientWidth - 40)
    box.scrollLeft = Math.max(0, x - 40);
}

function showStep() {
  byId("slider").value = state.step;
  byId("view").value = state.view;
  byId("where").textContent = describeStep() +
    (run().steps_left_out > 0 ? `. The page has no room for ${run().steps_left_out} more steps.` : "");
  byId("slider").setAttribute("aria-valuetext", describeStep());
  byId("launches").querySelectorAll("button").forEach((button, l) =>
    l === step().launch ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current"));
  byId("figure").innerHTML = pictureOfStep();
  scrollToCells();
  showRequest();
}

/* ---- Changing it ---- */

/* Runs and steps count from 1, as they do on the page; steps through all launches of the run. */

function writeAddress() {
  const {view, block, request} = state;
  const parts = {run: state.run + 1, step: state.step + 1, view, ...block === null ? {} : {block}, ...request === null ? {} : {request}};
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name, most) => Math.max(0, Math.min(most, Math.floor(Number(given.get(name))) || 0));
  state.run = Math.max(0, number("run", runs.length) - 1);
  state.step = Math.max(0, number("step", run().steps.length) - 1);
  state.view = ["launch", "run"].includes(given.get("view")) ? given.get("view") : "step";
  state.block = given.has("block") ? number("block", 1023) : null;
  state.request = given.has("request") ? number("request", 1e6) : null;
}

function change(changes) {
  const isAnotherRun = "run" in changes && changes.run !== state.run;
  if ("step" in changes || "block" in changes || isAnotherRun)
    state.request = null;
  Object.assign(state, isAnotherRun ? {step: 0, block: null} : {}, changes);
  if (isAnotherRun)
    showRun();
  writeAddress();
  showStep();
}

function go(to) {
  const last = run().steps.length - 1;
  change({step: Math.max(0, Math.min(last, to))});
  if (state.step === last)
    stop();
}

function stop() {
  clearInterval(playing);
  playing = null;
  byId("play").setAttribute("aria-pressed", "false");
}

function togglePlay() {
  if (playing !== null)
    return stop();
  if (state.step === run().steps.length - 1)
    go(0);
  byId("play").setAttribute("aria-pressed", "true");
  playing = setInterval(() => go(state.step + 1), PLAY_MS);
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([pictureOfStep()], {type: "image/svg+xml"}));
  link.download = `${run().title.algo}-step-${state.step + 1}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const KEYS = {
  ArrowLeft: () => go(state.step - 1), ArrowRight: () => go(state.step + 1),
  Home: () => go(0), End: () => go(run().steps.length - 1), " ": togglePlay,
};

function listen() {
  byId("run").onchange = ({target}) => change({run: Number(target.value)});
  byId("view").onchange = ({target}) => change({view: target.value});
  byId("block").onchange = ({target}) => change({block: target.value === "" ? null : Number(target.value)});
  byId("request").onchange = ({target}) => change({request: Number(target.value)});
  byId("slider").oninput = ({target}) => go(Number(target.value));
  byId("back").onclick = () => go(state.step - 1);
  byId("forward").onclick = () => go(state.step + 1);
  byId("play").onclick = togglePlay;
  byId("save").onclick = save;
  addEventListener("hashchange", () => { readAddress(); showRun(); showStep(); });
  addEventListener("keydown", (event) => {
    const inControl = event.target.closest("select, input, button");
    if (inControl && (event.key === " " || event.target.matches("select, input")) || event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (KEYS[event.key]) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });
}

if (runs.length === 0 || runs.every(({steps}) => steps.length === 0)) {
  byId("subject").textContent = "no run was traced: no kernel was launched, or each failed or touched no memory";
  document.querySelector("main").hidden = true;
} else {
  runs.splice(0, runs.length, ...runs.filter(({steps}) => steps.length > 0));
  fillSelect("run", runs.map((each, r) => [r, describeRun(each)]), 0);
  byId("run-label").hidden = runs.length === 1;
  listen();
  readAddress();
  showRun();
  byId("run").value = state.run;
  showStep();
}
