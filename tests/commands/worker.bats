#!/usr/bin/env bats
# worker: the process that runs the rows may die, hang or be killed. One row says so, and a new
# worker does the others.

# setup() of helpers sets variables; each test sets its own.
# shellcheck disable=SC2154,SC2030,SC2031,SC2317
load helpers

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# several_ends: a file whose algorithms end their process in a different way each, from n = 500 on.
several_ends() {
    file=$BATS_TEST_TMPDIR/ends.cu
    cat >"$file" <<'END'
#include <scanbench_own.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void scan(int n, int *odata, const int *idata)
{
    for (int i = 0, sum = 0; i < n; sum += idata[i++])
        odata[i] = sum;
}
void speaks(int n, int *odata, const int *idata)
{
    printf("n is %d\n", n);
    scan(n, odata, idata);
}
void exits(int n, int *odata, const int *idata)
{
    scan(n, odata, idata);
    if (n >= 500)
        exit(1);
}
void crashes(int n, int *odata, const int *idata)
{
    scan(n, odata, idata);
    if (n >= 500)
        *(volatile int *)8 = 1;
}
void is_killed(int n, int *odata, const int *idata)
{
    scan(n, odata, idata);
    if (n >= 500)
        raise(SIGKILL);
}
void hangs(int n, int *odata, const int *idata)
{
    scan(n, odata, idata);
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    while (n >= 500)
        usleep(1000);
}
SCANBENCH_HOST_SCAN("speaks", speaks)
SCANBENCH_HOST_SCAN("exits", exits)
SCANBENCH_HOST_SCAN("crashes", crashes)
SCANBENCH_HOST_SCAN("is-killed", is_killed)
SCANBENCH_HOST_SCAN("hangs", hangs)
END
}

# habits: a file of two algorithms with the habits in the environment variable HABITS. One source
# for all of them, because each takes seconds to compile.
habits() {
    file=$BATS_FILE_TMPDIR/habits.cu
    [ -e "$file" ] || cat >"$file" <<'END'
#include <scanbench_own.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has(const char *habit)
{
    const char *habits = getenv("HABITS");
    return habits != NULL && strstr(habits, habit) != NULL;
}
struct life
{
    life()
    {
        if (has("speaks"))
            puts("early");
    }
    ~life()
    {
        while (has("stays"))
            usleep(1000);
    }
};
static life life;
static void scan(int n, int *odata, const int *idata)
{
    for (int i = 0, sum = 0; i < n; sum += idata[i++])
        odata[i] = sum;
}
void first(int n, int *odata, const int *idata)
{
    static bool before;
    scan(n, odata, idata);
    if (has("speaks"))
        fputs("a part", stdout);
    if (has("sleeps") && !before)
        fputs("asleep\n", stderr), sleep(1);
    before = true;
    for (int d = 0; has("closes") && n == 500 && d < 1024; d++)
        close(d);
    if (has("removes") && n == 500) {
        unlink(getenv("SOURCE"));
        *(volatile int *)8 = 1;
    }
}
void second(int n, int *odata, const int *idata)
{
    scan(n, odata, idata);
    if (has("speaks"))
        puts("a line");
}
SCANBENCH_HOST_SCAN("first", first)
SCANBENCH_HOST_SCAN("second", second)
END
}

# with_habits HABITS FLAG...: runs both algorithms.
with_habits() {
    local habits=$1
    shift
    run --separate-stderr env HABITS="$habits" SOURCE="$file" "$scanbench" --algo="$file" --device=emulator \
        --samples=1 --quiet --columns=algo,n,check,reason "$@"
    echo "exit $status; $output; $stderr"
}

@test "each way to end costs one row, with the reason; the others are there once, in CSV, JSON and a table" {
    local file wanted='exits: it called exit(1)
crashes: it was ended by signal 11 (Segmentation fault)
is-killed: it was ended by signal 9 (Killed), perhaps for want of memory
hangs: it did not end within 1 s' line
    several_ends
    local flags=("--algo=$file,naive,memcpy" --device=emulator "--n=100,1000,1001" --timeout=1 --samples=2)
    run --separate-stderr "$scanbench" "${flags[@]}" --quiet --output="$rows"
    [ "$status" -eq 1 ]
    [ "$(read_csv "$rows" algo n | sort -u | wc -l)" -eq 21 ]
    [ "$(read_csv "$rows" check | sort | uniq -c | xargs)" = '8 error 13 passed' ]
    while read -r line; do
        [ "$(read_csv "$rows" algo n reason | grep -cxF -e "${line%%:*}	1000	${line#*: }" -e "${line%%:*}	1001	${line#*: }")" -eq 2 ]
    done <<<"$wanted"
    # What has passed is not measured again, and what has not has one more row each time.
    cp "$rows" "$rows.before"
    run --separate-stderr "$scanbench" "${flags[@]}" --quiet --output="$rows" --resume
    [ "$status" -eq 1 ]
    head -c "$(wc -c <"$rows.before")" "$rows" | cmp - "$rows.before"
    [ "$(read_csv "$rows" check | sort | uniq -c | xargs)" = '16 error 13 passed' ]
    run --separate-stderr "$scanbench" "${flags[@]}" --quiet --format=json
    [ "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"]))' <<<"$output")" -eq 21 ]
    run --separate-stderr "$scanbench" "${flags[@]}" --quiet --format=table
    [ "$(grep -c '^algo ' <<<"$output")" -eq 1 ]
    [ "$(grep -c 'error: it called exit(1)' <<<"$output")" -eq 2 ]
}

@test "what the user's code prints is marked with its name, on stderr" {
    local file
    several_ends
    run --separate-stderr "$scanbench" --algo="$file" --device=emulator --n=70 --samples=1 --quiet --columns=algo
    [ "$status" -eq 0 ]
    [[ $output != *'n is'* ]]
    [ "$(sort -u <<<"$stderr")" = '[speaks] n is 70' ]
    [ "${#stderr_lines[@]}" -ge 3 ]
}

@test "output is marked by whose it is, when files are loaded and where a line has no end, too" {
    local file
    habits
    with_habits speaks --n=100
    [ "$status" -eq 0 ]
    grep -qxF '[while files of --algo were loaded] early' <<<"$stderr"
    grep -qE '^\[first\] (a part)+$' <<<"$stderr"
    [ "$(grep -vE '^\[(while files of --algo were loaded|first|second)\] ' <<<"$stderr" | sort -u)" = '' ]
    [ "$(grep 'a line' <<<"$stderr" | sort -u)" = '[second] a line' ]
}

@test "a function that closes descriptors: its row says so, and the others are there" {
    local file
    habits
    with_habits closes --n=100,500
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    [ "$output" = 'algo,n,check,reason
first,100,passed,
second,100,passed,
first,500,error,"it closed descriptors of this program, or wrote over its memory"
second,500,passed,' ]
}

@test "a worker that does not end after the last row is ended, and its rows are kept" {
    long_test
    local file
    habits
    with_habits stays --n=100 --timeout=1
    [ "$status" -eq 1 ]
    [ "$(grep -c ',passed,$' <<<"$output")" -eq 2 ]
    [ "$stderr" = 'scanbench: after the last row: it did not end within 10 s' ]
}

@test "a file that a new worker cannot load: a line, and earlier rows are kept" {
    local file=$BATS_TEST_TMPDIR/copy.cu
    (habits && cp "$file" "$BATS_TEST_TMPDIR/copy.cu")
    with_habits removes --n=100,500,1000
    [ "$status" -eq 1 ]
    [ "$(grep -c ',passed,$' <<<"$output")" -eq 2 ]
    has "${stderr_lines[0]}" 'No such file'
    [ "${stderr_lines[1]}" = 'scanbench: the files of --algo did not load again; earlier rows are kept' ]
}

@test "time in which the run was suspended is not counted" {
    long_test
    local file first worker status
    habits
    HABITS=sleeps "$scanbench" --algo="$file" --device=emulator --n=100 --samples=1 --quiet --timeout=3 \
        --output="$rows" 2>"$rows.err" 3>&- &
    first=$!
    until grep -q asleep "$rows.err"; do sleep 0.05; done
    worker=$(pgrep -P "$first")
    kill -STOP "$first" "$worker"
    sleep 4
    kill -CONT "$worker" "$first"
    status=0
    wait "$first" || status=$?
    [ "$status" -eq 0 ]
    [ "$(read_csv "$rows" check | uniq -c | xargs)" = '2 passed' ]
}

@test "a worker that dies while a group is set up: its rows say so, and a new one goes on" {
    local first worker status resident=0
    "$scanbench" --device=cpu --algo=serial,memcpy --n=2^28,100 --samples=1 --quiet --output="$rows" 3>&- &
    first=$!
    until worker=$(pgrep -P "$first"); do :; done
    # Its arrays are being filled.
    until [ "$resident" -gt 200000 ]; do resident=$(awk '/VmRSS/ { print $2 }' "/proc/$worker/status"); done
    kill -KILL "$worker"
    status=0
    wait "$first" || status=$?
    [ "$status" -eq 1 ]
    [ "$(read_csv "$rows" n check | sort | uniq -c | xargs)" = '2 100 passed 2 268435456 error' ]
    has "$(read_csv "$rows" reason)" 'it was ended by signal 9 (Killed)'
}

@test "a signal ends a run at once, even if the user's code ignores it, and finished rows are kept" {
    local file signal first start status
    several_ends
    # A shell has its jobs ignore SIGINT.
    for signal in TERM HUP; do
        rm -f "$rows"
        "$scanbench" --algo="$file" --device=emulator --n=100,1000 --samples=1 --quiet --output="$rows" \
            >/dev/null 2>"$rows.err" 3>&- &
        first=$!
        for _ in {1..600}; do
            [ "$(grep -c ',100,' "$rows" 2>/dev/null)" = 5 ] && break
            sleep 0.1
        done
        sleep 1
        start=$SECONDS
        kill -"$signal" "$first"
        status=0
        wait "$first" || status=$?
        [ "$status" -eq 130 ]
        [ "$((SECONDS - start))" -le 10 ]
        has "$(cat "$rows.err")" 'interrupted; finished rows are in'
        [ "$(read_csv "$rows" n check | grep -c '^100	passed')" -eq 5 ]
        [ "$(read_csv "$rows" n check | grep -c '^1000	passed')" -eq 0 ]
        [ -z "$(pgrep -P "$first")" ]
    done
}

@test "a worker does not outlive the process that started it" {
    "$scanbench" --device=cpu --algo=serial --n=2^20 --min-time=60 --max-time=60 --quiet >/dev/null 2>&1 3>&- &
    local first=$! worker
    until worker=$(pgrep -P "$first"); do sleep 0.1; done
    kill -KILL "$first"
    for _ in {1..50}; do
        kill -0 "$worker" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

@test "a worker that somebody kills costs one row" {
    long_test
    "$scanbench" --device=cpu --algo=serial,memcpy --n=2^18,100 --min-time=2 --max-time=2 --quiet --output="$rows" 3>&- &
    local first=$! worker status
    until worker=$(pgrep -P "$first"); do sleep 0.1; done
    sleep 2
    kill -KILL "$worker"
    status=0
    wait "$first" || status=$?
    [ "$status" -eq 1 ]
    [ "$(read_csv "$rows" check | sort | uniq -c | xargs)" = '1 error 3 passed' ]
    has "$(read_csv "$rows" reason)" 'it was ended by signal 9 (Killed)'
}

@test "a file that ends the process when it is loaded: one line, and no file of rows" {
    local file=$BATS_TEST_TMPDIR/loads.cu
    printf '%s\n' '#include <scanbench_own.h>' '#include <stdlib.h>' 'static int early = (exit(0), 1);' \
        'void scan(int, int *o, const int *i) { o[0] = i[0] + early; }' 'SCANBENCH_HOST_SCAN("loads", scan)' >"$file"
    fails 1 --algo="$file" --device=emulator --n=10 --output="$rows"
    has "$stderr" 'while files of --algo were loaded: it called exit(0)'
    [ ! -e "$rows" ]
}

@test "rows of a CPU algorithm that is ended by a signal, and of the others" {
    run --separate-stderr "$broken" --algo=serial,past-the-fence,memcpy --device=cpu --n=10,1000,2000 --samples=1 \
        --quiet --columns=algo,n,check,reason
    [ "$status" -eq 3 ]
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 10 ]
    [ "$(grep -c ',passed,$' <<<"$output")" -eq 7 ]
}

@test "--resume: a wrong result that the file has is said once, also if a new worker comes to it" {
    local file=$BATS_TEST_TMPDIR/dies.cu
    printf '%s\n' '#include <scanbench_own.h>' '#include <stdlib.h>' \
        'void scan(int n, int *o, const int *i) { for (int k = 0, s = 0; k < n; s += i[k++]) o[k] = s; }' \
        'void dies(int, int *, const int *) { exit(1); }' \
        'SCANBENCH_HOST_SCAN("lives", scan)' 'SCANBENCH_HOST_SCAN("dies", dies)' >"$file"
    run -1 quick --algo="$file" --device=emulator --n=10 --output="$rows"
    [ "$(read_csv "$rows" check | sort | paste -sd' ')" = 'error passed' ]
    sed -i 's/,passed,,/,failed,wrong,/' "$rows"
    run -3 --separate-stderr quick --algo="$file" --device=emulator --n=10 --output="$rows" --resume
    [ "$stderr" = 'scanbench: scan lives, n = 10: failed before, wrong (remove its row to run it again)' ]
}
