#!/usr/bin/env bats
# trace: --trace, what threads read and write, as a page and as the JSON within it. What the page
# does in a browser is in tests/trace_page_test.py.

# setup() of helpers sets variables; each test sets its own.
# shellcheck disable=SC2154,SC2030,SC2031
load helpers

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# traced FLAG...: runs with a trace, which is then in $page, and its JSON in $page.json.
traced() {
    page=$BATS_TEST_TMPDIR/steps.html
    rm -f "$page"
    quick --trace="$page" --format=csv --output="$BATS_TEST_TMPDIR/rows.$RANDOM.csv" "$@"
    python3 tests/commands/trace.py json "$page" >"$page.json"
}

# steps [RUN]: a line for each step of the run: its reads and its writes, as ARRAY[INDEX]=VALUE.
steps() {
    python3 tests/commands/trace.py steps "$page" "${1:-0}"
}

@test "trace: the sums of Blelloch's tree" {
    traced --algo=efficient --n=8 --input=ones
    steps >"$BATS_TEST_TMPDIR/steps"
    diff - "$BATS_TEST_TMPDIR/steps" <<'END'
1 reads input[0]=1 input[1]=1 input[2]=1 input[3]=1 input[4]=1 input[5]=1 input[6]=1 input[7]=1 writes output[0]=1 output[1]=2 output[2]=1 output[3]=4 output[4]=1 output[5]=2 output[6]=1 output[7]=4
2 reads output[3]=4 output[7]=4 writes output[7]=8
3 reads output[3]=4 output[7]=8 writes output[3]=0 output[7]=4
4 reads output[0]=1 output[1]=2 output[2]=1 output[3]=0 output[4]=1 output[5]=2 output[6]=1 output[7]=4 writes output[0]=0 output[1]=1 output[2]=2 output[3]=3 output[4]=4 output[5]=5 output[6]=6 output[7]=7
END
}

@test "trace: a barrier ends a step, and shared memory is an array with its name in the source" {
    traced --algo=./examples/textbook.cu --n=16 --input=ones
    # Hillis and Steele: four rounds between the copy in and the copy out.
    [ "$(steps 0 | wc -l)" -eq 6 ]
    has "$(steps 0 | sed -n 3p)" " odd[2]=2 odd[3]=2" "writes even[0]=0 even[1]=1 even[2]=2 even[3]=3 even[4]=4"
    grep -q '"line": "textbook.cu:[0-9]*"' "$page.json"
    # Blelloch: up the tree, zero at the root, down.
    [ "$(steps 1 | wc -l)" -eq 11 ]
    [ "$(steps 1 | sed -n 5p)" = "5 reads tree[7]=8 tree[15]=8 writes tree[15]=16" ]
    [ "$(steps 1 | sed -n 6p)" = "6 reads writes tree[15]=0" ]
    [ "$(steps 1 | sed -n 7p)" = "7 reads tree[7]=8 tree[15]=0 writes tree[7]=0 tree[15]=8" ]
}

@test "trace: every algorithm has a page with the results in its output" {
    traced --op=scan,compact,reduce --n=77 --block=32
    python3 tests/commands/trace.py check "$page"
    traced --algo=naive,lookback,one-wave --n=0,1,100 --type=f32,u64
    python3 tests/commands/trace.py check "$page"
    traced --op=sort --values=u32 --n=64 --algo=four-bits,onesweep,msd
    python3 tests/commands/trace.py check "$page"
}

@test "trace: the page is one file that loads nothing, and a run takes 2 MB at most" {
    traced --algo=efficient-smem --n=1024 --block=32
    [ "$(stat -c %s "$page")" -lt 400000 ]
    run ! grep -E 'src=|href="[^d]|@import|url\([^#]|fetch\(|XMLHttp' "$page"
    # A sort has more steps than fit.
    traced --op=sort --algo=efficient --n=1024 --block=32
    [ "$(stat -c %s "$page")" -lt 2200000 ]
    grep -qE '"steps_left_out": [1-9]' "$page.json"
}

@test "trace: a page that --trace wrote is written anew, no other file is; a note says what was written" {
    local page=$BATS_TEST_TMPDIR/steps.html
    run --separate-stderr "$scanbench" --trace="$page" --algo=naive,efficient --device=emulator --n=64
    has "$stderr" "scanbench: $page: 2 runs; open it in a browser"
    run --separate-stderr "$scanbench" --trace="$page" --algo=naive --device=emulator --n=16
    [ "$status" -eq 0 ]
    has "$stderr" "scanbench: $page: 1 run; open it in a browser"
    python3 tests/commands/trace.py check "$page"
    [ "$(python3 tests/commands/trace.py json "$page" | grep -c '"algo": ')" -eq 1 ]
    run --separate-stderr "$scanbench" --trace="$page" --op=sort --algo=examples/course/my_sort.cu --n=16
    has "$output" 'its file has it for --type=u32'
    has "$stderr" "scanbench: $page: 0 runs, since none came to its end"
    run --separate-stderr "$scanbench" --trace="$page" --algo=naive --device=emulator --n=16 --quiet
    [ -z "$stderr" ]
    echo '<!doctype html>' >"$page"
    fails 2 --trace="$page" --algo=naive --device=emulator --n=16
    has "$stderr" "--trace=$page: the file exists and is not empty"
    [ "$(cat "$page")" = '<!doctype html>' ]
}

@test "trace: two traces are equal, whatever the seed of the order" {
    traced --algo=lookback --n=1000 --block=32 --input=ones
    cp "$page.json" "$BATS_TEST_TMPDIR/first"
    traced --algo=lookback --n=1000 --block=32 --input=ones --seed=5
    diff "$page.json" "$BATS_TEST_TMPDIR/first"
}

@test "trace: a row that is wrong has its trace, too" {
    page=$BATS_TEST_TMPDIR/steps.html
    run -3 quick --trace="$page" --algo=tests/own/wrong/wrong_bound.cu --n=20 --format=csv
    has "$(python3 tests/commands/trace.py steps "$page" 0)" "writes output[0]=0" "output[18]="
}

@test "trace: a kernel that fails has none, and a note says so" {
    local page=$BATS_TEST_TMPDIR/steps.html
    run --separate-stderr "$scanbench" --trace="$page" --algo=tests/own/wrong/null_pointer.cu --n=20 --device=emulator
    [ "$status" -eq 1 ]
    has "$stderr" "scanbench: $page: 0 runs, since none came to its end"
    [[ $stderr != *'open it'* ]]
}

@test "trace: beside other results" {
    page=$BATS_TEST_TMPDIR/steps.html
    quick --trace="$page" --counts --kernels --algo=naive --n=16 --format=csv --columns=algo,check >"$rows"
    [ "$(sort -u "$rows" | grep -c naive)" -eq 1 ]
    python3 tests/commands/trace.py check "$page"
    echo mine >"$page"
    fails 2 --trace="$page" --algo=naive --n=16
    has "$stderr" "--trace=" "is not empty"
}

@test "trace: what cannot be drawn" {
    fails 2 --trace=steps.html --algo=naive
    has "$stderr" "--trace draws up to 1024 elements; add --n=16"
    fails 2 --trace=steps.html --algo=naive --n=2^4,2^11
    has "$stderr" "1024"
    fails 2 --trace=steps.html --device=cpu --n=16
    has "$stderr" "--trace=steps.html contradicts --device=cpu" "emulator"
    fails 2 --trace=steps.html --algo=serial --n=16
    has "$stderr" "--algo=serial does not run on the emulator, the default of --trace and --check"
    fails 2 --trace=steps.html --device=emulator,cpu --n=16
    fails 2 --trace=steps.html --check --algo=naive --n=16
    has "$stderr" "--check"
    fails 2 --trace=steps.html --resume --output="$rows" --n=16
    has "$stderr" "--resume"
    fails 2 --trace=steps.html --gpus=2 --n=16
    fails 2 --trace= --n=16
    fails 1 --trace=/nowhere/steps.html --n=16 --algo=naive
    [ ! -e steps.html ]
}
