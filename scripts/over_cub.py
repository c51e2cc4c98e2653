#!/usr/bin/env python3
"""over_cub.py [--check] PAGE.md...: CUB's time over that of `auto`, from the CSV files beside each page.

A page has a table with this head, whose lines are written from all files of the page's folder, or, if CUB is
nowhere faster, the line `none`:

    | CUB is faster | file | CUB's time over that of `auto` |

It may also have a table of the least ratios, right after a comment. This has a line for each line of the table, with
a name and, for each of two versions of CUB, a file and values of its columns among AXES, or -:

    <!-- least over sizes
    scan of f32 | scan-newest-cub.csv type=f32 | -
    -->
    | configuration | CUB 3.6.0 | at | CUB 3.0.1 | at |

Only rows of one GPU that passed, with cold caches, are taken. In the first table, ratios of 0.995 or more are left
out. Where a file has several rows of a configuration, as of several processes, their median is taken.

--check writes nothing. It names the pages whose tables the rows contradict, and then exits with 1."""
import csv
import glob
import math
import os
import re
import statistics
import sys

from csv_rows import value_of

HEAD = "| CUB is faster | file | CUB's time over that of `auto` |"
COMMENT = "<!-- least over sizes\n"
LEAST = re.compile(rf"({COMMENT}((?:(?!-->).*\n)*)-->\n(?:\|.*\n){{2}})(?:\|.*\n)*")
USAGE = "over_cub.py: name pages that have the table, perhaps after --check"
LEAD = 0.995
# What a configuration is, besides n, and what goes without saying.
AXES = {"op": None, "type": None, "kind": "exclusive", "operator": "sum", "segments": "none", "keep": "0.75",
        "values": "none", "input": "uniform", "max": None, "scratch": "kept", "host_memory": "pageable"}
UNSAID = {"", None}


def words(configuration, limits):
    """A configuration in words; `limits` are those of its keys in the file, named if there are several."""
    op, of, *_ = configuration
    others = [f"{axis}={value}" for axis, value in zip(AXES, configuration)
              if axis not in ("op", "type") and value not in (AXES[axis], *UNSAID) and (axis != "max" or len(limits) > 1)]
    return " ".join([op, "of", of] + [f"`{other}`" for other in others])


def size(n):
    power = max(n.bit_length(), 1) - 1
    return {2**power: f"2^{power}", 5 * 2 ** (power - 2): f"5/8 of 2^{power + 1}"}.get(n, str(n))


def times_of(path):
    """The median times in a file, by configuration, n and algorithm."""
    times = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row.get("algo") not in ("auto", "cub") or row.get("check") != "passed" or row.get("cache") != "cold"
                    or not row.get("device", "").startswith("gpu") or value_of(row, "gpus") not in ("", "1")
                    or row.get("kernel") or not row.get("time_ms")):
                continue
            key = tuple(value_of(row, axis) for axis in AXES)
            times.setdefault((key, int(row["n"])), {}).setdefault(row["algo"], []).append(float(row["time_ms"]))
    return {place: {algo: statistics.median(of) for algo, of in by.items()} for place, by in times.items()}


def lines_of(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.csv"))):
        times, leads = times_of(path), {}
        for (key, n), by in sorted(times.items()):
            if len(by) == 2 and by["cub"] / by["auto"] < LEAD:
                leads.setdefault(key, []).append(f"{by['cub'] / by['auto']:.2f} ({size(n)})")
        for key, ratios in leads.items():
            place = list(AXES).index("max")
            limits = {other[place] for other, _ in times if other[:place] == key[:place]}
            yield f"| {words(key, limits)} | `{os.path.basename(path)}` | {', '.join(ratios)} |"


def least_of(folder, file_and_values):
    """The cells of a file: the least ratio, rounded down, and the size."""
    if file_and_values == "-":
        return ["", ""]
    file, *values = file_and_values.split()
    wanted = dict(value.split("=", 1) for value in values)
    ratios = [(by["cub"] / by["auto"], n) for (key, n), by in times_of(os.path.join(folder, file)).items()
              if len(by) == 2 and wanted.items() <= dict(zip(AXES, key)).items()]
    if not ratios:
        sys.exit(f"over_cub.py: {file_and_values}: no rows of both auto and cub")
    least, n = min(ratios)
    return [f"{math.floor(100 * least) / 100:.2f}", size(n)]


def least_lines(folder, configurations):
    for configuration in configurations.splitlines():
        name, *files = configuration.split(" | ")
        yield "| " + " | ".join([name, *(cell for file in files for cell in least_of(folder, file))]) + " |\n"


def with_tables(page):
    """The page's text, and the same with the tables as the rows have them."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    folder = os.path.dirname(page) or "."
    before, head, rest = text.partition(HEAD + "\n|---|---|---|\n")
    if not head:
        sys.exit(f"over_cub.py: {page} has no table with the head {HEAD}")
    after = rest.split("\n")
    while after and after[0].startswith("|"):
        del after[0]
    lines = list(lines_of(folder)) or ["| none |  |  |"]
    new = before + head + "".join(line + "\n" for line in lines) + "\n".join(after)
    new, count = LEAST.subn(lambda found: found.group(1) + "".join(least_lines(folder, found.group(2))), new)
    if count != text.count(COMMENT):
        sys.exit(f"over_cub.py: {page}: a comment of least ratios has no table right after it")
    return text, new


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    pages = arguments[is_check:]
    if not pages or any(page.startswith("-") for page in pages):
        print(USAGE, file=sys.stderr)
        return 2
    status = 0
    for page in pages:
        try:
            old, new = with_tables(page)
        except OSError as error:
            print(f"over_cub.py: {error.filename or page}: {error.strerror}", file=sys.stderr)
            return 2
        if is_check and old != new:
            print(f"{page}: the rows say otherwise: scripts/over_cub.py {page} writes the tables")
            status = 1
        elif not is_check:
            with open(page, "w", encoding="utf-8") as file:
                file.write(new)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
