"use strict";
/* page.js: the report page. Rows come from the JSON in the page; what is chosen is in
 * the URL's hash, so that a view can be passed on. */
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  /* Names come from files: what is kept under them is in a Map, where "constructor" is a name. */
  const place = new Map(data.columns.map((name, i) => [name, i]));
  const looks = new Map(Object.entries(data.looks));
  const cell = (row, name) => (place.has(name) ? row[place.get(name)] : "");
  const number = (row, name) => (cell(row, name) === "" ? NaN : Number(cell(row, name)));
  const numeric = new Set(data.columns.filter((name) => data.rows.some((row) => cell(row, name) !== "") &&
    data.rows.every((row) => cell(row, name) === "" || Number.isFinite(Number(cell(row, name))))));
  const $ = (id) => document.getElementById(id);
  const deviceOf = (row) => cell(row, "device_name") || cell(row, "device");

  /* ---- What can be chosen ---- */

  const XS = { n: "elements n", block: "threads per block", threads: "CPU threads", keep: "fraction kept" };
  const YS = {
    gb_s: "GB/s", time_ms: "time", gelem_s: "10⁹ elements/s", memcpy_pct: "% of memcpy",
    speedup: "speedup", wall_ms: "wall time", copies_ms: "time with copies", energy_mj: "energy, mJ",
  };
  /* One of its values, that all rows shown have, unless they have none. */
  const FILTERS = ["op", "type", "kind", "cache", "input", "max", "keep", "n", "device"];
  /* By default whatever is fastest. */
  const BEST = ["block", "threads", "simd", "host_memory"];
  const PREFERRED = { op: "scan", type: "i32", kind: "exclusive", cache: "cold", keep: "0.75", input: "uniform" };
  const HIGHLIGHTED = ["auto", "cub", "memcpy", "parallel"];
  const LABEL_WIDTH = 190;
  const DASHES = ["solid", "dashed", "dotted"];
  const PALETTE = ["#d55e00", "#1f7fc0", "#00966d", "#b5509c", "#a5762a", "#4c9ad6"];

  const valueOf = (row, name) => (name === "device" ? deviceOf(row) : cell(row, name));
  const valuesOf = (rows, name) => [...new Set(rows.map((row) => valueOf(row, name)).filter((v) => v !== ""))]
    .sort((a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b));
  const whole = data.rows.filter((row) => cell(row, "kernel") === "");
  const passed = whole.filter((row) => cell(row, "check") === "passed");
  const devices = valuesOf(whole, "device");

  const state = { x: "n", y: "gb_s", logx: "1", logy: "", hide: new Set() };

  const KEPT = ["x", "y", "logx", "logy", "base", ...FILTERS, ...BEST];

  function readHash() {
    for (const [key, value] of new URLSearchParams(location.hash.slice(1)))
      if (key === "hide") state.hide = new Set(value.split(",").filter(Boolean).map(decoded));
      else if (KEPT.includes(key)) state[key] = value;
    if (!Object.hasOwn(XS, state.x)) state.x = "n";
  }

  /* A name may have commas of its own. */
  function decoded(word) {
    try {
      return decodeURIComponent(word);
    } catch {
      return word;
    }
  }

  function writeHash() {
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
      const text = key === "hide" ? [...value].map(encodeURIComponent).join(",") : value;
      if (text || (key === "device" && devices.length > 1)) words.set(key, text);
    }
    history.replaceState(null, "", "#" + words);
  }

  const powerOfTwo = (value) => {
    const k = Math.log2(value);
    return Number.isInteger(k) && k >= 5 ? `2^${k}` : String(value);
  };
  const label = (name, value) => (name === "n" && value !== "" ? powerOfTwo(Number(value)) : value);

  /* ---- What is left of the rows ---- */

  function matches(row, names) {
    return names.every((name) => {
      const value = valueOf(row, name);
      return name === state.x || !state[name] || value === "" || value === state[name];
    });
  }

  /* A filter is there if it has a choice; what it is set to must be one. */
  function settle() {
    let rows = passed;
    const choices = {};
    for (const name of [...FILTERS, ...BEST]) {
      choices[name] = valuesOf(rows, name);
      const needs = FILTERS.includes(name) && name !== state.x && name !== "device";
      if (state[name] && !choices[name].includes(state[name])) delete state[name];
      if (needs && !state[name] && choices[name].length > 0 && !(name === "n" && state.x === "n")) {
        const last = choices[name][choices[name].length - 1];
        state[name] = choices[name].includes(PREFERRED[name]) ? PREFERRED[name] : name === "n" ? last : choices[name][0];
      }
      rows = rows.filter((row) => matches(row, [name]));
    }
    return { rows, choices };
  }

  /* [{algorithm, device, points: [[x, y, row]]}]; of rows for one x the fastest. */
  function seriesOf(rows) {
    const series = new Map();
    for (const row of rows) {
      const x = number(row, state.x), time = number(row, "time_ms");
      if (!Number.isFinite(x) || !Number.isFinite(time)) continue;
      const key = JSON.stringify([cell(row, "algo"), deviceOf(row)]);
      if (!series.has(key)) series.set(key, { algorithm: cell(row, "algo"), device: deviceOf(row), at: new Map() });
      const at = series.get(key).at;
      if (!at.has(x) || number(at.get(x), "time_ms") > time) at.set(x, row);
    }
    const all = [...series.values()];
    for (const one of all) {
      const base = all.find((other) => other.algorithm === state.base && other.device === one.device);
      one.points = [...one.at].map(([x, row]) => [x, yOf(row, base && base.at.get(x)), row])
        .filter(([, y]) => Number.isFinite(y) && y > 0).sort((a, b) => a[0] - b[0]);
    }
    return all.filter((one) => one.points.length > 0);
  }

  function yOf(row, base) {
    if (cell(row, "algo") === "empty" && !/_ms$/.test(state.y)) return NaN;
    if (state.y !== "speedup") return number(row, state.y);
    return base ? number(base, "time_ms") / number(row, "time_ms") : NaN;
  }

  /* ---- Looks ---- */

  function lookOf(algorithm, device) {
    const known = looks.get(algorithm);
    let hash = 0;
    for (const c of algorithm) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
    const [color, dash] = known || [PALETTE[hash % PALETTE.length], DASHES[hash % 3]];
    const type = { solid: "solid", dashed: [7, 4], dotted: [2, 3], dashdot: [8, 3, 2, 3] }[dash];
    const symbols = ["circle", "rect", "triangle", "diamond"];
    return { color, type, symbol: symbols[devices.indexOf(device) % symbols.length] };
  }

  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /* 3 digits, with a unit for times. */
  function pretty(value, name) {
    if (!Number.isFinite(value)) return "";
    if (/_ms$/.test(name)) {
      for (const [unit, size] of [["s", 1e3], ["ms", 1], ["µs", 1e-3], ["ns", 1e-6]])
        if (value >= size * 0.99995 || unit === "ns") return `${Number((value / size).toPrecision(4))} ${unit}`;
    }
    return String(Number(value.toPrecision(4)));
  }

  /* The tooltip is HTML; all else that is shown is set as text. */
  const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

  function tooltip(point) {
    const row = point.data[2];
    const line = (name, value) => (value === "" ? "" :
      `<tr><td style="padding-right:14px;opacity:.7">${escaped(name)}</td><td>${escaped(value)}</td></tr>`);
    const times = ["time_min_ms", "time_max_ms", "wall_ms", "copies_ms"];
    return `<b>${escaped(cell(row, "algo"))}</b> ${escaped(deviceOf(row))}<table>` +
      line("n", label("n", cell(row, "n")) + (/^2/.test(label("n", cell(row, "n"))) ? ` = ${cell(row, "n")}` : "")) +
      line("time", pretty(number(row, "time_ms"), "time_ms") +
        (cell(row, "noise_pct") ? ` ± ${Number(number(row, "noise_pct").toPrecision(2))} %` : "")) +
      times.map((name) => line(name.replace(/_ms$/, "").replace(/_/g, " "), pretty(number(row, name), name))).join("") +
      (state.y === "speedup" ? line(`speedup over ${state.base}`, pretty(point.data[1], "")) : "") +
      ["gb_s", "memcpy_pct", "gelem_s", "type", "kind", "cache", "keep", "block", "threads", "simd", "chose", "samples",
        "launches", "occupancy_pct", "energy_mj", "check", "version", "commit", "date", "label"]
        .map((name) => line(name, cell(row, name))).join("") + "</table>";
  }

  /* ---- The chart ---- */

  let chart = null;

  function axis(name, title, log, values) {
    const style = {
      name: title, nameLocation: "middle", nameTextStyle: { color: ink("--soft") },
      axisLine: { show: true, lineStyle: { color: ink("--line") } },
      axisLabel: { color: ink("--soft"), hideOverlap: true },
      splitLine: { lineStyle: { color: ink("--line"), opacity: 0.5 } },
    };
    const low = Math.min(...values), high = Math.max(...values);
    if (!log) return { ...style, type: "value", min: name === state.x ? "dataMin" : 0 };
    if (name !== state.x)
      return { ...style, type: "log", min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(high)) };
    /* A power of two at each tick, no more than a dozen. */
    const first = Math.floor(Math.log2(low)), last = Math.ceil(Math.log2(high));
    const step = Math.max(1, Math.ceil((last - first) / 12)), customValues = [];
    for (let k = Math.ceil(first / step) * step; k <= last; k += step) customValues.push(2 ** k);
    return { ...style, type: "log", logBase: 2, min: low, max: high, axisTick: { customValues },
      axisLabel: { ...style.axisLabel, customValues }, splitLine: { show: false } };
  }

  /* Places at least `distance` apart, in the order of the wanted ones and as near to them
   * as can be: what would touch forms a pile around the middle of its wishes. */
  function spread(wanted, distance, low, high) {
    const piles = [];
    for (const i of wanted.map((_, k) => k).sort((p, q) => wanted[p] - wanted[q])) {
      piles.push({ members: [i] });
      for (;;) {
        const pile = piles[piles.length - 1], below = piles[piles.length - 2];
        const half = distance * (pile.members.length - 1) / 2;
        const mean = pile.members.reduce((sum, k) => sum + wanted[k], 0) / pile.members.length;
        pile.middle = Math.max(Math.min(mean, high - half), low + half);
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

  /* Each line's name beside its end. */
  function labelEnds(shown, names) {
    const ends = shown.map((one, i) => chart.convertToPixel({ seriesIndex: i }, one.points[one.points.length - 1].slice(0, 2)));
    const places = spread(ends.map(([, y]) => y), 14, 14, $("chart").clientHeight - 56);
    chart.setOption({ graphic: shown.map((one, i) => ({
      type: "text", x: $("chart").clientWidth - LABEL_WIDTH + 12, y: places[i], silent: true,
      style: { text: names[i], fill: lookOf(one.algorithm, one.device).color, fontSize: 12, verticalAlign: "middle",
        fontWeight: HIGHLIGHTED.includes(one.algorithm) ? "bold" : "normal", width: LABEL_WIDTH - 14, overflow: "truncate" },
    })) });
  }

  function lineOf(one, name, many) {
    const look = lookOf(one.algorithm, one.device);
    return {
      type: "line", name, data: one.points, symbol: look.symbol, symbolSize: many ? 6 : 5, color: look.color,
      lineStyle: { type: look.type, width: HIGHLIGHTED.includes(one.algorithm) ? 3 : 1.6 }, emphasis: { focus: "series" },
      areaStyle: one.algorithm === "memcpy" && state.y === "gb_s" && !many ? { opacity: 0.08 } : undefined,
    };
  }

  function draw(series) {
    const shown = series.filter((one) => !state.hide.has(one.algorithm));
    $("nothing").hidden = shown.length > 0;
    $("chart").hidden = shown.length === 0;
    if (chart) chart.dispose();
    chart = null;
    if (shown.length === 0) return;
    chart = echarts.init($("chart"), null, { renderer: "svg" });
    const narrow = $("chart").clientWidth < 700;
    const many = new Set(shown.map((one) => one.device)).size > 1;
    const names = shown.map((one) => (many ? `${one.algorithm} · ${one.device}` : one.algorithm));
    const xAxis = axis(state.x, XS[state.x], state.logx && state.x !== "keep", shown.flatMap((one) => one.points.map(([x]) => x)));
    const yAxis = axis(state.y, state.y === "speedup" ? `times as fast as ${state.base}` : YS[state.y], state.logy,
      shown.flatMap((one) => one.points.map(([, y]) => y)));
    xAxis.nameGap = 30;
    yAxis.nameGap = 62;
    xAxis.axisLabel.formatter = (value) => (state.x === "n" ? powerOfTwo(value) : String(value));
    yAxis.axisLabel.formatter = (value) => pretty(value, state.y);
    chart.setOption({
      animation: false,
      grid: { left: 84, right: narrow ? 20 : LABEL_WIDTH, top: 18, bottom: 52 },
      xAxis, yAxis,
      tooltip: { trigger: "item", formatter: tooltip, confine: true, backgroundColor: ink("--page"),
        borderColor: ink("--line"), textStyle: { color: ink("--ink"), fontSize: 12 } },
      series: shown.map((one, i) => lineOf(one, names[i], many)),
    });
    if (!narrow) labelEnds(shown, names);
  }

  /* ---- Controls ---- */

  function select(name, title, choices, names) {
    const box = document.createElement("label");
    box.textContent = title;
    const list = document.createElement("select");
    list.name = name;
    for (const value of choices) list.add(new Option(names ? names.get(value) : label(name, value), value, false, value === (state[name] || "")));
    list.onchange = () => { state[name] = list.value; update(); };
    box.append(list);
    return box;
  }

  function tick(name, title) {
    const box = document.createElement("label");
    box.className = "tick";
    const input = document.createElement("input");
    input.type = "checkbox";
    input.name = name;
    input.checked = Boolean(state[name]);
    input.onchange = () => { state[name] = input.checked ? "1" : ""; update(); };
    box.append(input, title);
    return box;
  }

  /* What the values of a list are called, one of which is to choose none. */
  const withNone = (none, values) => new Map([["", none], ...values.map((value) => [value, value])]);

  function showControls(ys, choices, algorithms) {
    const had = document.activeElement && document.activeElement.name;
    const xs = Object.keys(XS).filter((name) => name === "n" || valuesOf(passed, name).length > 1);
    const box = $("controls");
    box.replaceChildren(select("x", "x", xs, new Map(Object.entries(XS))), select("y", "y", ys, new Map(Object.entries(YS))));
    if (state.y === "speedup") box.append(select("base", "over", algorithms));
    for (const name of FILTERS)
      if (choices[name].length > 1 && name !== state.x && !(name === "n" && state.x === "n"))
        box.append(name === "device" ? select(name, name, ["", ...choices[name]], withNone("all", choices[name]))
          : select(name, name, choices[name]));
    for (const name of BEST)
      if (choices[name].length > 1 && name !== state.x)
        box.append(select(name, name.replace("_", " "), ["", ...choices[name]], withNone("fastest", choices[name])));
    box.append(tick("logx", "log x"), tick("logy", "log y"));
    if (had) { const again = box.querySelector(`[name="${CSS.escape(had)}"]`); if (again) again.focus(); }
  }

  function showPicks(algorithms) {
    const buttons = algorithms.map((algorithm) => {
      const look = lookOf(algorithm, devices[0]);
      const button = document.createElement("button");
      const dash = Array.isArray(look.type) ? look.type.join(" ") : "";
      button.type = "button";
      button.dataset.algorithm = algorithm;
      button.setAttribute("aria-pressed", String(!state.hide.has(algorithm)));
      button.innerHTML = `<svg width="22" height="4"><line x2="22" y1="2" y2="2" stroke="${look.color}" stroke-width="3" stroke-dasharray="${dash}"/></svg>`;
      button.append(algorithm);
      button.onclick = () => {
        if (!state.hide.delete(algorithm)) state.hide.add(algorithm);
        update();
        $("picks").querySelector(`[data-algorithm="${CSS.escape(algorithm)}"]`).focus();
      };
      return button;
    });
    const all = document.createElement("button");
    all.type = "button";
    all.className = "all";
    all.textContent = state.hide.size ? "all" : "none";
    all.onclick = () => { state.hide = new Set(state.hide.size ? [] : algorithms); update(); };
    $("picks").replaceChildren(all, ...buttons);
  }

  /* ---- The table ---- */

  const USUAL = ["op", "algo", "kernel", "device_name", "type", "n", "block", "threads", "cache", "keep", "time_ms",
    "noise_pct", "gb_s", "memcpy_pct", "check", "reason"];
  const order = { column: "", up: true };
  let shownColumns = new Set(USUAL.filter((name) => data.rows.some((row) => cell(row, name) !== "")));
  let most = 300;

  function tableRows() {
    const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const names = [...FILTERS.filter((name) => name !== "n" || state.x !== "n"), ...BEST];
    const rows = data.rows.filter((row) => ($("everything").checked ||
      (matches(row, names) && !state.hide.has(cell(row, "algo")))) &&
      words.every((word) => row.some((text) => text.toLowerCase().includes(word)) || powerOfTwo(number(row, "n")) === word));
    if (!order.column) return rows;
    const sign = order.up ? 1 : -1;
    const compare = numeric.has(order.column) ? (a, b) => number(a, order.column) - number(b, order.column)
      : (a, b) => cell(a, order.column).localeCompare(cell(b, order.column));
    const empty = (row) => cell(row, order.column) === "";
    return rows.sort((a, b) => (empty(a) || empty(b) ? empty(a) - empty(b) : sign * compare(a, b)));
  }

  function showTable() {
    const columns = data.columns.filter((name) => shownColumns.has(name));
    const head = document.createElement("tr");
    for (const name of columns) {
      const th = document.createElement("th"), button = document.createElement("button");
      const sorted = order.column === name;
      th.className = numeric.has(name) ? "number" : "";
      th.setAttribute("aria-sort", sorted ? (order.up ? "ascending" : "descending") : "none");
      button.type = "button";
      button.dataset.column = name;
      button.textContent = name + (sorted ? (order.up ? " ↑" : " ↓") : "");
      button.onclick = () => {
        order.up = sorted ? !order.up : true;
        order.column = name;
        showTable();
        document.querySelector(`th [data-column="${CSS.escape(name)}"]`).focus();
      };
      th.append(button);
      head.append(th);
    }
    document.querySelector("thead").replaceChildren(head);
    const rows = tableRows();
    document.querySelector("tbody").replaceChildren(...rows.slice(0, most).map((row) => {
      const tr = document.createElement("tr");
      if (["failed", "error"].includes(cell(row, "check"))) tr.className = "bad";
      for (const name of columns) {
        const td = document.createElement("td");
        td.textContent = name === "n" ? label("n", cell(row, "n")) : cell(row, name);
        if (numeric.has(name)) td.className = "number";
        tr.append(td);
      }
      return tr;
    }));
    $("count").textContent = rows.length === data.rows.length ? `${rows.length}` : `${rows.length} of ${data.rows.length}`;
    $("more").hidden = rows.length <= most;
    $("more").textContent = `show all ${rows.length}`;
  }

  function showColumns() {
    $("columns").replaceChildren(...data.columns.map((name) => {
      const box = document.createElement("label"), input = document.createElement("input");
      input.type = "checkbox";
      input.checked = shownColumns.has(name);
      input.onchange = () => { if (input.checked) shownColumns.add(name); else shownColumns.delete(name); showTable(); };
      box.append(input, " " + name);
      return box;
    }));
  }

  /* ---- All of it ---- */

  function update() {
    const { rows, choices } = settle();
    const names = [...new Set(rows.map((row) => cell(row, "algo")))];
    const rank = [...looks.keys()];
    const placeOf = (name) => (rank.includes(name) ? rank.indexOf(name) : rank.length);
    const algorithms = names.sort((a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b));
    if (!algorithms.includes(state.base))
      state.base = ["cub", "thrust", "std", "memcpy"].find((name) => algorithms.includes(name)) || algorithms[0];
    const ys = Object.keys(YS).filter((name) => name === "speedup" || rows.some((row) => cell(row, name) !== ""));
    if (!ys.includes(state.y)) [state.y] = ys;
    showControls(ys, choices, algorithms);
    showPicks(algorithms);
    draw(seriesOf(rows));
    showTable();
    writeHash();
  }

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.onchange = () => { setTheme(dark.matches ? "dark" : "light"); update(); };
  $("theme").onclick = () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); update(); };
  $("find").oninput = showTable;
  $("everything").onchange = showTable;
  $("more").onclick = () => { most = Infinity; showTable(); };
  $("controls").onsubmit = () => false;
  addEventListener("resize", () => chart && update());
  addEventListener("hashchange", () => { readHash(); update(); });

  const dates = data.rows.map((row) => cell(row, "date").slice(0, 10)).filter(Boolean).sort();
  $("subject").textContent = [devices.join(", "), dates.length ? dates[dates.length - 1] : "", data.files.length > 4 ? `${data.files.length} files` : data.files.join(", ")].filter(Boolean).join(" · ");
  document.title = `scanbench: ${devices.join(", ")}`;
  /* At first the device that most was measured on. */
  const rowsOn = (device) => passed.filter((row) => deviceOf(row) === device).length;
  if (devices.length > 1) state.device = [...devices].sort((a, b) => rowsOn(b) - rowsOn(a))[0];
  readHash();
  showColumns();
  update();
})();
