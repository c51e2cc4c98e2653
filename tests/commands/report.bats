#!/usr/bin/env bats
# report: scripts/report.sh as a command. tests/page_test.py uses its page in a browser.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

@test "report: one page that loads nothing; files of the same name have their folders" {
    local work=$BATS_TEST_TMPDIR
    mkdir -p "$work/a" "$work/b"
    quick --device=cpu --algo=serial --n=2^6,2^7 --output="$work/a/scan.csv"
    cp "$work/a/scan.csv" "$work/b"
    run scripts/report.sh --output="$work/page.html" "$work/a" "$work/b"
    [ "$status" -eq 0 ]
    has "$output" 'page.html: 4 rows, '
    has "$(cat "$work/page.html")" '"a/scan.csv"' '"b/scan.csv"' "default-src 'none'"
    cat "$work/a/scan.csv" "$work/b/scan.csv" >"$work/both.csv"
    run scripts/report.sh --output="$work/both.html" "$work/both.csv"
    [ "$status" -eq 0 ]
    has "$output" 'both.html: 4 rows, '
    # Placeholders are filled.
    ! grep -E '@(STYLE|LIBRARY|SCRIPT|DATA)@' "$work/page.html" || false
}

@test "report: a page is made anew, another file is not overwritten" {
    local page=$BATS_TEST_TMPDIR/page.html other=$BATS_TEST_TMPDIR/notes.html
    quick --device=cpu --algo=serial --n=2^6,2^7 --output="$BATS_TEST_TMPDIR/scan.csv"
    : >"$page" # empty, as of mktemp
    scripts/report.sh --output="$page" "$BATS_TEST_TMPDIR/scan.csv"
    scripts/report.sh --output="$page" "$BATS_TEST_TMPDIR/scan.csv"
    echo 'Notes.' >"$other"
    for other in "$other" "$BATS_TEST_TMPDIR/scan.csv"; do
        cp "$other" "$BATS_TEST_TMPDIR/before"
        run --separate-stderr scripts/report.sh --output="$other" "$BATS_TEST_TMPDIR/scan.csv"
        [ "$status" -eq 2 ]
        [ "$stderr" = "report.sh: --output=$other: it is no page of report.sh; name another file or remove it" ]
        cmp "$other" "$BATS_TEST_TMPDIR/before"
    done
}

@test "report: what is wrong is one line, exit 2" {
    local arguments
    printf 'a,b\n1,2\n' >"$BATS_TEST_TMPDIR/other.csv"
    for arguments in "results/nvidia-h200/scan.csv" "--output=$BATS_TEST_TMPDIR/x.html" \
        "--output=$BATS_TEST_TMPDIR/x.html none.csv" "--output=$BATS_TEST_TMPDIR/x.html $BATS_TEST_TMPDIR/other.csv" \
        "--output=/nowhere/x.html results/nvidia-h200/scan.csv" "--outptu=x results/nvidia-h200/scan.csv"; do
        # Words, on purpose.
        # shellcheck disable=SC2086
        run --separate-stderr scripts/report.sh $arguments
        echo "$arguments: exit $status; $stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "report.sh: "* ]]
        [ ! -e "$BATS_TEST_TMPDIR/x.html" ]
    done
}

@test "report: without a Python that runs, one line says what installs it, exit 1" {
    # As if it were not there.
    run --separate-stderr env PYTHONHOME=/nowhere scripts/report.sh --output="$BATS_TEST_TMPDIR/x.html" results/nvidia-h200
    echo "exit $status: $output; $stderr"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "$stderr" = "report.sh: no python3 runs here; on Debian and Ubuntu: sh scripts/install-deps.sh report" ]
    run sh scripts/install-deps.sh report
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}
