"""csv_rows.py: reads CSV files of scanbench for plot.py and report.py, and refuses files
that neither can draw: every number is checked before it is used."""
import csv
import math
import os
import re

NEEDED = frozenset({"op", "algo", "type", "n", "device", "time_ms", "check"})
# The columns of whole numbers, and all columns of numbers.
with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../bench/rows/columns.def")) as table:
    COLUMNS = re.findall(
        r'^(?:LATER_)?COLUMN\((\w+), (\w+), (\w+),\s*(?:"(\w*)",\s*)?((?:"[^"]*"\s*)+)\)', table.read(), re.MULTILINE)
KINDS = {name: kind for name, _, kind, _, _ in COLUMNS}
CLASSES = {name: column_class for name, column_class, _, _, _ in COLUMNS}
MEANINGS = {name: "".join(re.findall('"([^"]*)"', meaning)) for name, _, _, _, meaning in COLUMNS}
# What the kernels did, which --counts counts.
COUNTED = [name for name, meaning in MEANINGS.items() if CLASSES[name] == "MEASURE" and meaning.startswith("--counts: ")]
AXES = [name for name in KINDS if CLASSES[name] == "AXIS"]
# What files from before these columns would say in them.
BEFORE = {name: before for name, _, _, before, _ in COLUMNS if before}
COUNTS = {name for name, kind in KINDS.items() if kind == "COUNT"}
NUMBERS = {name for name, kind in KINDS.items() if kind not in ("TEXT", "TYPED")} | {"keep"}
DECIMAL = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
LARGEST_COUNT = 2**63


class UsageError(Exception):
    """An error message for the user, in one line."""


class NotOurs(UsageError):
    """The file is not a CSV file of scanbench; skipped if found in a folder."""


def what_is_wrong(name, text):
    """Why a field is invalid in its column, or None."""
    if text == "":
        return "is empty; it must be a number of elements" if name == "n" else None
    if not DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
        return f'"{shortened(text)}" is not a number'
    value = float(text)
    if value < 0 and name != "temperature_c":
        return f"{text} is below 0"
    if name in COUNTS and not (value.is_integer() and value < LARGEST_COUNT):
        return f"{text} is not a whole number below 2^63"
    return f"{text} is above 1; it must be the fraction kept" if name == "keep" and value > 1 else None


def shortened(text):
    """Text for a message, reduced to one short line."""
    line = "".join(c if c.isprintable() else "?" for c in text)
    return line if len(line) <= 40 else line[:37] + "..."


def value_of(row, column):
    """A cell of a row that is a dictionary, also of a column that its file does not have."""
    return row.get(column, BEFORE.get(column, ""))


def read_rows(path, needed=NEEDED):
    """(columns, rows) of a CSV file of scanbench with the needed columns, without torn rows."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            return checked_rows(path, csv.reader(file), needed)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NotOurs(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def checked_rows(path, reader, needed):
    columns = next(reader, [])
    missing = needed - set(columns)
    if missing:
        raise NotOurs(f"{path}: not a complete CSV file of scanbench: it has no column " + ", ".join(sorted(missing)))
    numbers = [(place, name) for place, name in enumerate(columns) if name in NUMBERS]
    rows, line = [], reader.line_num + 1
    for row in reader:
        # Files may be concatenated, and a spreadsheet keeps the commas of a row whose cells were cleared.
        if len(row) == len(columns) and row != columns and any(row):
            for place, name in numbers:
                wrong = what_is_wrong(name, row[place])
                if wrong:
                    raise UsageError(f"{path}, line {line}, column {name}: {wrong}")
            rows.append(row)
        line = reader.line_num + 1
    return columns, rows


def files_of(arguments, below):
    """(path, columns, rows) of the named files, and of scanbench's files in named folders;
    `below`: in their subfolders, too."""
    for argument in arguments:
        if not os.path.isdir(argument):
            yield (argument, *read_rows(argument))
            continue
        for folder, folders, names in os.walk(argument):
            folders[:] = sorted(folders) if below else []
            for path in (os.path.join(folder, name) for name in sorted(names) if name.endswith(".csv")):
                try:
                    yield (path, *read_rows(path))
                except NotOurs:
                    pass  # a profile, say
