#!/usr/bin/env bats
# notebook: common programs read the CSV, with numbers as numbers: LibreOffice Calc, pandas and
# R. They are large, so a test is skipped if its program is missing; `make test-notebook`
# installs them first.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# A file with every sort of row: one that passed, one that was skipped, one with
# text that must be quoted, launches, copies.
setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    export CUDA_VISIBLE_DEVICES='' all_rows=$BATS_FILE_TMPDIR/rows.csv
    ${SCANBENCH:-./scanbench} --op=scan,compact --algo=naive-smem,serial,one-wave --device=cpu,emulator \
        --n=1000,2^20 --samples=2 --quiet --kernels --copies --label='who=A "B", C' --output="$all_rows"
}

# python_with MODULE: prints a python3 that has it.
python_with() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $1" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
}

# Columns that hold numbers wherever they are not empty.
numbers='n block threads samples time_ms time_min_ms time_max_ms time_mean_ms time_stddev_ms noise_pct
    wall_ms gelem_s gb_s memcpy_pct scratch_bytes launches occupancy_pct launch grid launch_block
    share_pct copies_ms h2d_ms d2h_ms time_q1_ms time_q3_ms keep max seed'

@test "pandas: one line, and every number is one" {
    local python
    python=$(python_with pandas)
    [ -n "$python" ] || skip "no pandas: make test-notebook"
    "$python" - "$all_rows" "$numbers" <<'END'
import sys
import pandas
rows = pandas.read_csv(sys.argv[1])
for column in sys.argv[2].split():
    assert pandas.api.types.is_numeric_dtype(rows[column]), (column, rows[column].dtype)
    assert rows[column].notna().any(), column
assert set(rows["check"]) == {"passed", "skipped"}, set(rows["check"])
assert set(rows["label"]) == {'who=A "B", C'}, set(rows["label"])
assert rows[rows["check"] == "skipped"]["time_ms"].isna().all()
END
}

@test "R: one line, and every number is one" {
    command -v Rscript >/dev/null || skip "no R: make test-notebook"
    Rscript - "$all_rows" "$numbers" <<'END'
arguments <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(arguments[1])
for (column in strsplit(trimws(arguments[2]), "\\s+")[[1]])
    if (!is.numeric(rows[[column]]) || all(is.na(rows[[column]])))
        stop(column, " is not a number")
stopifnot(setequal(rows$check, c("passed", "skipped")), all(rows$label == 'who=A "B", C'))
END
}

@test "LibreOffice Calc: every number is one" {
    local office python=python3
    office=$(command -v soffice || command -v libreoffice || true)
    [ -n "$office" ] || skip "no LibreOffice: make test-notebook"
    HOME=$BATS_TEST_TMPDIR "$office" --headless --convert-to fods --outdir "$BATS_TEST_TMPDIR" "$all_rows"
    "$python" - "$BATS_TEST_TMPDIR/rows.fods" "$all_rows" "$numbers" <<'END'
import csv
import sys
import xml.etree.ElementTree as xml
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
sheet = []
for row in xml.parse(sys.argv[1]).iter(TABLE + "table-row"):
    cells = []
    for cell in row.iter(TABLE + "table-cell"):
        value = (cell.get(OFFICE + "value-type"), cell.get(OFFICE + "value"))
        cells += [value] * min(int(cell.get(TABLE + "number-columns-repeated", 1)), 200)
    sheet.append(cells)
rows = list(csv.reader(open(sys.argv[2], newline="")))
header = rows[0]
seen = 0
for line, cells in zip(rows[1:], sheet[1:]):
    for column in sys.argv[3].split():
        place = header.index(column)
        if line[place]:
            kind, value = cells[place]
            assert kind == "float", (column, line[place], kind)
            assert abs(float(value) - float(line[place])) <= 1e-9 * abs(float(value)), (column, value)
            seen += 1
assert len(sheet) >= len(rows) and seen > 20 * (len(rows) - 1) / 2, (len(sheet), seen)
END
}

# shown LANGUAGE: prints the code in docs/comparing.md in that language.
shown() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/comparing.md | sed '1d;$d'
}

@test "docs/comparing.md: speedups over CUB in pandas and in R, the same in both" {
    local python got
    python=$(python_with pandas)
    [ -n "$python" ] || skip "no pandas: make test-notebook"
    command -v Rscript >/dev/null || skip "no R: make test-notebook"
    # `auto` at 2^29, from the file.
    got=$(read_csv results/nvidia-h200/scan.csv algo n cache time_ms | awk '
        $2 == 2 ^ 29 && $3 == "cold" { ms[$1] = $4 } END { printf "%.2f", ms["cub"] / ms["auto"] }')
    { shown python && echo 'print("auto:", (times["cub"] / times["auto"]).round(2)[2**29])'; } >"$BATS_TEST_TMPDIR/shown.py"
    has "$("$python" "$BATS_TEST_TMPDIR/shown.py")" "auto: $got"
    { shown r && echo 'cat("auto:", round((times[, "cub"] / times)[as.character(2^29), "auto"], 2))'; } >"$BATS_TEST_TMPDIR/shown.r"
    has "$(Rscript "$BATS_TEST_TMPDIR/shown.r")" "auto: $got"
}
