#!/usr/bin/env python3
"""evidence.py TABLE PAGE...: checks the files that scripts/evidence.sh made.

A page names them in rows of a table,

    | `scan.csv` | scan | 2026-11-24 | `g3189505` | `scripts/evidence.sh`: `--op=scan --n=2^12..2^29` |

whose flags must be those of the file in TABLE. The file, beside the page, must have a row for
everything that the flags ask for: passed, or skipped with a reason.

Prints each error on a line, and then exits with 1."""
import csv
import itertools
import os
import re
import sys

NAMED = re.compile(r"^\| `([\w.-]+)` \|.*\| `scripts/evidence\.sh`: `([^`]*)` \|$", re.M)
AXES = ("op", "algo", "type", "values", "cache", "keep", "input", "max")  # flags, and columns of the same name
SETS = {"both": ["cold", "hot"]}


def number(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent or 1)


def sizes(text, pot, npot):
    """What --n=TEXT --pot --npot asks for, of the forms a, a..b and a..b*k."""
    for part in text.split(","):
        whole = re.fullmatch(r"([\d^]+)(?:\.\.([\d^]+)(?:\*(\d+))?)?", part)
        n, last, factor = number(whole[1]), number(whole[2] or whole[1]), int(whole[3] or 2)
        while n <= last:
            yield from [n] * pot + [n * 5 // 8] * npot
            n *= factor


def wanted(flags, rows):
    """The columns that the flags choose, and all combinations of their values."""
    given = dict(flag[2:].partition("=")[::2] for flag in flags.split())
    n = sizes(given["n"], "pot" in given or "npot" not in given, "npot" in given)
    axes = {"n": [str(size) for size in n]}
    for name in AXES:
        if name in given:
            values = given[name].strip("{}").split(",")
            axes[name] = [each for value in values for each in SETS.get(value, [value])]
    if not {"all", "own"}.isdisjoint(axes["algo"]):  # what there is depends on the device
        axes["algo"] = sorted({row["algo"] for row in rows})
    return list(axes), set(itertools.product(*axes.values()))


def read_rows(page, name):
    with open(os.path.join(os.path.dirname(page), name), newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def problems(table, page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for name, flags in NAMED.findall(text):
        if table.get(name) != flags:
            yield f"{name}: its flags are not those of the table, {table.get(name)}"
            continue
        rows = [row for row in read_rows(page, name) if not row["kernel"]]
        columns, combinations = wanted(flags, rows)
        missing = combinations - {tuple(row[column] for column in columns) for row in rows}
        if missing:
            which = ", ".join(f"{column}={value}" for column, value in zip(columns, min(missing)))
            yield f"{name}: {len(missing)} of {len(combinations)} rows are missing, one with {which}"
        for row in rows:
            if row["check"] != "passed" and not (row["check"] == "skipped" and row["reason"]):
                yield f"{name}: {row['op']} {row['algo']} of {row['n']}: {row['check']} {row['reason']}"


def main(path, *pages):
    with open(path, encoding="ascii") as file:
        table = dict(line.rstrip("\n").split(" | ")[::2] for line in file)
    found = [f"{page}: {problem}" for page in pages for problem in problems(table, page)]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
