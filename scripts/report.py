"""report.py: builds the page for report.sh, whose head describes it."""
import csv
import json
import os
import sys

from csv_rows import UsageError, files_of

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = os.path.join(HERE, "..", "report")


def read_part(*path):
    with open(os.path.join(PARTS, *path), encoding="utf-8") as file:
        return file.read()


def load_looks():
    with open(os.path.join(HERE, "colors.csv"), newline="", encoding="utf-8") as file:
        return {row["algorithm"]: [row["colour"], row["dash"]] for row in csv.DictReader(file)}


def data_of(files):
    """All rows with the columns of all files, as JSON that cannot end the script element."""
    columns = list(dict.fromkeys(name for _, names, _ in files for name in names))
    rows = []
    for _, names, own in files:
        places = [names.index(name) if name in names else None for name in columns]
        rows += [["" if place is None else row[place] for place in places] for row in own]
    data = {"columns": columns, "rows": rows, "looks": load_looks(),
            "files": [os.path.basename(path) for path, _, _ in files]}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"), rows


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
    page = read_part("page.html")
    # The data is inserted last, so that nothing in it is taken for a placeholder.
    for place, text in (("@STYLE@", read_part("page.css")),
                        ("@LIBRARY@", read_part("vendor", "echarts.common.min.js")),
                        ("@SCRIPT@", read_part("page.js")), ("@DATA@", data)):
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
