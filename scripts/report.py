"""report.py: builds the page for report.sh, whose head describes it."""
import csv
import itertools
import json
import os
import sys

from csv_rows import BEFORE, CLASSES, KINDS, MEANINGS, UsageError, files_of
from noise import ONE_RUN, RUN_TO_RUN, RUN_TO_RUN_MS, SAME, WIDER

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = os.path.join(HERE, "..", "report")
TITLE = "<title>scanbench report</title>"
SCRIPTS = ["rows.js", "lines.js", "chart.js", "table.js", "state.js", "detail.js", "controls.js", "page.js"]


def read_part(*path):
    with open(os.path.join(PARTS, *path), encoding="utf-8") as file:
        return file.read()


def load_looks():
    with open(os.path.join(HERE, "colors.csv"), newline="", encoding="utf-8") as file:
        return {row["algorithm"]: [row["colour"], row["dash"]] for row in csv.DictReader(file)}


def short_names(paths):
    """The names of the files, with as many folders as tell them apart."""
    names = [os.path.basename(path) for path in paths]
    if len(set(names)) == len(set(paths)):
        return names
    common = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    return [os.path.relpath(path, common) for path in paths]


def runs_of(values):
    """[value, how often, value, how often ...]"""
    return [part for value, run in itertools.groupby(values) for part in (value, len(list(run)))]


def described(name):
    """A column that the program does not know tells rows apart as its axes do."""
    return {"name": name, "class": CLASSES.get(name, "ENVIRONMENT"), "kind": KINDS.get(name, "TEXT"),
            "meaning": MEANINGS.get(name, "")}


def data_of(files):
    """All rows with the columns of all files, as JSON that cannot end the script element."""
    names = [name for name in dict.fromkeys(name for _, columns, _ in files for name in columns) if name != "file"]
    rows = []
    for file, (_, columns, own) in zip(short_names([path for path, _, _ in files]), files):
        places = [columns.index(name) if name in columns else None for name in names]
        before = [BEFORE.get(name, "") for name in names]
        rows += [[*(before[i] if place is None else row[place] for i, place in enumerate(places)), file] for row in own]
    data = {"columns": [*map(described, names), {**described("file"), "meaning": "file that has the row"}],
            "count": len(rows), "runs": [runs_of(column) for column in zip(*rows)], "looks": load_looks(),
            "noise": {"wider": WIDER, "run_to_run": RUN_TO_RUN, "run_to_run_ms": RUN_TO_RUN_MS, "same": SAME,
                      "one_run": ONE_RUN}}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"), rows


def is_other_file(path):
    """Is it a file that would be lost? A page of an earlier call is made anew."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            start = file.read(4096)
    except OSError:
        return False
    return start != "" and TITLE not in start


def main(arguments):
    output, paths = None, []
    for argument in arguments:
        if argument.startswith("--output="):
            output = argument.removeprefix("--output=")
        elif argument.startswith("-"):
            raise UsageError(f"{argument} is not known; it must be --output=PAGE.html, --help, or a file")
        else:
            paths.append(argument)
    if not output:
        raise UsageError("--output is missing; name the page with --output=page.html")
    if not paths:
        raise UsageError("no file; name CSV files of scanbench, such as results/nvidia-h200/scan.csv")
    data, rows = data_of(list(files_of(paths, below=True)))
    if not rows:
        raise UsageError("the named files have no rows")
    if is_other_file(output):
        raise UsageError(f"--output={output}: it is no page of report.sh; name another file or remove it")
    page = read_part("page.html")
    # The data is inserted last, so that nothing in it is taken for a placeholder.
    for place, text in (("@STYLE@", read_part("page.css")),
                        ("@LIBRARY@", read_part("vendor", "d3.min.js")),
                        ("@SCRIPT@", "\n".join(map(read_part, SCRIPTS))), ("@DATA@", data)):
        before, _, behind = page.partition(place)
        page = before + text + behind
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        raise UsageError(f"--output={output}: {error.strerror}") from error
    print(f"{output}: {len(rows)} rows, {len(page.encode()) // 1024} KiB")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UsageError as error:
        print(f"report.sh: {error}", file=sys.stderr)
        sys.exit(2)
