#!/usr/bin/env bats
# files: files that are read: a baseline, and a file to continue.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# times FACTOR: prints the rows with every time multiplied, as rows of an earlier run without
# noise.
times() {
    python3 - "$rows" "$rows.before" "$1" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    row["noise_pct"] = row["time_ms"] and "0"
    row["time_ms"] = row["time_ms"] and repr(float(row["time_ms"]) * float(sys.argv[3]))
with open(sys.argv[2], "w") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
END
}

@test "--baseline: each row beside its own, whatever the columns" {
    quick --algo=serial,simd,memcpy --device=cpu --n=10,1000,2^40 --threads=1,2 --output="$rows"
    quick --algo=serial,simd,memcpy --device=cpu --n=10,1000,2^40 --threads=1,2 \
        --baseline="$rows" --output="$rows.new"
    python3 - "$rows" "$rows.new" <<'END'
import csv, sys
before, now = (list(csv.DictReader(open(name))) for name in sys.argv[1:])
assert len(before) == len(now) > 10
for b, n in zip(before, now):
    assert b["time_ms"] == n["baseline_ms"], (b, n)
    if n["time_ms"]:
        assert abs(float(n["baseline_ratio"]) * float(b["time_ms"]) / float(n["time_ms"]) - 1) < 1e-3
        assert n["change"] in ("none", "slower", "faster")
    else:
        assert n["baseline_ratio"] == n["change"] == ""
END
    quick --algo=serial --n=10 --columns=baseline_ms --baseline="$rows.new" >"$rows.one"
    [ "$(sed -n 2p "$rows.one")" = "$(read_csv "$rows.new" time_ms | head -n 1)" ]
}

@test "--baseline: of the emulator counts are compared, and no times" {
    local flags=(--device=emulator --algo='efficient-smem*' --n=1000)
    quick "${flags[@]}" --counts --output="$rows"
    run --separate-stderr quick "${flags[@]}" --counts --baseline="$rows" --columns=baseline_ms,change --format=csv
    [ "$output" = $'baseline_ms,change\n,\n,' ]
    [ -z "$stderr" ]
    # Its first row had other conflicts.
    python3 - "$rows" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
rows[0]["bank_conflicts"] = "7"
with open(sys.argv[1], "w") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
END
    run --separate-stderr quick "${flags[@]}" --counts --baseline="$rows" --columns=check
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" '1 of 2 rows of the emulator with counts to compare have other counts; scan efficient-smem, n = 1000' ', was 7'
    run -1 --separate-stderr quick "${flags[@]}" --baseline="$rows" --columns=check --fail-slower=5
    has "${stderr_lines[0]}" '--fail-slower: no row has a time to compare; those of the emulator say nothing about a GPU'
    has "${stderr_lines[1]}" '2 of 2 rows of the emulator have no counts to compare' 'run both with --counts'
}

@test "--baseline: a file from before --values has keys alone, and no pairs" {
    quick --op=sort --algo=radix --n=100 --output="$rows"
    sed 's/,[^,]*$//' "$rows" >"$rows.before"
    quick --op=sort --algo=radix --n=100 --values=none,u32 --baseline="$rows.before" \
        --columns=values,change >"$rows.now"
    grep -qE '^none,(none|slower|faster)$' "$rows.now"
    grep -qx 'u32,' "$rows.now"
}

@test "--resume: a file from before --values has keys alone, and cannot take pairs" {
    quick --op=sort --algo=radix --n=100 --output="$rows"
    sed -i 's/,[^,]*$//' "$rows"
    local columns
    columns=$(head -n 1 "$rows")
    quick --op=sort --algo=radix --n=100 --resume --output="$rows" --columns="$columns"
    [ "$(wc -l <"$rows")" -eq 2 ]
    fails 2 --op=sort --algo=radix --n=100 --values=u32 --samples=1 --quiet --resume --output="$rows" \
        --columns="$columns"
    has "$stderr" values
}

@test "--baseline: of several runs in the file, the median" {
    for _ in 1 2 3; do
        quick --algo=serial --device=cpu --n=1000 --append --output="$rows"
    done
    sed -i 's/-dirty//' "$rows" # rows with uncommitted changes count as of another build each
    quick --algo=serial --device=cpu --n=1000 --baseline="$rows" --columns=baseline_ms >"$rows.now"
    [ "$(sed -n 2p "$rows.now")" = "$(read_csv "$rows" time_ms | sort -g | sed -n 2p)" ]
}

@test "--fail-slower: exit 5 where it is slower, and the rows are there" {
    # Many short samples: of few long ones a busy machine can stop so many that nothing is shown.
    "$scanbench" --quiet --algo=serial --n=2^16 --samples=201 --output="$rows"
    times 0.02
    run --separate-stderr "$scanbench" --quiet --algo=serial --n=2^16 --samples=201 \
        --baseline="$rows.before" --fail-slower=50 --columns=change,check
    echo "exit $status: $output; stderr: $stderr"
    [ "$status" -eq 5 ]
    [ "$output" = $'change,check\nslower,passed' ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" --fail-slower 'scan serial, n = 65536' 'slower'
    times 50
    run --separate-stderr "$scanbench" --quiet --algo=serial --n=2^16 --samples=201 \
        --baseline="$rows.before" --fail-slower=0 --columns=change,check
    [ "$status" -eq 0 ]
    [ "$output" = $'change,check\nfaster,passed' ]
}

@test "--fail-slower: nothing to compare with is no success" {
    quick --algo=serial --n=10 --output="$rows"
    run --separate-stderr quick --algo=serial --n=11 --baseline="$rows" --fail-slower=5 --columns=change
    [ "$status" -eq 1 ]
    has "$stderr" --baseline 'no row'
    fails 2 --algo=serial --fail-slower=5
    has "$stderr" --fail-slower --baseline
}

@test "--fail-slower: rows that --resume keeps count as if they were measured now" {
    "$scanbench" --quiet --algo=serial --n=2^20,2^16 --samples=101 --output="$rows"
    times 0.02
    local resumed=(--quiet --algo=serial "--n=2^20,2^16" --samples=101 --output="$rows" --resume
        --baseline="$rows.before" --fail-slower=50) count
    count=$(wc -l <"$rows")
    # All rows are kept; one is, and the file's other row is not of this run.
    run -5 --separate-stderr "$scanbench" "${resumed[@]}"
    has "$stderr" --fail-slower '2 rows are slower'
    run -5 --separate-stderr "$scanbench" "${resumed[@]}" --strict --n=2^16
    has "$stderr" '1 row is slower'
    [ "$(wc -l <"$rows")" -eq "$count" ]
    times 50
    run -0 --separate-stderr "$scanbench" "${resumed[@]}"
    [ -z "$stderr" ]
    # Without their times they cannot be compared.
    local columns
    columns=$(head -n 1 "$rows" | sed 's/,time_ms,/,/')
    quick --algo=serial --n=1000 --columns="$columns" --output="$rows.timeless"
    fails 2 --algo=serial --n=1000 --columns="$columns" --output="$rows.timeless" --resume \
        --baseline="$rows.before" --fail-slower=50
    has "$stderr" --resume 'the column time_ms' compared
    quick --algo=serial --n=1000 --columns="$columns" --output="$rows.timeless" --resume --baseline="$rows.before"
}

@test "--fail-slower: with --strict, a row that the baseline lacks is a failure" {
    quick --algo=serial --n=1000 --output="$rows"
    times 1000
    local flags=(--algo=serial "--n=1000,1001" --baseline="$rows.before" --columns=check)
    run -0 --separate-stderr quick "${flags[@]}" --fail-slower=5
    has "$stderr" 'no row for 1 of the 2 rows'
    run -1 --separate-stderr quick "${flags[@]}" --fail-slower=5 --strict
    has "$stderr" 'no row for 1 of the 2 rows'
    quick "${flags[@]}" --strict # no gate
}

@test "--fail-slower: rows without times are nothing to compare" {
    quick --algo=serial --n=1000 --output="$rows"
    run -1 --separate-stderr quick --algo=serial --n=2^40 --baseline="$rows" --fail-slower=5 --columns=check
    [ "$output" = $'check\nskipped' ]
    has "$stderr" --fail-slower 'no row has a time'
}

@test "--baseline: what is no such file is refused, before anything runs" {
    fails 1 --algo=serial --baseline=/nowhere.csv
    has "$stderr" --baseline=/nowhere.csv 'No such file'
    fails 1 --algo=serial --baseline=.
    has "$stderr" 'directory'
    echo 'a;b' >"$rows"
    fails 2 --algo=serial --baseline="$rows"
    has "$stderr" 'no column algo'
    printf 'algo,n,time_ms,noise_pct\nserial,10\n' >"$rows"
    fails 2 --algo=serial --baseline="$rows"
    has "$stderr" 'line 2' 'number of fields'
    printf 'a\0b' >"$rows"
    fails 2 --algo=serial --baseline="$rows"
    has "$stderr" 'zero byte'
    : >"$rows"
    fails 2 --algo=serial --baseline="$rows"
}

# sweep FLAG...: measures the same rows each time.
sweep() {
    quick --algo=serial,naive,memcpy --device=cpu,emulator --n=10,1000,2^40 --block=32,64 "$@"
}

# axes FILE: prints the configurations in order.
axes() {
    read_csv "$1" op algo device n block check
}

@test "--append: behind the rows that are there, under one header" {
    sweep --output="$rows"
    sweep --output="$rows" --append
    sweep --output="$rows.new" --append # a file that is not there is begun
    [ "$(axes "$rows")" = "$(axes "$rows.new" && axes "$rows.new")" ]
    cp "$rows" "$rows.saved"
    fails 2 --algo=serial --output="$rows" --append --columns=algo,n
    has "$stderr" "--output=$rows" columns
    printf 'scan,ser' >>"$rows"
    fails 2 --algo=serial --output="$rows" --append
    has "$stderr" torn --resume
    fails 2 --algo=serial --output="$rows"
    has "$stderr" --append --resume
    [ "$(cat "$rows")" = "$(cat "$rows.saved" && printf 'scan,ser')" ]
}

@test "--resume: a file cut anywhere is made whole, and no row is run twice" {
    sweep --output="$rows"
    local size header cut
    size=$(wc -c <"$rows")
    header=$(head -n 1 "$rows" | wc -c)
    for cut in 0 "$header" $((header + 1)) 1500 2500 $((size - 300)) $((size - 1)) "$size"; do
        head -c "$cut" "$rows" >"$rows.cut"
        sweep --output="$rows.cut" --resume
        diff <(axes "$rows") <(axes "$rows.cut")
        whole=$(head -c "$cut" "$rows" | tr -dc '\n' | wc -c)
        diff <(head -n "$whole" "$rows") <(head -n "$whole" "$rows.cut")
    done
}

@test "--resume: with --kernels no launch is missing, and none is there twice" {
    quick --algo=naive,efficient-smem --device=emulator --n=100,1000 --kernels --output="$rows"
    local line
    for line in 1 2 4 9 10 12 20 26; do
        head -n "$line" "$rows" >"$rows.cut"
        quick --algo=naive,efficient-smem --device=emulator --n=100,1000 --kernels \
            --output="$rows.cut" --resume
        diff <(read_csv "$rows" algo n kernel launch) <(read_csv "$rows.cut" algo n kernel launch)
    done
}

@test "--resume: another build, machine or label is run again, and so is an error" {
    quick --algo=serial --n=10 --output="$rows"
    quick --algo=serial --n=10 --output="$rows" --resume --label=run=2
    [ "$(read_csv "$rows" label | paste -sd' ')" = " run=2" ]
    sed -i 's/,passed,,/,error,it was lost,/' "$rows"
    quick --algo=serial --n=10 --output="$rows" --resume
    [ "$(wc -l <"$rows")" -eq 4 ]
    sed -i "s/,$(hostname),/,elsewhere,/" "$rows"
    quick --algo=serial --n=10 --output="$rows" --resume
    [ "$(wc -l <"$rows")" -eq 5 ]
}

@test "--resume: what cannot be gone on with is refused, and left alone" {
    fails 2 --algo=serial --resume
    has "$stderr" --resume --output
    fails 2 --algo=serial --append --output="$rows" --format=json
    has "$stderr" --append --format=json
    echo mine >"$rows"
    fails 2 --algo=serial --output="$rows" --resume
    printf 'no end' >"$rows"
    fails 2 --algo=serial --output="$rows" --resume
    [ "$(cat "$rows")" = 'no end' ]
    rm "$rows"
    quick --algo=serial --n=10 --output="$rows" --columns=algo,n
    fails 2 --algo=serial --output="$rows" --resume --append
    has "$stderr" '--append contradicts --resume: '
    fails 2 --algo=serial --output="$rows" --resume --columns=algo,n
    has "$stderr" --resume 'the column op'
}

@test "an interrupted sweep, resumed, has the rows of one that was not" {
    local flags=(--device=emulator '--algo=naive,efficient-smem' '--n=100,200,2^18' --samples=100 --quiet)
    env --default-signal=INT "$scanbench" "${flags[@]}" --output="$rows" 3>&- &
    local job=$! tries=0
    until [ -e "$rows" ] && [ "$(wc -l <"$rows")" -ge 3 ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ]
    done
    kill -INT "$job"
    status=0
    wait "$job" || status=$?
    [ "$status" -eq 130 ]
    [ "$(read_csv "$rows" samples | sort -u)" = 100 ] # what was cut short has no row
    "$scanbench" "${flags[@]}" --samples=2 --output="$rows" --resume
    [ "$(read_csv "$rows" n algo | sort | paste -sd' ')" = \
        "$(printf '%s\tefficient-smem\n%s\tnaive\n' 100 100 200 200 262144 262144 | paste -sd' ')" ]
}

@test "interrupted while the input is filled: no row says that this was an error" {
    local delay job tries
    for delay in 0.001 0.002 0.003 0.004 0.006 0.008 0.01 0.012; do
        rm -f "$rows"
        env --default-signal=INT "$scanbench" --device=emulator --algo=naive --n=100,2^18 --samples=1 --quiet \
            --output="$rows" 3>&- &
        job=$!
        tries=0
        until [ -e "$rows" ] && [ "$(wc -l <"$rows")" -ge 2 ]; do
            sleep 0.001
            tries=$((tries + 1))
            [ "$tries" -lt 20000 ]
        done
        sleep "$delay"
        kill -INT "$job" 2>/dev/null || true
        wait "$job" || [ $? -eq 130 ]
        [ "$(read_csv "$rows" check | sort -u)" = passed ]
    done
}

@test "interrupted at any moment: no row is kept that memcpy was not measured for" {
    local delay job
    for delay in 0.3 0.4 0.5 0.6 0.7 0.8; do
        env --default-signal=INT "$scanbench" --device=cpu --algo=own,memcpy --n=2^10..2^13 --max-time=60ms --quiet \
            --output="$rows" --resume 3>&- &
        job=$!
        sleep "$delay"
        kill -INT "$job" 2>/dev/null || true
        wait "$job" || [ $? -eq 130 ]
        [ "$(read_csv "$rows" check memcpy_pct | grep -c $'^passed\t$')" -eq 0 ]
    done
    "$scanbench" --device=cpu --algo=own,memcpy --n=2^10..2^13 --max-time=60ms --quiet --output="$rows" --resume
    [ "$(read_csv "$rows" n algo | wc -l)" -gt 12 ]
}

@test "--label: what the rows say of themselves" {
    quick --algo=serial --n=10 --label=branch=main --label='note=a, "b"' --output="$rows"
    [ "$(read_csv "$rows" label)" = 'branch=main,note=a, "b"' ]
    fails 2 --label=plain
    has "$stderr" --label=plain --label=branch=main
    fails 2 --label==x
    fails 2 --label=a=$'x\ny'
}

@test "--samples-file: a line a sample, and their median is the row's" {
    "$scanbench" --quiet --algo=serial,naive --device=cpu,emulator --n=1000 --samples=7 --kernels \
        --output="$rows" --samples-file="$rows.samples"
    python3 - "$rows" "$rows.samples" <<'END'
import csv, statistics, sys
rows, samples = (list(csv.DictReader(open(name))) for name in sys.argv[1:])
assert len(samples) == 7 * len(rows) > 50, (len(samples), len(rows))
names = [n for n in samples[0] if n not in ("sample", "time_ms")]
for row in rows:
    own = [s for s in samples if all(s[n] == row[n] for n in names)]
    assert [int(s["sample"]) for s in own] == list(range(1, 8))
    assert abs(statistics.median(float(s["time_ms"]) for s in own) / float(row["time_ms"]) - 1) < 1e-4
END
    fails 2 --algo=serial --samples-file="$rows.samples"
    fails 2 --algo=serial --samples-file="$rows.y" --output="$rows.y"
    has "$stderr" --samples-file
    [ -e /dev/full ] || return 0
    fails 1 --algo=serial --n=10 --samples-file=/dev/full --output="$rows.x"
    has "$stderr" /dev/full 'No space left on device'
}

@test "--format=markdown: a table that Markdown shows" {
    run quick --algo=serial,naive --device=cpu,emulator --n=10,2^40 --format=markdown
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = \
        '| op | algo | device | type | n | block | threads | cache | time_ms | noise_pct | gb_s | memcpy_pct | check |' ]
    [ "${lines[1]}" = '|---|---|---|---|---:|---:|---:|---|---:|---:|---:|---:|---|' ]
    [ "${#lines[@]}" -eq 6 ]
    [ "$(awk -F'|' '{ print NF }' <<<"$output" | sort -u)" = 15 ]
    [ "$(quick --algo=serial --n=10 --label='a=b|c' --columns=algo,label --format=markdown | tail -n 1)" = \
        '| serial | a=b\|c |' ]
}

@test "--columns=basic and Markdown: with --baseline, the ratio and the change" {
    local basic=op,algo,device,type,n,block,threads,cache,time_ms,noise_pct
    quick --algo=serial --n=10 --output="$rows"
    run -0 quick --algo=serial --n=10 --baseline="$rows" --columns=basic --format=csv
    [ "${lines[0]}" = "$basic,gb_s,memcpy_pct,baseline_ratio,change,check" ]
    run -0 quick --algo=naive --device=emulator --n=10 --kernels --columns=basic --format=csv
    [ "${lines[0]}" = "${basic/algo/algo,kernel},share_pct,gb_s,memcpy_pct,check" ]
    run -0 quick --algo=serial --n=10 --baseline="$rows" --format=markdown
    has "${lines[0]}" '| memcpy_pct | baseline_ratio | change | check |'
}

@test "--output: its ending says the format, unless --format does" {
    local flags=(--algo=serial --n=10)
    quick "${flags[@]}" --output="$rows.json"
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["rows"][0]["n"] == 10' "$rows.json"
    quick "${flags[@]}" --output="$rows.jsonl"
    [[ $(head -c 6 "$rows.jsonl") == '{"op":' ]]
    quick "${flags[@]}" --output="$rows.md"
    [[ $(head -n 1 "$rows.md") == '| op | algo |'* ]]
    quick "${flags[@]}" --format=csv --output="$rows.csv.json"
    quick "${flags[@]}" --output="$BATS_TEST_TMPDIR/json"
    [ "$(head -c 7 "$rows.csv.json"; head -c 7 "$BATS_TEST_TMPDIR/json")" = op,algoop,algo ]
    # What can be added to is a CSV file.
    fails 2 "${flags[@]}" --output="$rows.json" --append
    has "$stderr" '--append contradicts --output=' 'only a CSV file' 'add --format=csv'
    quick "${flags[@]}" --format=csv --output="$rows.csv.json" --append
    [ "$(csv_rows "$rows.csv.json")" -eq 2 ]
    # --check, too, whose default is verdicts.
    quick --check --algo=naive --n=10 --output="$rows.2.jsonl"
    [[ $(head -c 6 "$rows.2.jsonl") == '{"op":' ]]
}

@test "--progress: what runs, how much is done and the time left, on stderr, when asked for" {
    run --separate-stderr "$scanbench" --algo=serial --n=10,2^21 --max-time=700ms --max-noise=0 \
        --progress=always --columns=n
    [ "$output" = $'n\n10\n2097152' ]
    [[ $(grep -v 'times may vary' <<<"$stderr" | head -n 1) =~ ^scan\ (serial|memcpy),\ n\ =\ 10,\ cpu,\ cold:\ 0\ of\ 2\ rows ]]
    [[ $stderr =~ scan\ (serial|memcpy),\ n\ =\ 2097152,\ cpu,\ cold:\ 1\ of\ 2\ rows,\ about\ [0-9]+\ s\ left ]]
    [[ $stderr != *$'\r'* ]]
    run --separate-stderr "$scanbench" --algo=serial --n=10 --samples=1 --columns=n
    [[ $stderr != *rows* ]] # this is no terminal
    fails 2 --progress=always --quiet
    fails 2 --progress=sometimes
    has "$stderr" auto always never
}

@test "--progress: on a terminal one line, which is gone in the end" {
    command -v script >/dev/null || skip "no script"
    run script -qec "$scanbench --algo=serial --n=2^20 --samples=2 --progress=auto --output=$rows --format=csv" /dev/null </dev/null
    [ "$status" -eq 0 ]
    has "$output" $'\r\e[Kscan serial, n = 1048576, cpu, cold: 0 of 1 rows'
    [[ ${output%$'\r'} == *$'\r\e[K' ]]
    run script -qec "$scanbench --algo=serial --n=10 --samples=3 --progress=never --output=$rows.2 --format=csv" /dev/null </dev/null
    [[ $output != *$'\r\e[K'* ]]
}

@test "--progress: the line is cut to the terminal" {
    command -v script >/dev/null || skip "no script"
    run script -qec "stty cols 30; $scanbench --algo=serial --n=2^20 --samples=2 --output=$rows --format=csv" /dev/null </dev/null
    has "$output" $'\r\e[Kscan serial, n = 1048576, cpu'
    [[ $output != *'cpu, cold'* ]]
}

@test "JSON: each row is whole in the file when it is done" {
    env --default-signal=INT "$scanbench" --device=emulator --algo=naive --n=100,2^20 --samples=1000 \
        --quiet --columns=algo,n --format=json --output="$rows" 3>&- 2>/dev/null &
    local job=$! tries=0
    until [ -e "$rows" ] && [ "$(wc -l <"$rows")" -ge 2 ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ]
    done
    [ "$(cat "$rows")" = $'{"schema_version": 1, "rows": [\n{"algo": "naive", "n": 100}' ]
    kill -INT "$job"
    wait "$job" || true
    python3 -m json.tool "$rows" >"$rows.again"
}

# ---- Files of all sorts ----

# variants FOLDER: writes variants of the CSV in $rows as other programs might, one file each.
# NAME.wanted holds "read", or a part of the line that refuses it.
variants() {
    python3 - "$rows" "$1" <<'END'
import csv, io, os, sys
raw = open(sys.argv[1]).read()
lines = raw.splitlines()
rows = list(csv.reader(lines))

def written(rows, **how):
    text = io.StringIO()
    csv.writer(text, **how).writerows(rows)
    return text.getvalue()

def put(name, text, wanted="read"):
    with open(os.path.join(sys.argv[2], name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    with open(os.path.join(sys.argv[2], name + ".wanted"), "w") as file:
        file.write(wanted)

reason = rows[0].index("reason")
long = [list(row) for row in rows]
long[1][reason] = "x" * 3000000
quotes = [list(row) for row in rows]
quotes[1][reason] = 'a "word",\nanother\r\nline'
put("crlf", raw.replace("\n", "\r\n"))
put("quoted", written(rows, quoting=csv.QUOTE_ALL, lineterminator="\n"))
put("mark", "\ufeff" + raw)
put("spreadsheet", "\ufeff" + written(rows, quoting=csv.QUOTE_ALL, lineterminator="\r\n"))
put("blank-lines", raw.replace("\n", "\n\n"))
put("huge-field", written(long, lineterminator="\n"))
put("line-in-field", written(quotes, lineterminator="\n"))
put("other-order", written([row[::-1] for row in rows], lineterminator="\n"), "columns are not those of this run: they are in another order")
put("fewer-columns", written([row[:-1] for row in rows], lineterminator="\n"), 'it has no column "values"')
put("more-columns", written([row + ["x"] for row in rows], lineterminator="\n"), 'this run has no column "x"')
put("unnamed-columns", written([row + ["", ""] for row in rows], lineterminator="\r\n"), 'this run has no column ""')
put("semicolons", raw.replace(",", ";"), "columns")
put("two-of-a-name", raw.replace("time_min_ms", "time_ms", 1), "line 1: two columns have the same name")
put("short-row", "\n".join([lines[0], lines[1], "scan,serial", lines[2]]) + "\n", "number of fields")
put("zero-byte", raw.encode()[:-10] + b"\0" + raw.encode()[-10:], "zero byte")
put("utf-16", raw.encode("utf-16"), "zero byte")
put("bad-quote", raw.replace("scan,", '"scan"x,', 1), "after a closing quote")
put("binary", bytes(range(1, 256)) * 50, "")
put("torn-header", raw[:50], "its header is incomplete")
END
}

@test "--resume and --append: files as others write them are gone on with, or refused as they are" {
    quick --algo=serial,memcpy --device=cpu --threads=1 --n=10,20 --output="$rows"
    mkdir "$BATS_TEST_TMPDIR/variants"
    variants "$BATS_TEST_TMPDIR/variants"
    local file wanted how count=0
    for file in "$BATS_TEST_TMPDIR"/variants/*.wanted; do
        wanted=$(cat "$file")
        file=${file%.wanted}
        echo "$file: $wanted"
        for how in --resume --append; do
            cp "$file" "$file.now"
            if [ "$wanted" = read ]; then
                quick --algo=serial,memcpy --device=cpu --threads=1 --n=10,20,30 --output="$file.now" $how
                # The old contents are there, byte by byte, followed by the missing rows.
                cmp -n "$(wc -c <"$file")" "$file" "$file.now"
                [ "$(csv_rows "$file.now")" -eq "$([ $how = --resume ] && echo 6 || echo 10)" ]
            else
                fails 2 --algo=serial --device=cpu --n=10,20,30 --samples=1 --output="$file.now" $how
                has "$stderr" "--output=$file.now" "$wanted"
                cmp "$file" "$file.now"
            fi
        done
        count=$((count + 1))
    done
    [ "$count" -eq 19 ]
}

# csv_rows FILE: prints the number of rows, counted by an independent reader.
csv_rows() {
    python3 -c 'import csv, sys; csv.field_size_limit(10**8)
print(len([row for row in csv.reader(open(sys.argv[1], encoding="utf-8-sig", newline="")) if row]) - 1)' "$1"
}

@test "--baseline: files as others write them are compared with, or refused" {
    quick --algo=serial,memcpy --device=cpu --threads=1 --n=10,20 --output="$rows"
    mkdir "$BATS_TEST_TMPDIR/variants"
    variants "$BATS_TEST_TMPDIR/variants"
    local file wanted
    for file in "$BATS_TEST_TMPDIR"/variants/*.wanted; do
        wanted=$(cat "$file")
        file=${file%.wanted}
        echo "$file: $wanted"
        case $(basename "$file") in other-order | fewer-columns | more-columns | unnamed-columns) wanted="read" ;; esac
        if [ "$wanted" = read ]; then
            run --separate-stderr quick --algo=serial --device=cpu --n=10 --baseline="$file" \
                --columns=baseline_ms
            [ "$status" -eq 0 ]
            [ "${lines[1]}" = "$(read_csv "$rows" algo n time_ms | sed -n 's/^serial\t10\t//p')" ]
        else
            fails 2 --algo=serial --device=cpu --n=10 --samples=1 --baseline="$file"
            has "$stderr" "--baseline=$file"
        fi
    done
}
