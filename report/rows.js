/* rows.js: the rows of all files. A row is an array of texts, one per column; `file` is a column
 * like the others. What a column is for, comes from the program's table of columns. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
/* Names come from files: what is kept under them is in a Map, where "constructor" is a name. */
const columnOf = new Map(data.columns.map((column, place) => [column.name, { ...column, place }]));
const looks = new Map(Object.entries(data.looks));

const cell = (row, name) => (columnOf.has(name) ? row[columnOf.get(name).place] : "");
const number = (row, name) => (cell(row, name) === "" ? NaN : Number(cell(row, name)));
const isNumeric = (name) => columnOf.has(name) && columnOf.get(name).kind !== "TEXT";

/* A column is stored as runs: value, how often, value, how often ... */
function unpackedRows() {
  const rows = Array.from({ length: data.count }, () => []);
  data.runs.forEach((runs, place) => {
    let r = 0;
    for (let i = 0; i < runs.length; i += 2)
      for (let k = 0; k < runs[i + 1]; k++) rows[r++][place] = runs[i];
  });
  return rows;
}

const allRows = unpackedRows();
const passedRows = allRows.filter((row) => cell(row, "kernel") === "" && cell(row, "check") === "passed");

/* The values of a column, in order. */
const valuesKept = new Map();
function valuesOf(name) {
  if (!valuesKept.has(name))
    valuesKept.set(name, [...new Set(data.runs[columnOf.get(name).place].filter((_, i) => i % 2 === 0))].sort(compareTexts));
  return valuesKept.get(name);
}

const namesOf = (test) => data.columns.filter(test).map((column) => column.name);
const AXES = namesOf((column) => column.class === "AXIS");
/* Rows that agree in all of these are runs of the same thing. Their dates differ, and whether n is
 * a power of two follows from n. */
const IDENTITY = namesOf(({ name, class: of }) => !["MEASURE", "OUTCOME"].includes(of) && !["date", "pot"].includes(name));

/* Which algorithms have a value in a column, on which kind of device. An empty cell of another
 * one means that the column does not apply to it. */
const userOf = new Map(passedRows.map((row) => [row, `${cell(row, "device").replace(/\d+$/, "")} ${cell(row, "algo")}`]));
const usersOf = new Map();

function applies(name, row) {
  if (cell(row, name) !== "") return true;
  if (!usersOf.has(name))
    usersOf.set(name, new Set(passedRows.filter((other) => cell(other, name) !== "").map((other) => userOf.get(other))));
  return usersOf.get(name).has(userOf.get(row));
}

/* ---- Text ---- */

const collator = new Intl.Collator("en", { numeric: true });

function compareTexts(a, b) {
  const difference = Number(a) - Number(b);
  return Number.isNaN(difference) ? collator.compare(a, b) : difference;
}

function powerOfTwo(value) {
  const k = Math.log2(value);
  return Number.isInteger(k) && k >= 5 ? `2^${k}` : String(value);
}

const textOf = (name, value) => (name === "n" && value !== "" ? powerOfTwo(Number(value)) : value);

/* 4 digits, with a unit for times. */
function pretty(value, name) {
  if (!Number.isFinite(value)) return "";
  if (/_ms$/.test(name))
    for (const [unit, size] of [["s", 1e3], ["ms", 1], ["µs", 1e-3], ["ns", 1e-6]])
      if (value >= size * 0.99995 || unit === "ns") return `${Number((value / size).toPrecision(4))} ${unit}`;
  return String(Number(value.toPrecision(4)));
}
