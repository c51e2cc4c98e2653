#!/usr/bin/env python3
"""provenance.py [--check] PAGE.md...: dates and commits in the tables of files of results/.

A page has a table of the CSV files beside it:

    | file | what | date | commit | flags |
    |---|---|---|---|---|
    | `scan.csv` | scan, every algorithm | 2026-11-24 | `g3189505` | `--op=scan` |

The date and the commit are written from the rows of each file. Files without these columns keep
what the page says.

--check writes nothing. It prints what the rows contradict, files without a line and lines without
a file, and then exits with 1."""
import csv
import os
import sys

HEAD = ["file", "what", "date", "commit", "flags"]
USAGE = "provenance.py: name pages with a table of files, perhaps after --check"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def lines_of_files(text):
    """The lines of the tables whose head is HEAD."""
    in_table = False
    for line in text.splitlines():
        in_table = line.startswith("|") and (in_table or cells(line) == HEAD)
        if in_table and line.startswith("| `"):
            yield line


def stamp_of(path):
    """The date and the commit of the rows as cells, or None if the file has no such columns."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or not {"date", "commit"} <= rows[0].keys():
        return None
    dates = sorted({row["date"][:10] for row in rows})
    commits = sorted({row["commit"] for row in rows})
    return [" to ".join(dates[::max(1, len(dates) - 1)]), ", ".join(f"`{commit}`" for commit in commits)]


def stamped(line, folder):
    """The line as the rows of its file have it."""
    name, what, *stamp, flags = cells(line)
    path = os.path.join(folder, name.strip("`"))
    if os.path.exists(path):
        stamp = stamp_of(path) or stamp
    return "| " + " | ".join([name, what, *stamp, flags]) + " |"


def problems(path, text):
    folder = os.path.dirname(path) or "."
    named = []
    for line in lines_of_files(text):
        name = cells(line)[0].strip("`")
        named.append(name)
        if not os.path.exists(os.path.join(folder, name)):
            yield f"{name}: no such file"
        elif stamped(line, folder) != line:
            yield f"{name}: its rows are of {' '.join(cells(stamped(line, folder))[2:4])}"
    for name in sorted(os.listdir(folder)):
        if name.endswith(".csv") and named.count(name) != 1:
            yield f"{name}: {named.count(name)} lines in the table"


def main(arguments):
    check = arguments[:1] == ["--check"]
    paths = arguments[check:]
    if not paths or any(path.startswith("-") for path in paths):
        print(USAGE, file=sys.stderr)
        return 2
    found = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            print(f"provenance.py: {path}: {error.strerror}", file=sys.stderr)
            return 2
        if check:
            found += [f"{path}: {problem}" for problem in problems(path, text)]
            continue
        for line in lines_of_files(text):
            text = text.replace(line, stamped(line, os.path.dirname(path)))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
