#!/usr/bin/env python3
"""read_csv.py FILE [COLUMN...]: checks that the rows have scanbench's documented format,
and prints the columns, separated by tabs. Prints each violation to stderr, and then
exits with 1."""
import csv
import re
import sys

MEASURES = re.compile(r".*(_ms|_pct|_s)$")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$")
NOT_EMPTY = {"op", "algo", "type", "n", "device", "cache", "check", "version", "date"}


def read(path):
    raw = open(path, "rb").read()
    problems = []
    if b"\r" in raw:
        problems.append("a carriage return")
    if not raw.endswith(b"\n"):
        problems.append("the last line has no end")
    if any(byte > 126 for byte in raw):
        problems.append("not ASCII")
    rows = list(csv.reader(raw.decode("ascii", "replace").splitlines(), strict=True))
    if not rows:
        return [], [], problems + ["no header"]
    header, rows = rows[0], rows[1:]
    if len(set(header)) != len(header):
        problems.append("two columns of one name")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            problems.append(f"line {number}: {len(row)} fields, {len(header)} names")
        problems += [f"line {number}: {p}" for p in check(dict(zip(header, row)))]
        if row == header:
            problems.append(f"line {number}: a second header")
    return header, rows, problems


def check(row):
    for name, text in row.items():
        if name not in ("change", "segments", "values") and text.strip().lower() in {"n/a", "na", "nan", "-nan", "inf", "-inf", "none", "null", "-"}:
            yield f"{name} is {text}"
        if text[:1] in set("=+@-") and not NUMBER.match(text):
            yield f"{name} may be taken for a formula: {text}"
        if name in NOT_EMPTY and not text:
            yield f"{name} is empty"
        if MEASURES.match(name) and text:
            if not NUMBER.match(text):
                yield f"{name} is no number: {text}"
            if row.get("check", "passed") != "passed":
                yield f"{name} is given, though the row is {row['check']}"
    if row.get("check", "passed") not in {"passed", "failed", "skipped", "error"}:
        yield f"check is {row['check']}"
    if "check" in row and "reason" in row and (row["check"] == "passed") != (row["reason"] == ""):
        yield f"check is {row['check']}, and the reason is: {row['reason']}"
    if row.get("check") == "passed" and not row.get("time_ms", "0") and not row.get("line"):
        yield "passed, without a time"


def main(path, *names):
    header, rows, problems = read(path)
    for problem in problems:
        print(problem, file=sys.stderr)
    for name in names:
        if name not in header:
            sys.exit(f"no column {name}")
    for row in rows:
        named = dict(zip(header, row))
        if names:
            print("\t".join(named[name] for name in names))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
