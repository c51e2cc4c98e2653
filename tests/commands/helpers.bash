# helpers.bash: what the command-line tests share. Each file says
#     load helpers
# and runs "$scanbench"; SCANBENCH=FILE puts another build in its place.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of and for bats

bats_require_minimum_version 1.5.0

setup() {
    scanbench=${SCANBENCH:-./scanbench}
    broken=build/broken/scanbench
    rows=$BATS_TEST_TMPDIR/rows.csv
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    # As on a machine without a GPU, even if this one has one.
    export CUDA_VISIBLE_DEVICES=
}

# long_test: leaves the rest of a test to `make test-long`, for which LONG is set.
long_test() {
    [ -n "${LONG-}" ] || skip "make test-long runs it"
}

# share ITEM...: prints every sixth item, a line each; all of them if LONG is set.
share() {
    printf '%s\n' "$@" | awk -v step="${LONG:+1}" 'step || NR % 6 == 1'
}

# quick FLAG...: runs scanbench with one sample per row and without notes.
quick() {
    "$scanbench" --samples=1 --quiet "$@"
}

# fails CODE FLAG...: expects that exit code, nothing on stdout and one line on
# stderr, which is then in $stderr.
fails() {
    local code=$1
    shift
    run --separate-stderr "$scanbench" "$@"
    echo "exit $status; stdout: $output; stderr: $stderr"
    [ "$status" -eq "$code" ]
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "scanbench: "* ]]
}

# has TEXT PART...: every part is in the text.
has() {
    local text=$1 part
    shift
    for part; do
        if [[ $text != *"$part"* ]]; then
            echo "no \"$part\" in: $text"
            return 1
        fi
    done
}

# read_csv FILE [COLUMN...]: checks the whole file and prints those columns. Without -S, Python would
# take longer to look for packages than to do this.
read_csv() {
    python3 -S tests/commands/read_csv.py "$@"
}
