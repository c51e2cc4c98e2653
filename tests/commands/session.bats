#!/usr/bin/env bats
# session: what scanbench prints besides its rows, and how it ends: no GPU, a full disk, a
# closed pipe, Ctrl-C; and the flags that run nothing.

# shellcheck disable=SC2154 # setup() of helpers sets them
# shellcheck disable=SC2016 # what bash -c gets is expanded there
load helpers

@test "no GPU: in the emulator up to n = 2^20, and one line says so" {
    run --separate-stderr "$scanbench" --algo=naive --n=1000,2000 --samples=1 --columns=n,device,check
    [ "$status" -eq 0 ]
    [ "$output" = $'n,device,check\n1000,emulator,passed\n2000,emulator,passed' ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" emulator
}

@test "no GPU: above 2^20 exit 4, and the line names --device=emulator" {
    fails 4 --algo=naive --n=2^20+1
    has "$stderr" --n=1048577 --device=emulator
    fails 4 --algo=naive,serial --n=1000,2^24
    has "$stderr" --device=emulator
}

@test "no GPU: --device=emulator has no such limit" {
    run --separate-stderr "$scanbench" --algo=memcpy --n=2^21 --device=emulator --samples=1 --columns=check
    [ "$status" -eq 0 ]
    [ "$output" = $'check\npassed' ]
    [ -z "$stderr" ]
}

@test "no GPU: --device=gpu is exit 4" {
    fails 4 --algo=naive --n=1000 --device=gpu
    has "$stderr" --device=gpu: --device=emulator
    fails 4 --algo=naive --n=1000 --device=5
    has "$stderr" --device=gpu5:
    fails 4 --device-info --device=gpu
    has "$stderr" --device=gpu: --device=emulator
}

@test "a bad flag or file is said before what the machine lacks, and alone" {
    echo full >"$rows"
    fails 2 --n=1000 --output="$rows"
    has "$stderr" "--output=$rows: the file exists"
    fails 1 --n=1000 --output="$BATS_TEST_TMPDIR/none/rows.csv"
    has "$stderr" '--output='
    fails 2 --n=1000 --columns=nothing
    has "$stderr" '--columns=nothing'
    fails 2 --n=1000 --baseline="$rows"
    has "$stderr" '--baseline='
    fails 2 --n=1000 --samples-file="$rows"
    has "$stderr" '--samples-file='
}

@test "--quiet: no notes" {
    run --separate-stderr "$scanbench" --algo=naive --n=1000 --samples=1 --quiet --columns=check
    [ "$output" = $'check\npassed' ]
    [ -z "$stderr" ]
}

# cub_version: prints the version of the CUB that build/ was compiled with, such as 300001.
cub_version() {
    local nvcc flags
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    read -ra flags <build/flags/CCCL || true
    printf '#include <cub/version.cuh>\nCUB_VERSION\n' >"$BATS_TEST_TMPDIR/version.cu"
    "$nvcc" "${flags[@]}" -E "$BATS_TEST_TMPDIR/version.cu" | tail -n 1
}

@test "without arguments: a library that is missing is in one line at the end, and has no rows" {
    # A build that has no oneTBB would say: install libtbb-dev.
    if "$scanbench" --list | grep -q '^scan *tbb ' && "$scanbench" --algo=tbb --n=10 --columns=reason --quiet | grep -q install; then
        run --separate-stderr "$scanbench" --n=1000 --samples=1 --columns=algo --device=cpu
        has "${stderr_lines[-1]}" 'not in this build: ' 'tbb' '(libtbb-dev)'
        [[ $output != *tbb* ]]
    fi
    run --separate-stderr "$scanbench" --n=1000 --samples=1 --columns=algo,reason
    [[ $output != *install* ]]
    case $("$scanbench" --version) in
    *nvcc*) [ "$(cub_version)" -ge 300600 ] || has "${stderr_lines[-1]}" 'cub-deterministic (CUB 3.6 by make CCCL=dir)' ;;
    *) has "${stderr_lines[-1]}" 'not in this build: ' ', cub, cub-deterministic' '(CUDA Toolkit)' ;;
    esac
    run --separate-stderr "$scanbench" --algo=serial --n=1000 --samples=1 --columns=algo
    [[ $stderr != *'not in this build'* ]]
}

@test "--list obeys --op, --algo and --device" {
    rows_of() { "$scanbench" --list "$@" | awk '/^[^ ]/ && NR > 1 { print $1, $2 }'; }
    [ "$(rows_of --op=reduce | cut -d' ' -f1 | sort -u)" = reduce ]
    [ "$(rows_of --algo=radix,simd)" = $'scan simd\ncompact simd\nsort radix\nsort simd\nreduce simd' ]
    [ "$(rows_of --op=sort --algo='n*' --device=emulator)" = $'sort naive\nsort naive-smem' ]
    [ "$("$scanbench" --list --device=cpu | awk '/^[^ ]/ && NR > 1 && $3 !~ /cpu/')" = '' ]
    [ "$(rows_of | cut -d' ' -f1 | uniq)" = $'scan\ncompact\nsort\nreduce' ]
    fails 2 --list --op=compact --algo=radix
    has "$stderr" 'it belongs to --op=sort'
}

@test "--list: neighbours differ in more than their names" {
    [ "$("$scanbench" --list | awk '/^[^ ]/ && NR > 1 { if (row) print row; row = ""; $2 = "" }
        { for (f = 1; f <= NF; f++) row = row " " $f } END { print row }' |
        grep -v 'not in this build' | uniq -d)" = '' ]
}

@test "--list --format=json: the same algorithms, for programs" {
    "$scanbench" --list --op=scan,sort --format=json |
        python3 -c 'import json, sys; print(*(row["op"] + " " + row["algo"] for row in json.load(sys.stdin)), sep="\n")' \
            >"$BATS_TEST_TMPDIR/json"
    "$scanbench" --list --op=scan,sort | sed -nE 's/^(scan|sort) +([^ ]+) .*/\1 \2/p' | diff - "$BATS_TEST_TMPDIR/json"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/json")" -gt 30 ]
}

@test "--list: every line of the table, and no device is touched" {
    run --separate-stderr "$scanbench" --list
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    local op_name name
    while read -r op_name; do
        name=${op_name#*_}
        grep -qE "^${op_name%%_*} +${name//_/-} " <<<"$output"
    done < <(sed -nE 's/^(ALGORITHM\([A-Z]+, *|LIBRARY\()([A-Za-z0-9_]+).*/\2/p' bench/algorithms.def)
    [ "$(awk '/^[^ ]/ && NF < 4' <<<"$output")" = '' ]
}

@test "--list: what a row says holds on all of its devices, and for each engine" {
    local list
    # In one line each, though long summaries are wrapped.
    list=$("$scanbench" --list | sed -e ':next' -e '$!N' -e 's/\n  */ /' -e 'tnext' -e 'P' -e 'D' | tr -s ' ')
    # The row of the CPU and of the GPU is one.
    grep -q '^scan memcpy cpu,gpu ceiling .*device' <<<"$list"
    ! grep -E ' memcpy .*\bhost\b' <<<"$list" || false
    # Only peer holds small slices on the chip.
    [ "$(grep -cE '^[a-z]+ slices .*by peer \(.*\), nccl \(.*\), mpi \(.*\)$' <<<"$list")" -eq 3 ]
    ! grep -E '^scan slices .*chip' <<<"$list" || false
    # msd is faster where keys are spread evenly, which auto cannot know.
    [ "$(grep -cE '^[a-z]+ auto .* without knowing the data' <<<"$list")" -eq 4 ]
}

@test "--list-columns: a line each" {
    run --separate-stderr "$scanbench" --list-columns
    [ "$status" -eq 0 ]
    [ "$(awk '{ print $1 }' <<<"$output" | sort | uniq -d)" = '' ]
    grep -q '^time_ms ' <<<"$output"
}

@test "--version and --help go before everything else" {
    run --separate-stderr "$scanbench" --version --n=nonsense
    [ "$status" -eq 0 ]
    [[ $output == "scanbench v"* ]]
    [ "${#lines[@]}" -eq 1 ]
    run --separate-stderr "$scanbench" --help
    [ "$status" -eq 0 ]
    has "$output" --algo=LIST --n=LIST --block=LIST --output=FILE 'Exit status'
    [ -z "$stderr" ]
}

@test "--help names the variables of the environment" {
    has "$("$scanbench" --help)" 'Environment:' 'SCANBENCH_FLAGS' 'NO_COLOR'
}

@test "--manual: through man, or else as plain text" {
    local bare=$BATS_TEST_TMPDIR/bare command
    if command -v man >/dev/null && man -l /dev/null >/dev/null 2>&1; then
        has "$(env MANPAGER=cat "$scanbench" --manual)" 'SCANBENCH(1)' 'SCANBENCH_FLAGS' 'exchange_ms' 'EXIT STATUS'
    fi
    # A machine without man: not in a terminal, the text itself.
    mkdir "$bare"
    for command in sh cat; do ln -s "$(command -v $command)" "$bare"; done
    run --separate-stderr env PATH="$bare" "$(realpath "$scanbench")" --manual
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    has "$output" 'Usage: scanbench' 'SCANBENCH_FLAGS' 'exchange_ms' 'schema_version'
    [ "$(awk 'length > 80' <<<"$output")" = '' ]
    # A man that fails, and in a terminal a pager.
    printf '#!/bin/sh\nexit 3\n' >"$bare/man"
    printf '#!/bin/sh\necho "by the pager"; exec cat "$@"\n' >"$bare/reader"
    chmod +x "$bare/man" "$bare/reader"
    if command -v script >/dev/null; then
        run script -qec "env PATH=$bare PAGER=reader $(realpath "$scanbench") --manual" /dev/null </dev/null
        has "$output" 'by the pager' 'exchange_ms'
        run script -qec "env PATH=$bare PAGER=none $(realpath "$scanbench") --manual" /dev/null </dev/null
        has "$output" 'exchange_ms'
    fi
}

@test "--help fits a terminal" {
    [ "$("$scanbench" --help | awk 'length > 80')" = '' ]
}

@test "lists fit a terminal of 80 columns, that of the algorithms also a pipe" {
    command -v script >/dev/null || skip "no script"
    local flag
    [ "$("$scanbench" --list | awk 'length > 80')" = '' ]
    [ "$("$scanbench" --list-columns | grep -c '^ ')" -eq 0 ]
    for flag in --list --list-columns; do
        [ "$(script -qec "stty cols 80; $scanbench $flag" /dev/null </dev/null | tr -d '\r' | awk 'length > 80')" = '' ]
    done
    # A wide terminal takes a line each.
    [ "$(script -qec "stty cols 300; $scanbench --list" /dev/null </dev/null | grep -c '^ ')" -eq 0 ]
}

@test "--device-info: names and limits" {
    run --separate-stderr "$scanbench" --device-info --device=cpu,emulator
    [ "$status" -eq 0 ]
    has "$output" cpu 'logical processors' emulator 'warp size' 'shared memory per block' 'memory'
}

@test "--dry-run: the plan and its memory; nothing is run" {
    run --separate-stderr "$scanbench" --dry-run --algo=serial,naive --device=cpu,emulator \
        --n=2^20,2^40 --block=32,64 --output="$rows"
    [ "$status" -eq 0 ]
    [ ! -e "$rows" ]
    has "$output" '3 rows would be measured and 3 skipped' serial naive 'MiB' 'TiB' 'skipped'
}

@test "--dry-run: columns are looked at, and rows in the file are not" {
    fails 2 --dry-run --algo=serial --n=10 --columns=nosuch
    has "$stderr" --columns=nosuch
    quick --algo=serial --n=10 --output="$rows"
    run "$scanbench" --dry-run --algo=serial --n=10 --output="$rows" --resume
    [ "$status" -eq 0 ]
    has "$output" '1 row would be measured' 'except those that the file has (--resume)'
}

@test "--dry-run: how long sampling would take" {
    run --separate-stderr "$scanbench" --dry-run --algo=serial,simd --device=cpu --n=1000
    has "$output" 'sampling would take 0.3 s to 3.0 s' 'at most 1.0 s (--max-time) per row; a row has at least 11 samples' # with memcpy
    run --separate-stderr "$scanbench" --dry-run --algo=serial --device=cpu --n=1000,2000 --min-time=30 --max-time=1000
    has "$output" 'sampling would take 2 min 0 s to 1 h 6 min'
    run --separate-stderr "$scanbench" --dry-run --algo=serial,naive --n=1000 --max-time=50ms
    has "$output" 'sampling would take 0.1 s to 0.1 s' '2 rows would have 3 samples, whose time is not known'
    run --separate-stderr "$scanbench" --dry-run --algo=serial,memcpy --device=cpu --n=1000,2^40 --samples=7
    has "$output" '2 rows would have 7 samples'
    [[ $output != *'sampling would take'* ]]
}

@test "without --n: 2^20, and in the emulator 2^12" {
    run --separate-stderr quick --algo=serial,naive --columns=device,n
    [ "$output" = $'device,n\ncpu,1048576\nemulator,4096' ]
    run --separate-stderr quick --algo=serial,naive --npot --device=cpu,emulator --columns=device,n
    [ "$output" = $'device,n\ncpu,655360\nemulator,2560' ]
}

@test "the emulator's table has no rates, its CSV has" {
    run --separate-stderr quick --device=emulator --algo=naive --n=1000 --format=table
    [[ $output != *GB/s* && $output != *memcpy* && $output != *±* ]]
    has "$output" time check passed
    quick --device=emulator --algo=naive --n=1000 --output="$rows"
    [[ $(read_csv "$rows" gb_s memcpy_pct) == *[0-9]*$'\t'*[0-9]* ]]
    run --separate-stderr quick --device=cpu,emulator --algo=memcpy --n=1000 --format=table
    has "$output" 'GB/s'
    [ "$(grep -c '^memcpy .*passed' <<<"$output")" -eq 2 ]
    [ "$(awk '/^memcpy.*emulator/ { print $NF, NF }' <<<"$output")" = 'passed 5' ]
}

@test "--dry-run: threads and vector instructions tell rows apart" {
    run --separate-stderr "$scanbench" --dry-run --algo=parallel,simd --threads=1,2 --simd=avx2,portable --device=cpu --n=1000
    [ "$status" -eq 0 ]
    has "$output" 'simd=portable' 'simd=avx2' '6 rows'
    [ "$(sort -u <<<"$output" | wc -l)" -eq 9 ]
    # In a column of their own, and no line has blanks at its end.
    [ "$(awk '/^scan +parallel/ { print $8 }' <<<"$output" | sort -u | paste -sd' ')" = "1 2" ]
    [ "$(awk 'NR == 1 { print $8 }' <<<"$output")" = threads ]
    ! grep ' $' <<<"$output" || false
    run --separate-stderr "$scanbench" --dry-run --algo=serial,naive --operator=max --n=10
    [ "$status" -eq 0 ]
    has "$output" 'serial' 'naive'
    ! grep ' $' <<<"$output" || false
}

@test "--dry-run: numbers of devices that share an array tell rows apart" {
    run -0 --separate-stderr quick --dry-run --algo=slices --engine=peer --gpus=2,3 --device=emulator --n=100
    [ "$(grep -o 'gpus=.*' <<<"$output" | paste -sd' ')" = 'gpus=2 gpus=3' ]
}

@test "--dry-run fits a terminal of 80 columns" {
    command -v script >/dev/null || skip "no script"
    run script -qec "stty cols 80; $scanbench --dry-run --op=scan,sort --device=cpu,emulator --n=2^10,2^39 \
        --algo=serial,efficient-smem-padded --type=i32,f64" /dev/null </dev/null
    echo "$output"
    [ "$(tr -d '\r' <<<"$output" | awk 'length > 80')" = '' ]
    has "$output" 'op=scan, device=emulator, type=f64, kind=exclusive, n=1024, cache=cold,' 'input=uniform, max=49:' 'max=2147483647:' '  efficient-smem-padded    128 ' \
        'skipped: free is only' '8 rows would be measured and 8 skipped'
}

@test "a full disk: one clear line, exit 1" {
    [ -e /dev/full ] || skip "no /dev/full"
    run --separate-stderr bash -c '"$1" --algo=serial --n=10 --samples=1 --quiet >/dev/full' _ "$scanbench"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ "$stderr" = 'scanbench: stdout: cannot write: No space left on device' ]
    fails 1 --algo=serial --n=10 --samples=1 --quiet --output=/dev/full
    has "$stderr" /dev/full 'No space left on device'
}

@test "a full disk: --list, --help and --version say so too" {
    [ -e /dev/full ] || skip "no /dev/full"
    local flag
    for flag in --list --help --version --list-columns --dry-run; do
        run bash -c '"$1" "$2" >/dev/full' _ "$scanbench" "$flag"
        echo "$flag: exit $status: $output"
        [ "$status" -eq 1 ]
        has "$output" 'No space left on device'
    done
}

@test "a closed pipe: what is no run ends with exit 1, too, and no signal" {
    local flag
    for flag in --list --help --list-columns --dry-run; do
        run bash -c '{ sleep 0.3; "$1" "$2"; echo "exit $?" >&2; } | true' _ "$scanbench" "$flag"
        has "$output" 'scanbench: stdout: cannot write: Broken pipe' 'exit 1'
    done
}

@test "a closed pipe: exit 1, no signal" {
    run --separate-stderr bash -c \
        '"$1" --algo=serial --n=1000,2000,3000 --samples=3000 --quiet | head -n 1
        exit "${PIPESTATUS[0]}"' _ "$scanbench"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    has "$stderr" 'Broken pipe'
}

@test "stdout or stderr that is closed: nothing but rows lands in the file" {
    local closed
    for closed in '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
        rm -f "$rows" "$rows.samples"
        # --show prints to stderr.
        bash -c '"$@" '"$closed" _ "$scanbench" --algo=naive --n=1000 --show=2 --samples=2 --columns=n,device,check \
            --output="$rows" --samples-file="$rows.samples"
        [ "$(cat "$rows")" = $'n,device,check\n1000,emulator,passed' ]
        [ "$(read_csv "$rows.samples" n sample | paste -sd' ')" = $'1000\t1 1000\t2' ]
    done
}

@test "stdout that is closed and should take results: one line, exit 1" {
    local flags
    for flags in "--algo=serial --n=10 --samples=1 --quiet" --list --version \
        "--algo=serial --n=10 --samples=1 --quiet --format=table --output=$rows"; do
        # Words, on purpose.
        # shellcheck disable=SC2086
        run --separate-stderr bash -c '"$@" >&-' _ "$scanbench" $flags
        echo "$flags: exit $status: $stderr"
        [ "$status" -eq 1 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        has "$stderr" 'stdout: cannot write'
    done
    # What was measured before the table could not be written is in the file.
    [ "$(cut -d, -f1,2 "$rows" | paste -sd' ')" = "op,algo scan,serial" ]
}

# start FLAG...: runs scanbench in the background until it is interrupted. Background processes
# of a script ignore Ctrl-C, and all do what nohup ignores, unless $signals says otherwise.
start() {
    env "${signals:---default-signal=INT,HUP,TERM}" "$scanbench" --device=emulator --algo=naive --n=100,200,2^19,2^20 --samples=1000 --quiet \
        --output="$rows" "$@" 3>&- 2>"$BATS_TEST_TMPDIR/notes" &
    job=$!
}

# wait_for_lines COUNT: waits until the file has COUNT lines, header included.
wait_for_lines() {
    local tries=0
    until [ -e "$rows" ] && [ "$(wc -l <"$rows")" -ge "$1" ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ]
    done
}

@test "Ctrl-C, SIGTERM, SIGHUP keep the rows that are done: exit 130" {
    local signal
    for signal in INT TERM HUP; do
        rm -f "$rows"
        start
        wait_for_lines 3
        kill "-$signal" "$job"
        status=0
        wait "$job" || status=$?
        [ "$status" -eq 130 ]
        [ "$(read_csv "$rows" n check | head -n 2)" = $'100\tpassed\n200\tpassed' ]
        [ "$(wc -l <"$rows")" -le 4 ]
        has "$(cat "$BATS_TEST_TMPDIR/notes")" "interrupted; finished rows are in $rows; to go on, add --resume"
        # One line of a terminal, if the name of the file is short.
        [ "$(grep 'interrupted' "$BATS_TEST_TMPDIR/notes" | sed "s|$rows|rows.csv|" | awk 'length > 80')" = '' ]
    done
    # One of --append and --resume.
    start --append
    wait_for_lines 5
    kill "$job"
    wait "$job" || [ $? -eq 130 ]
    has "$(cat "$BATS_TEST_TMPDIR/notes")" "in $rows; to go on, give --resume instead of --append"
    # --resume does not go with --junit.
    rm "$rows"
    start --junit="$rows.xml"
    wait_for_lines 3
    kill "$job"
    wait "$job" || [ $? -eq 130 ]
    has "$(cat "$BATS_TEST_TMPDIR/notes")" "in $rows; to go on, add --resume and leave out --junit"
}

@test "Ctrl-C, SIGHUP: JSON is whole" {
    local signal
    for signal in INT HUP; do
        rm -f "$rows"
        start --format=json
        wait_for_lines 2
        kill "-$signal" "$job"
        status=0
        wait "$job" || status=$?
        [ "$status" -eq 130 ]
        python3 -m json.tool "$rows" >"$BATS_TEST_TMPDIR/again"
    done
}

@test "a signal that was ignored at the start has no effect, as under nohup" {
    local signal signals=--ignore-signal=INT,HUP,TERM
    start --samples=1
    wait_for_lines 2
    for signal in INT HUP TERM; do
        kill "-$signal" "$job"
    done
    status=0
    wait "$job" || status=$?
    [ "$status" -eq 0 ]
    [ "$(read_csv "$rows" n check | paste -sd' ')" = \
        $'100\tpassed 200\tpassed 524288\tpassed 1048576\tpassed' ]
    [ ! -s "$BATS_TEST_TMPDIR/notes" ]
}

@test "Ctrl-C while a pipe has no reader yet: exit 130" {
    mkfifo "$rows"
    start
    sleep 0.5 # it opens the pipe, or is about to
    kill -INT "$job"
    timeout 20 tail --pid="$job" -f /dev/null || kill -9 "$job"
    status=0
    wait "$job" || status=$?
    [ "$status" -eq 130 ]
    [[ $(cat "$BATS_TEST_TMPDIR/notes") != *'system call'* ]]
}

@test "Ctrl-C while nobody reads a full pipe: interrupted, exit 130, nothing else" {
    local format
    for format in csv json table; do
        env --default-signal=INT python3 - "$scanbench" "$format" <<'END'
import fcntl, os, signal, subprocess, sys, time, array, termios
read, write = os.pipe()
fcntl.fcntl(write, 1031, 4096) # F_SETPIPE_SZ
run = subprocess.Popen([sys.argv[1], "--device=cpu", "--algo=serial", "--n=1..400+1", "--samples=1", "--quiet",
                        "--format=" + sys.argv[2]], stdout=write, stderr=subprocess.PIPE, text=True)
os.close(write)

def state():
    with open(f"/proc/{run.pid}/stat") as file:
        asleep = file.read().rpartition(")")[2].split()[0]
    held = array.array("i", [0])
    fcntl.ioctl(read, termios.FIONREAD, held)
    return asleep, held[0]

# It is blocked: it sleeps, and no more output comes.
alike, last = 0, None
for _ in range(600):
    time.sleep(0.05)
    now = state()
    alike = alike + 1 if now == last and now[0] == "S" and now[1] > 2000 else 0
    last = now
    if alike == 10:
        break
assert alike == 10, last
run.send_signal(signal.SIGINT)
said = run.communicate(timeout=20)[1]
print(run.returncode, said)
assert run.returncode == 130
csv = "--format=csv " if sys.argv[2] == "json" else ""
assert said == f"scanbench: interrupted; with {csv}--output=FILE, a run can be resumed\n"
END
    done
}

@test "each row is in the file as soon as it is done" {
    start
    wait_for_lines 2
    kill -0 "$job" # it still runs
    kill -TERM "$job"
    status=0
    wait "$job" || status=$?
    read_csv "$rows"
}
