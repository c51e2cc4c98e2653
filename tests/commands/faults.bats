#!/usr/bin/env bats
# faults: whatever fails (memory, device, disk, kill -9), a run ends with complete rows
# and a message about the failure.

# setup() of helpers sets them; what bash -c gets is expanded there; each test is a
# subshell of its own.
# shellcheck disable=SC2154,SC2016,SC2030,SC2031
load helpers

# each_call_fails LEAST FLAG...: makes call after call of a run fail
# (tests/commands/faults.py), at least LEAST of them. FOLDER/before holds the files that a run
# finds.
each_call_fails() {
    local least=$1
    shift
    run python3 tests/commands/faults.py build/asan/tests/faulty "$BATS_TEST_TMPDIR/faults" "$@" --samples=1 --quiet
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} =~ ^([0-9]+)\ faults\ among\ [0-9]+\ calls,\ 0\ problems$ ]]
    [ "${BASH_REMATCH[1]}" -ge "$least" ]
}

@test "any call fails, or the device is lost there: a row or a line says so, others are kept" {
    each_call_fails 150 --device=emulator --op=scan,compact --algo=reduce-then-scan,memcpy --n=70 \
        --kernels --copies --output=@/rows.csv --samples-file=@/samples.csv
}

@test "any call fails on the CPU" {
    each_call_fails 12 --device=cpu --op=scan,compact,sort --algo=serial,parallel,radix,std,memcpy \
        --n=70,20000 --output=@/rows.csv
    # The memory for filling the caches.
    each_call_fails 10 --device=cpu --algo=memcpy --threads=1 --cache=dirty --n=70 --output=@/rows.csv
}

@test "any call fails with page-locked memory, JSON, elements shown" {
    long_test
    each_call_fails 100 --device=emulator --op=sort --algo=naive --n=9 --max=3 --copies --pinned \
        --format=json --show=3 --output=@/rows.json
}

@test "any call fails where a file is gone on with: nothing of it is lost" {
    long_test
    local before=$BATS_TEST_TMPDIR/faults/before
    mkdir -p "$before"
    # The same build, because rows of another build would be measured again.
    build/asan/tests/faulty --device=cpu,emulator --algo=serial,naive --n=20,30 --samples=1 --quiet \
        --output="$before/rows.csv"
    cp "$before/rows.csv" "$before/baseline.csv"
    head -c -20 "$before/baseline.csv" >"$before/rows.csv"
    each_call_fails 60 --device=cpu,emulator --algo=serial,naive --n=20,30,40 --resume \
        --output=@/rows.csv --baseline=@/baseline.csv
}

@test "any call fails where nothing is measured" {
    each_call_fails 7 --device-info --format=json
    each_call_fails 20 --dry-run --algo=naive,serial
    each_call_fails 3 --list
}

# lose_the_device HOW FLAG...: makes the twentieth launch of a run fail, and every later call
# of the CUDA runtime: with HOW ~ until the device is reset, with + throughout this process.
lose_the_device() {
    local how=$1 call
    shift
    local flags=(--device=emulator '--op=scan,compact' '--algo=naive,reduce-then-scan,memcpy' '--n=70,90' --samples=1)
    rm -f "$rows" "$rows.samples" "$rows.calls"
    FAULT_LOG=$rows.calls build/asan/tests/faulty "${flags[@]}" "$@" >/dev/null
    rm -f "$rows" "$rows.samples"
    call=$(grep emulator_submit "$rows.calls" | sed -n '20{s/ .*//p}')
    run --separate-stderr env FAULT="$call$how" build/asan/tests/faulty "${flags[@]}" "$@"
    echo "exit $status; $output; $stderr"
}

@test "a lost device that can be reset costs one row" {
    lose_the_device '~' --quiet --output="$rows"
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    [ "$(read_csv "$rows" check | sort | uniq -c | xargs)" = "1 error 11 passed" ]
    has "$(read_csv "$rows" check reason)" 'error	the device was lost: launch: '
}

@test "a lost device that cannot be reset: another process goes on, with every row once" {
    local format
    for format in csv json markdown table; do
        lose_the_device + --format="$format" --columns=op,algo,n,check
        [ "$status" -eq 1 ]
        has "$stderr" 'the device is lost for this process; a new one continues with the rest'
        case $format in
        csv) [ "${lines[0]}" = op,algo,n,check ] && sort -u <<<"$output" | cut -d, -f1-3 >"$rows.$format" ;;
        json) [ "${lines[0]}" = '{"schema_version": 1, "rows": [' ] ;;
        markdown) [ "$(grep -c '^| op' <<<"$output")" -eq 1 ] ;;
        table) [ "$(grep -c '^op ' <<<"$output")" -eq 1 ] ;;
        esac
    done
    [ "$(wc -l <"$rows.csv")" -eq 13 ]
    [ "$(uniq "$rows.csv" | wc -l)" -eq 13 ]
}

# lose_it_at PERCENT FLAG...: makes the launch after that part of a run's, and all later ones, fail.
lose_it_at() {
    local percent=$1 launches
    shift
    rm -f "$rows" "$rows.calls"
    FAULT_LOG=$rows.calls build/asan/tests/faulty "$@" --output="$rows" 2>/dev/null
    rm "$rows"
    mapfile -t launches < <(sed -n '/emulator_submit/s/ .*//p' "$rows.calls")
    local call=${launches[$((${#launches[@]} * percent / 100))]}
    run --separate-stderr env FAULT="$call+" build/asan/tests/faulty "$@" --output="$rows"
    echo "exit $status; $output; $stderr"
    has "$stderr" 'the device is lost for this process; a new one continues with the rest'
}

# The emulator's rows are never unsteady, so the one that counts is that of the CPU. In so short
# a time the fewest samples are taken, so that both runs make the same calls.
@test "a lost device that cannot be reset: devices and noise of the rows before count, too" {
    lose_it_at 10 --device=cpu,emulator --algo=serial,naive,efficient --n=1000 --max-noise=0 \
        --max-time=0.000001 --format=json
    [ "$status" -eq 1 ]
    has "$stderr" '1 of 3 rows exceeds --max-noise'
    python3 - "$rows" <<'END'
import json, sys
whole = json.load(open(sys.argv[1]))
assert [row["check"] for row in whole["rows"]] == ["passed", "error", "passed"], whole["rows"]
devices = [device["device"] for device in whole["context"]["devices"]]
assert devices == ["cpu", "emulator"], devices
END
}

@test "a lost device that cannot be reset: teams are still compared with one device" {
    lose_it_at 50 --device=emulator --algo=peer --gpus=2,3,4,5 --n=500 --samples=1
    [ "$(read_csv "$rows" gpus | paste -sd,)" = 2,3,4,5 ]
    # All but the one that lost it, if that was not memcpy.
    [ "$(read_csv "$rows" check efficiency_pct | grep -cE '^passed	[0-9]')" -ge 3 ]
}

@test "a lost device that cannot be reset: what goes to a file goes on there" {
    lose_the_device + --output="$rows" --samples-file="$rows.samples"
    [ "$status" -eq 1 ]
    [ "$(read_csv "$rows" op algo n | sort -u | wc -l)" -eq 12 ]
    [ "$(read_csv "$rows" check | sort | uniq -c | xargs)" = "1 error 11 passed" ]
    [ "$(read_csv "$rows.samples" op | wc -l)" -eq 11 ]
}

@test "a lost device that cannot be reset: the reader of a pipe gets every row once" {
    mkfifo "$rows"
    cat "$rows" >"$rows.got" 3>&- &
    local reader=$!
    FAULT_LOG=$rows.calls build/asan/tests/faulty --device=emulator --algo=naive,memcpy --n=70,90 \
        --samples=1 --columns=algo,n,check --output="$rows" 3>&-
    wait "$reader"
    cat "$rows" >"$rows.got" 3>&- &
    reader=$!
    run --separate-stderr env FAULT="$(grep emulator_submit "$rows.calls" | sed -n '9{s/ .*//p}')+" \
        build/asan/tests/faulty --device=emulator --algo=naive,memcpy --n=70,90 --samples=1 \
        --columns=algo,n,check --output="$rows"
    wait "$reader"
    cat "$rows.got"
    [ "$(grep -c '^algo,n,check$' "$rows.got")" -eq 1 ]
    [ "$(wc -l <"$rows.got")" -eq 5 ]
    has "$(cat "$rows.got")" error
}

@test "what fails unseen is found" {
    # A build that does not report failures, and one that ends by a signal.
    printf '#!/bin/sh\n%s "$@" 2>/dev/null || true\n' "$PWD/build/asan/tests/faulty" >"$BATS_TEST_TMPDIR/silent"
    printf '#!/bin/sh\n%s "$@" || kill -SEGV $$\n' "$PWD/build/asan/tests/faulty" >"$BATS_TEST_TMPDIR/crashing"
    chmod +x "$BATS_TEST_TMPDIR/silent" "$BATS_TEST_TMPDIR/crashing"
    local way what
    for way in silent crashing; do
        run python3 tests/commands/faults.py "$BATS_TEST_TMPDIR/$way" "$BATS_TEST_TMPDIR/work-$way" --samples=1 \
            --quiet --device=cpu --algo=serial --n=10 --output=@/rows.csv
        [ "$status" -eq 1 ]
        what='nothing says'
        [ "$way" = silent ] || what='exit code -11'
        has "$output" "$what"
    done
}

# ---- The disk ----

# limited BLOCKS FLAG...: runs scanbench with a file size limit of BLOCKS KiB.
limited() {
    run --separate-stderr bash -c 'ulimit -f "$1" && shift && exec "$@"' _ "$1" "$scanbench" "${@:2}"
    echo "exit $status; $stderr"
}

@test "a disk that is full in the middle of a row: one line, whole rows, and --resume adds the others" {
    local flags=(--device=cpu "--algo=serial,memcpy" --n=1..40+1 --samples=1 --quiet --output="$rows")
    limited 8 "${flags[@]}"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" "$rows" 'File too large' 'earlier rows are kept'
    # Whole rows, which may fill it to the last byte, and no measurement to its end in vain.
    [ "$(wc -c <"$rows")" -le 8192 ]
    [ "$(read_csv "$rows" check | grep -c passed)" -ge 5 ]
    cp "$rows" "$rows.cut"
    "$scanbench" "${flags[@]}" --resume
    [ "$(read_csv "$rows" n check | grep -c passed)" -eq 80 ]
    [ "$(read_csv "$rows" algo n | sort | uniq -d)" = '' ]
    cmp -n "$(wc -c <"$rows.cut")" "$rows.cut" "$rows"
}

@test "a disk that is full: the samples' file, JSON" {
    limited 1 --device=cpu --algo=serial --n=10 --samples=200 --quiet --output="$rows" \
        --samples-file="$rows.samples"
    [ "$status" -eq 1 ]
    has "$stderr" 'File too large'
    limited 2 --device=cpu --algo=serial --n=1..40+1 --samples=1 --quiet --format=json --output="$rows.json"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" "$rows.json" 'File too large'
}

@test "nobody reads any more: it ends at once, not when all is measured" {
    # A minute of measuring.
    run --separate-stderr timeout 20 bash -c \
        '"$1" --device=cpu --algo=serial --n=1..200+1 --min-time=0.3 --quiet | head -n 2
        exit "${PIPESTATUS[0]}"' _ "$scanbench"
    [ "$status" -eq 1 ]
    has "$stderr" 'Broken pipe'
}

# ---- kill -9 ----

@test "kill -9 at any moment, then --resume: the rows of a run in one go" {
    local flags=("--device=cpu,emulator" "--algo=serial,naive,memcpy" "--n=10,1000,2^16" "--block=32,64"
        --samples=2 --quiet) kills=0 tries=0 start=${EPOCHREALTIME/./} us
    "$scanbench" "${flags[@]}" --output="$rows"
    us=$((${EPOCHREALTIME/./} - start))
    while [ "$kills" -lt 15 ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ]
        "$scanbench" "${flags[@]}" --output="$rows.killed" --resume 3>&- &
        sleep "$(printf '0.%06d' $((us < 1000000 ? (RANDOM * us) >> 15 : RANDOM * 10)))"
        if kill -KILL $! 2>/dev/null; then
            kills=$((kills + 1))
            wait $! || true
        else
            wait $!
            rm "$rows.killed" # it was done: once more from the beginning
        fi
        # Only the last line can be torn; all others are rows.
        if [ -s "$rows.killed" ]; then
            sed -e '$d' "$rows.killed" >"$rows.whole"
            [ ! -s "$rows.whole" ] || read_csv "$rows.whole"
        fi
    done
    "$scanbench" "${flags[@]}" --output="$rows.killed" --resume
    diff <(read_csv "$rows" op algo device n block threads check | sort) \
        <(read_csv "$rows.killed" op algo device n block threads check | sort)
}
