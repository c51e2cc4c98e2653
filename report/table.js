/* table.js: the table under the chart. What it shows is {columns, rows, text(row, name),
 * isBad(row)}; sorting, finding and choosing columns are the same for all. */
"use strict";

const MOST_ROWS = 300;

function found(rows, table, words) {
  return rows.filter((row) => words.every((word) => powerOfTwo(table.text(row, "n")) === word ||
    table.everyColumn.some((name) => table.text(row, name).toLowerCase().includes(word))));
}

/* Empty cells come last, however the rows are sorted. */
function sorted(rows, table, { column, down }) {
  if (!column) return rows;
  const sign = down ? -1 : 1;
  return [...rows].sort((p, q) => {
    const [a, b] = [table.text(p, column), table.text(q, column)];
    return a === "" || b === "" ? (a === "") - (b === "") : sign * compareTexts(a, b);
  });
}

function showTable(table, order, all, onSort) {
  const right = (name) => (table.isNumeric(name) ? "number" : "");
  const heads = d3.select("thead tr").selectAll("th").data(table.columns, String).join((enter) => {
    const th = enter.append("th").attr("scope", "col");
    th.append("button").attr("type", "button");
    return th;
  }).order().attr("class", right);
  heads.attr("aria-sort", (name) => (name !== order.column ? "none" : order.down ? "descending" : "ascending"));
  heads.select("button").attr("data-column", String).attr("title", (name) => columnOf.get(name)?.meaning ?? "")
    .text((name) => name + (name !== order.column ? "" : order.down ? " ↓" : " ↑")).on("click", (_, name) => onSort(name));
  const lines = d3.select("tbody").selectAll("tr").data(all ? table.rows : table.rows.slice(0, MOST_ROWS)).join("tr")
    .attr("class", (row) => (table.isBad(row) ? "bad" : null));
  lines.selectAll("td").data((row) => table.columns.map((name) => ({ row, name }))).join("td")
    .attr("class", ({ name }) => right(name)).text(({ row, name }) => textOf(name, table.text(row, name)));
  d3.select("#more").property("hidden", all || table.rows.length <= MOST_ROWS).text(`show all ${table.rows.length}`);
}

/* ---- Export ---- */

function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function saveCsv(name, columns, rows, text) {
  save(name, "text/csv", `${d3.csvFormatRows([columns, ...rows.map((row) => columns.map((column) => text(row, column)))])}\n`);
}

/* A picture of its own: on white, with a title. */
function pictureFile(picture) {
  const svg = d3.create("svg");
  const colors = { page: "#ffffff", ink: "#1f2328", soft: "#59636e", line: "#d1d9e0" };
  drawChart(svg, picture, 1000, 560, colors);
  return svg.node();
}

const textOfSvg = (svg) => new XMLSerializer().serializeToString(svg);

function savePng(name, svg) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * svg.getAttribute("width");
    canvas.height = 2 * svg.getAttribute("height");
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(name, "image/png", blob));
  };
  image.src = `data:image/svg+xml,${encodeURIComponent(textOfSvg(svg))}`;
}
