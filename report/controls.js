/* controls.js: the lists, ticks and buttons above the chart. */
"use strict";

const option = (value, text, disabled = false) => ({ value, text, disabled });
const control = (name, title, options) => ({ name, title, value: state[name], options });

function controlsOf(view) {
  return [
    control("x", "x", xNames.map((name) => option(name, XS.get(name) ?? name, name === state.by))),
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

function sideControls({ values, most, withA }) {
  const side = (name, title, shared) =>
    control(name, title, values.map((value) => option(value, value || "none", !(shared(value) > 0))));
  return [side("a", "A", most), side("b", "B", (value) => withA.get(value))];
}

/* All values that rows have; those that would leave nothing are disabled. */
function filterControl({ name, value, choices }) {
  const options = valuesOf(name).filter((text) => text !== "" || choices.has(text))
    .map((text) => option(text, textOf(name, text) || "none", !choices.has(text)));
  const all = option(ALL, state.by && !AXES.includes(name) ? "all" : "all, each a line");
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
