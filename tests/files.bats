#!/usr/bin/env bats
# files: what is read again: a baseline to compare with, and a file to go on with.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# times FACTOR: the rows with every time multiplied, as an earlier run's, without noise.
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
    quick --algo=serial,memcpy,naive --device=cpu,emulator --n=10,1000,2^40 --block=32,64 --output="$rows"
    quick --algo=serial,memcpy,naive --device=cpu,emulator --n=10,1000,2^40 --block=32,64 \
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

@test "--fail-slower: exit 5 where it is slower, and the rows are there" {
    "$scanbench" --quiet --algo=serial --n=2^20 --samples=21 --output="$rows"
    times 0.2
    run --separate-stderr "$scanbench" --quiet --algo=serial --n=2^20 --samples=21 \
        --baseline="$rows.before" --fail-slower=50 --columns=change,check
    [ "$status" -eq 5 ]
    [ "$output" = $'change,check\nslower,passed' ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" --fail-slower 'scan serial, n = 1048576' 'slower'
    times 5
    run --separate-stderr "$scanbench" --quiet --algo=serial --n=2^20 --samples=21 \
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

@test "--baseline: what is no such file is refused, before anything runs" {
    fails 1 --algo=serial --baseline=/nowhere.csv
    has "$stderr" --baseline=/nowhere.csv 'No such file'
    fails 1 --algo=serial --baseline=.
    has "$stderr" 'directory'
    echo 'a;b' >"$rows"
    fails 2 --algo=serial --baseline="$rows"
    has "$stderr" 'no column algo'
    printf 'algo,n,time_ms,noise_pct\nserial,10\n' >"$rows"
    fails 1 --algo=serial --baseline="$rows"
    has "$stderr" 'line 2' 'number of fields'
    printf 'a\0b' >"$rows"
    fails 1 --algo=serial --baseline="$rows"
    has "$stderr" 'zero byte'
    : >"$rows"
    fails 2 --algo=serial --baseline="$rows"
}
