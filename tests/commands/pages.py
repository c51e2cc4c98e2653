#!/usr/bin/env python3
"""pages.py figures|update|links|examples PAGE.md...: checks the contents of the pages.

figures   Each number with a unit, and each number in a table, is the one in the CSV file that a
          comment above the paragraph or table names. The comment takes one of two forms:

              <!-- figures FILE COLUMN=VALUE...          <!-- figures FILE COLUMN=VALUE...
              1.380 ms = time_ms[algo=cub]               algo= | time_ms | -
              -->                                        -->

          Left, for a paragraph: TEXT = EXPRESSION per line. Right, for a table: one entry per column.
          COLUMN= is a column whose cells select the row; - is a column of words. An expression is
          arithmetic over columns of the one row that the filters leave; [COLUMN=VALUE,...] adds or
          replaces filters, [COLUMN=*] takes one away, and @FILE looks in another file. sum(EXPRESSION)
          is over all rows that the filters leave. `min over n=2^12..2^29: EXPRESSION`
          ranges over the sizes, `over label=*` over all values of a column, and `min of COLUMN` over
          all rows that the filters leave; so do max and median. A bound of `over` is rounded away
          from the values. `range over` is for a TEXT of both bounds, 1.31 to 1.84, and `spread
          over` for one with the median before them, 1.52 (1.31 to 1.84). For a TEXT of two times, 5.92 -> 5.28,
          VALUE is OLD->NEW where they differ. TEXT = stated marks a number that does not come from
          a CSV file. In place of FILE and filters, `$ ./scanbench ...` is run, and its
          rows are taken: for what does not depend on the machine.

          <!-- unchecked figures: WHY --> skips the rest of its section.
update    Writes these numbers into the pages, after files were measured again. What the words
          around them say is for you to read.
links     Each relative link must name a file, and its anchor a heading.
examples  Each ```console block that begins with `$ ./scanbench` is run. Its output must be the one
          shown, except for numbers with a decimal point and units of time. A command that fails is
          followed by `$ echo $?`.

Prints each error on a line, and then exits with 1."""
import collections
import csv
import functools
import math
import os
import re
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts"))
from transcripts import BLOCK, commands_of, folder_with  # noqa: E402

COMMENT = re.compile(r"<!-- figures(.*?)-->", re.S)
UNCHECKED = "<!-- unchecked figures: "
MEASURED = re.compile(r"\d[\d.]* ?(?:[µmnu]s|s|GB/s|Gelem/s|Mkeys/s|%|times)(?![\w/])")
NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
IN_A_CELL = re.compile(r"-?\d+(?:\.\d+)?$")
CHANGE = re.compile(r"([\w.+-]+)->([\w.+-]+)")
OPERAND = re.compile(r"(?<!\w)([a-z]\w*(?:\.[a-z]\w*)*)(?:\[([^\]]*)\])?(?:@(results/[\w/.-]+))?")
SUM = re.compile(r"(?<!\w)sum\(([^()]*)\)")


class Wrong(Exception):
    pass


def program():
    return os.path.abspath(os.environ.get("SCANBENCH", "./scanbench"))


# ---- CSV ----

class Rows(list):
    """The rows of a file, with an index per column, because thousands of figures each search them."""

    def __init__(self, rows):
        super().__init__(rows)
        self.indexes = {}

    def where(self, column, value):
        """The rows that have the value in the column, and those that have no such column."""
        if column not in self.indexes:
            self.indexes[column] = collections.defaultdict(list)
            for row in self:
                self.indexes[column][row.get(column)].append(row)
        index = self.indexes[column]
        found = index.get(value, [])
        return found + index[None] if None in index else found


@functools.lru_cache
def read_rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return Rows(csv.DictReader(file))


@functools.lru_cache
def rows_of_command(command):
    with folder_with(program()) as folder:
        done = subprocess.run(["bash", "-c", command + " --quiet --format=csv"], cwd=folder, text=True,
                              stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Wrong(f"{command}: exit {done.returncode}")
    return Rows(csv.DictReader(done.stdout.splitlines()))


def whole_number(text):
    """2^29 and 5/8*2^29 as decimal digits; other text as it is."""
    power = re.fullmatch(r"(5/8\*)?2\^(\d+)", text)
    if power is None:
        return text
    number = 2 ** int(power.group(2))
    return str(number * 5 // 8 if power.group(1) else number)


def parse_filters(text, separator=None):
    filters = dict(part.split("=", 1) for part in text.split(separator) if part)
    return {column.strip(): whole_number(value.strip()) for column, value in filters.items()}


def select(rows, filters):
    """Rows that passed and match; rows of launches only if requested."""
    wanted = {"kernel": "", "check": "passed", **filters}
    wanted = {column: value for column, value in wanted.items() if value != "*"}
    fewest = min((rows.where(column, value) for column, value in wanted.items()), key=len, default=rows)
    return [row for row in fewest if all(row.get(column, value) == value for column, value in wanted.items())]


def cells_of(rows, filters, match):
    """The values of an operand in all rows that the filters leave."""
    column, more, file = match.groups()
    filters = {**filters, **parse_filters(more or "", ",")}
    found = select(read_rows(file) if file else rows, filters)
    if not found or not all(row.get(column) for row in found):
        raise Wrong(f"{match.group(0)}: {len(found)} rows with {filters}")
    return [row[column] for row in found]


def operand(rows, filters, match):
    values = cells_of(rows, filters, match)
    if len(values) != 1:
        raise Wrong(f"{match.group(0)}: {len(values)} rows with {filters}")
    return values[0]


def calculate(arithmetic):
    return eval(arithmetic, {"__builtins__": {}})  # of this repository's pages only


def total(rows, filters, expression):
    """The sum of an expression over all rows that the filters leave."""
    for match in OPERAND.finditer(expression):
        filters = {**filters, **parse_filters(match.group(2) or "", ",")}
    values = [calculate(OPERAND.sub(lambda match: row[match.group(1)], expression)) for row in select(rows, filters)]
    if not values:
        raise Wrong(f"sum({expression}): no rows with {filters}")
    return str(sum(values))


def over_values(rows, filters, column, first, last, expression):
    """The expression for each value of the column, or for each from first to last."""
    values = {row.get(column) or "" for row in rows}
    if first != "*":
        wanted = range(int(whole_number(first)), int(whole_number(last)) + 1)
        values = {value for value in values if value.isdigit() and int(value) in wanted}
    for value in values:
        try:
            yield evaluate(rows, {**filters, column: value}, expression)
        except Wrong:
            if first == "*":
                raise
            continue  # not measured at this size


def evaluate(rows, filters, expression):
    several = re.fullmatch(r"(min|max|median) (?:over (\w+)=(?:(\*)|(\S+)\.\.(\S+?)): |of )(.*)", expression)
    if several is None:
        expression = SUM.sub(lambda match: total(rows, filters, match.group(1)), expression)
        return calculate(OPERAND.sub(lambda match: operand(rows, filters, match), expression))
    which, column, every, first, last, inner = several.groups()
    if column:
        values = list(over_values(rows, filters, column, every or first, last, inner))
    else:
        values = [calculate(OPERAND.sub(value, inner)) for value in cells_of(rows, filters, OPERAND.match(inner))]
    if len(values) < 2:
        raise Wrong(f"{expression}: {len(values)} rows, where several are wanted")
    return {"min": min, "max": max, "median": statistics.median}[which](values)


def compare(text, value, expression):
    """The number in the text is the value, rounded to as many digits as it shows."""
    number = NUMBER.search(text)
    last_digit = 10 ** -len(number.group(1) or "")
    off = (value - float(number.group(0))) / last_digit
    if expression.startswith("min over"):
        off -= 0.5
    elif expression.startswith("max over"):
        off += 0.5
    if abs(off) > 0.5001:
        raise Wrong(f'"{text}" is {value:.6g}')


def parts(text, expression):
    """The form of an entry's text, with {} for each number, and (number's text, expression) of each."""
    kind, over, inner = expression.partition(" over ")
    bounds = [f"min over {inner}", f"max over {inner}"]
    if over and kind == "range":
        form, of_each = "{} to {}", bounds
    elif over and kind == "spread":
        form, of_each = "{} ({} to {})", [f"median over {inner}", *bounds]
    elif CHANGE.search(expression):
        form, of_each = "{} -> {}", [CHANGE.sub(r"\1", expression), CHANGE.sub(r"\2", expression)]
    else:
        form, of_each = "{}", [expression]
    found = re.fullmatch(re.escape(form).replace(r"\{\}", "(.+?)"), text)
    if found is None:
        raise Wrong(f'"{text}" is not {form.format(*["NUMBER"] * len(of_each))}')
    return form, list(zip(found.groups(), of_each))


def differences(rows, filters, text, expression):
    """Why numbers in the text are not what the expression says."""
    try:
        of_text = parts(text, expression)[1]
    except Wrong as why:
        of_text = []
        yield str(why)
    for part, of_part in of_text:
        try:
            compare(part, evaluate(rows, filters, of_part), of_part)
        except Wrong as why:
            yield str(why)


def rewritten(text, value, expression):
    """The text, with the value as its number unless it is that already."""
    try:
        compare(text, value, expression)
        return text
    except Wrong:
        places = len(NUMBER.search(text).group(1) or "")
        away = {"min": math.floor, "max": math.ceil}.get(expression.partition(" over ")[0], round)
        return NUMBER.sub(f"{away(value * 10**places) / 10**places:.{places}f}", text, count=1)


# ---- Blocks of a page ----

def without_code(page):
    return re.sub(r"^```.*?^```$|^    [^\n]*$", "", page, flags=re.S | re.M)


def blocks(page):
    """(comments, text) for each paragraph, list or table whose figures are to be checked."""
    comments = []
    unchecked = False
    page = COMMENT.sub(lambda match: "\n\n" + match.group(0).replace("\n\n", "\n") + "\n\n", without_code(page))
    for block in re.split(r"\n\s*\n", page):
        block = block.strip()
        if COMMENT.fullmatch(block):
            comments.append(COMMENT.fullmatch(block).group(1))
            continue
        unchecked = (unchecked and not block.startswith("## ")) or block.startswith(UNCHECKED)
        if block and not unchecked:
            yield comments, block
            comments = []


def cells(line):
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def key_of(cell):
    """`cub` (3.0.1) names the row of cub."""
    code = re.match(r"`([^`]+)`", cell)
    return whole_number(code.group(1) if code else cell)


def is_measured(entry, cell):
    return cell and entry != "-" and not entry.endswith("=")


def filters_of_line(filters, entries, line_cells):
    if len(line_cells) != len(entries):
        raise Wrong(f"{len(entries)} entries for {len(line_cells)} columns")
    keys = {entry[:-1]: key_of(cell) for entry, cell in zip(entries, line_cells) if entry.endswith("=")}
    return {**filters, **keys}


def check_table(rows, filters, entries, table):
    for line_cells in map(cells, table[2:]):
        keyed = filters_of_line(filters, entries, line_cells)
        for entry, cell in zip(entries, line_cells):
            if is_measured(entry, cell):
                yield from (f"{line_cells[0]}: {why}" for why in differences(rows, keyed, cell, entry))


def check_paragraph(rows, filters, entries, text):
    for entry in entries:
        quoted, expression = (part.strip() for part in entry.split(" = ", 1))
        if not re.search(rf"(?<![\d.]){re.escape(quoted)}(?![\d])", text):
            yield f'"{quoted}" is not in the text'
        elif expression != "stated":
            yield from differences(rows, filters, quoted, expression)


def parse_comment(comment):
    """The rows, the filters and the entries of a comment."""
    head, *entries = [line.strip() for line in comment.rstrip().splitlines()]
    if head.startswith("$ "):
        return rows_of_command(head[2:]), {}, entries
    file, _, filters = head.partition(" ")
    return read_rows(file) if file else Rows([]), parse_filters(filters), entries


def is_of_table(entries, block):
    return block.startswith("|") and " | " in entries[0]


def check_block(comments, block):
    is_table = block.startswith("|")
    text = " ".join(block.split())
    uncovered = text
    covered_columns = set()
    for rows, filters, entries in map(parse_comment, comments):
        if is_of_table(entries, block):
            columns = [entry.strip() for entry in entries[0].split("|")]
            covered_columns |= {i for i, column in enumerate(columns) if column != "-"}
            yield from check_table(rows, filters, columns, block.splitlines())
        else:
            yield from check_paragraph(rows, filters, entries, text)
            for entry in entries:
                uncovered = uncovered.replace(entry.split(" = ", 1)[0].strip(), "")
    if not is_table:
        for measured in MEASURED.findall(uncovered):
            yield f'"{measured}" comes from nowhere'
        return
    for line in block.splitlines()[2:]:
        for i, cell in enumerate(cells(line)):
            if i not in covered_columns and (IN_A_CELL.match(cell) or MEASURED.search(cell)):
                if cell in uncovered:
                    yield f'"{cell}" comes from nowhere'


def figures(path, page):
    for comments, block in blocks(page):
        try:
            yield from check_block(comments, block)
        except (Wrong, OSError, ValueError, IndexError) as why:
            yield f"{block.splitlines()[0][:60]}: {why}"


# ---- New numbers for figures ----

def new_line(rows, filters, entries, line):
    """The line of a table as it should be."""
    line_cells = cells(line)
    keyed = filters_of_line(filters, entries, line_cells)
    for i, (entry, cell) in enumerate(zip(entries, line_cells)):
        if is_measured(entry, cell):
            line_cells[i] = new_text(rows, keyed, cell, entry)
    return "| " + " | ".join(line_cells) + " |"


# Digits that were written look like none until all are, so that no later entry takes them for its own.
WRITTEN = {ord(digit): chr(0xE000 + int(digit)) for digit in "0123456789"}
UNWRITTEN = {ord(written): chr(digit) for digit, written in WRITTEN.items()}


def with_numbers_of(new, text, block):
    """The block, where the text has the numbers of the new text, in WRITTEN digits."""
    words = r"\s+".join(map(re.escape, text.split()))

    def renumbered(found):
        numbers = NUMBER.finditer(new)
        return NUMBER.sub(lambda old: next(numbers, old).group(0).translate(WRITTEN), found.group(0))
    return re.sub(rf"(?<![\d.]){words}(?!\d)", renumbered, block)


def new_text(rows, filters, text, expression):
    """The text of an entry as it should be."""
    if expression == "stated":
        return text
    form, of_text = parts(text, expression)
    return form.format(*(rewritten(part, evaluate(rows, filters, of_part), of_part) for part, of_part in of_text))


def updated(comment, block):
    """The comment and its block, with the numbers of the CSV files."""
    rows, filters, entries = parse_comment(comment)
    if is_of_table(entries, block):
        columns = [entry.strip() for entry in entries[0].split("|")]
        head, rule, *lines = block.splitlines()
        return comment, "\n".join([head, rule, *(new_line(rows, filters, columns, line) for line in lines)])
    for text, expression in (map(str.strip, entry.split(" = ", 1)) for entry in entries):
        new = new_text(rows, filters, text, expression)
        comment = comment.replace(f"\n{text} = {expression}", f"\n{new} = {expression}")
        block = with_numbers_of(new, text, block)
    return comment, block


def update(path, page):
    """Writes the page anew, and says which blocks could not be updated."""
    for comments, block in blocks(page):
        new_block = block
        try:
            for comment in comments:
                new_comment, new_block = updated(comment, new_block)
                page = page.replace(comment, new_comment)
        except (Wrong, OSError, ValueError, IndexError) as why:
            yield f"{block.splitlines()[0][:60]}: {why}"
        page = page.replace(block, new_block.translate(UNWRITTEN))
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


# ---- Links ----

def anchors(path):
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", without_code(file.read()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path, page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        file = os.path.join(os.path.dirname(path), file) if file else path
        if not os.path.exists(file):
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(file):
            yield f"{target}: no such heading"


# ---- Examples ----

def skeleton(text):
    """Lines as words, without the parts that differ from run to run or from machine to machine."""
    lines = []
    text = re.sub(r"^scanbench v.*\n(  .*\n)*", "", text, flags=re.M)  # the heading of a table
    text = re.sub(r"^scanbench: .*(times may vary|exceeds? --max-noise).*\n", "", text, flags=re.M)
    text = re.sub(r" [\d.]+ ?%!?(?= )", " # %", text)  # the noise, and the share of a launch
    for line in text.strip().splitlines():
        words = " ".join("#" if re.fullmatch(r"\d+\.\d+", word) else word for word in line.split())
        lines.append(re.sub(r"# (ns|us|ms|s)\b", "# TIME", words))
    return lines


def run_command(command, folder):
    """Runs a command as on a terminal: a table, and stderr together with stdout."""
    if not re.search(r"--(format|columns|list|show-|version|device-info)|-f |-c ", command):
        command = re.sub(r"^\./scanbench", "./scanbench --format=table", command)
    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def examples(path, page):
    found = BLOCK.findall(page)
    if not found:
        yield "no examples"
    for block in found:
        with folder_with(program()) as folder:
            code = 0
            for command, shown in commands_of(block):
                if command == "echo $?":
                    got, code = str(code), 0
                elif code != 0:
                    break
                else:
                    code, got = run_command(command, folder)
                if skeleton(got) != skeleton(shown):
                    yield f"{command}: the page shows\n{shown}and it is\n{got}"
            if code != 0:
                yield f"{command}: exit {code}"


def main(what, *paths):
    check = {"figures": figures, "update": update, "links": links, "examples": examples}[what]
    problems = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            problems += [f"{path}: {problem}" for problem in check(path, file.read())]
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
