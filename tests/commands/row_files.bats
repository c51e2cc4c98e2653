#!/usr/bin/env bats
# row_files: no row is lost from a file, whatever is resumed, whoever else writes to it, and
# wherever it was cut.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# wait_for_lines COUNT FILE: waits until the file has COUNT lines.
wait_for_lines() {
    local tries=0
    until [ -e "$2" ] && [ "$(wc -l <"$2")" -ge "$1" ]; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -lt 600 ]
    done
}

# start FLAG...: starts a run of one row per second in the background; $job is its process.
start() {
    env --default-signal=INT "$scanbench" --quiet --device=cpu --algo=serial --n=1..60+1 --min-time=1 --max-noise=100 \
       --output="$rows" "$@" 3>&- 2>"$rows.errors" &
    job=$!
    wait_for_lines 2 "$rows"
}

# ends_with CODE PART...: expects that the background run ends by itself, with a line on
# stderr.
ends_with() {
    local code=0
    wait "$job" || code=$?
    echo "exit $code; $(cat "$rows.errors")"
    [ "$code" -eq "$1" ]
    [ "$(wc -l <"$rows.errors")" -eq 1 ]
    has "$(cat "$rows.errors")" "${@:2}"
}

# starts_with OLD NEW: expects that the new file begins with the whole old one.
starts_with() {
    cmp -n "$(wc -c <"$1")" "$1" "$2"
}

# sets_are_whole: expects that each row has all of its samples, once, and that every sample has
# a row.
sets_are_whole() {
    python3 - "$rows" "$rows.samples" <<'END'
import csv, collections, sys
rows, samples = (list(csv.DictReader(open(name))) for name in sys.argv[1:])
names = [n for n in samples[0] if n not in ("sample", "time_ms")]
sets = collections.defaultdict(list)
for s in samples:
    sets[tuple(s[n] for n in names)].append(int(s["sample"]))
for row in rows:
    own = sets.pop(tuple(row[n] for n in names), [])
    assert own == list(range(1, int(row["samples"] or 0) + 1)), (row["algo"], row["n"], row["kernel"], own)
assert not sets, sets
END
}

# ---- Launches ----

@test "--resume --kernels where there are no launches: they are added, and nothing is lost" {
    local flags=("--algo=naive,efficient-smem,memcpy" --device=emulator "--n=100,1000" --output="$rows")
    quick "${flags[@]}"
    cp "$rows" "$rows.before"
    quick "${flags[@]}" --kernels --resume
    starts_with "$rows.before" "$rows"
    # As if they had been there from the start, except for the order.
    quick "${flags[@]}" --kernels --output="$rows.wanted"
    diff <(read_csv "$rows.wanted" algo n kernel launch | sort) <(read_csv "$rows" algo n kernel launch | sort)
    cp "$rows" "$rows.before"
    quick "${flags[@]}" --kernels --resume
    cmp "$rows.before" "$rows" # now nothing is missing
}

@test "--resume --kernels of one row, and of others than are measured now" {
    quick --algo=naive --device=emulator --n=100 --output="$rows"
    cp "$rows" "$rows.before"
    quick --algo=naive --device=emulator --n=200 --kernels --output="$rows" --resume
    starts_with "$rows.before" "$rows"
    cp "$rows" "$rows.before"
    quick --algo=naive --device=emulator --n=100 --kernels --output="$rows" --resume
    starts_with "$rows.before" "$rows"
    [ "$(read_csv "$rows" n kernel | grep -cP '^100\t$')" -eq 1 ]
    [ "$(read_csv "$rows" n launch | grep -cP '^100\t[1-7]$')" -eq 7 ]
}

@test "--append --kernels goes on with a file without launches" {
    quick --algo=naive --device=emulator --n=100 --output="$rows"
    cp "$rows" "$rows.before"
    quick --algo=naive --device=emulator --n=100 --kernels --output="$rows" --append
    starts_with "$rows.before" "$rows"
    [ "$(read_csv "$rows" kernel | grep -c .)" -eq 7 ]
}

# ---- One file by two names ----

@test "--samples-file: another name of --output is refused, a file of its own is not" {
    local folder=$BATS_TEST_TMPDIR/names name
    mkdir -p "$folder/sub"
    ln -s "$folder" "$folder/here"
    ln -s s.csv "$folder/link.csv"
    # None of the files exists yet.
    for name in ./s.csv sub/../s.csv here/s.csv link.csv; do
        fails 2 --algo=serial --n=10 --output="$folder/s.csv" --samples-file="$folder/$name"
        has "$stderr" "--samples-file=$folder/$name" --output
        [ ! -e "$folder/s.csv" ]
    done
    quick --algo=serial --n=10 --output="$folder/s.csv"
    ln "$folder/s.csv" "$folder/hard.csv"
    cp "$folder/s.csv" "$folder/before"
    for name in ./s.csv here/s.csv link.csv hard.csv; do
        fails 2 --algo=serial --n=10 --append --output="$folder/s.csv" --samples-file="$folder/$name"
        has "$stderr" "--samples-file=$folder/$name" --output
        cmp "$folder/before" "$folder/s.csv"
    done
    cp "$folder/s.csv" "$folder/sub/s.csv" # alike, but another
    : >"$folder/sub/samples.csv"
    quick --algo=serial --n=10 --append --output="$folder/sub/s.csv" --samples-file="$folder/sub/samples.csv"
    [ "$(read_csv "$folder/sub/s.csv" n | wc -l)" -eq 2 ]
}

# ---- Two processes ----

@test "a second process on the same file says who writes to it, and writes nothing" {
    start --append
    local how
    for how in --append --resume; do
        fails 1 --algo=serial --n=10 --output="$rows" $how
        has "$stderr" "--output=$rows" "process $job"
    done
    fails 1 --algo=serial --n=10 --output="$rows.other" --samples-file="$rows"
    has "$stderr" "--samples-file=$rows" "process $job"
    ln -s "$rows" "$rows.link"
    fails 1 --algo=serial --n=10 --output="$rows.link" --append
    kill -INT "$job"
    ends_with 130 interrupted
    read_csv "$rows"
    quick --algo=serial --n=10 --output="$rows" --append # once it has ended, anybody may
}

@test "many begin one file at once: one at a time, and each row once" {
    local flags=("--device=cpu" "--algo=serial" "--n=1..30+1" --append --output="$rows") jobs=() i ok=0
    for i in 1 2 3 4 5 6; do
        quick "${flags[@]}" 3>&- 2>"$rows.errors$i" &
        jobs+=($!)
    done
    for i in "${jobs[@]}"; do
        if wait "$i"; then ok=$((ok + 1)); fi
    done
    [ "$ok" -ge 1 ]
    read_csv "$rows"
    [ "$(read_csv "$rows" n | wc -l)" -eq $((30 * ok)) ]
    [ "$(cat "$rows".errors* | grep -c 'is writing to it')" -eq $((6 - ok)) ]
}

@test "two --resume of one sweep at once: no row twice" {
    local i code
    for i in 1 2 3 4 5 6 7 8; do
        rm -f "$rows"
        quick --device=cpu --algo=serial,memcpy --n=1..31+1 --resume --output="$rows" 3>&- 2>/dev/null &
        code=0
        quick --device=cpu --algo=serial,memcpy --n=1..31+1 --resume --output="$rows" 2>/dev/null || code=$?
        [ "$code" -le 1 ]
        wait $! || [ "$code" -eq 0 ]
        [ "$(read_csv "$rows" algo n | sort | uniq -d)" = '' ]
        [ "$(read_csv "$rows" algo n | wc -l)" -eq 62 ]
    done
}

# ---- The file changes while it is written to ----

@test "the file is cut short while it is written to: said, and nothing more is written" {
    start
    truncate -s 100 "$rows"
    ends_with 1 "$rows" 'changed the file' '100 bytes'
    [ "$(wc -c <"$rows")" -eq 100 ]
}

@test "something else writes to the file: said, and left as it is" {
    long_test
    start
    echo mine >>"$rows"
    ends_with 1 "$rows" 'changed the file'
    [ "$(tail -n 1 "$rows")" = mine ]
}

@test "the file is removed or replaced while it is written to: said, and its name is left alone" {
    start
    rm "$rows"
    ends_with 1 "$rows" 'removed or replaced'
    [ ! -e "$rows" ]
    start
    echo mine >"$rows.new"
    mv "$rows.new" "$rows"
    ends_with 1 "$rows" 'removed or replaced'
    [ "$(cat "$rows")" = mine ]
}

@test "the samples' file is cut short while it is written to: said" {
    long_test
    start --samples-file="$rows.samples"
    truncate -s 0 "$rows.samples"
    ends_with 1 "$rows.samples" 'changed the file'
    read_csv "$rows"
}

@test "with stderr closed no message gets into the file" {
    bash -c 'exec "$@" 2>&-' _ "$scanbench" --device=emulator --algo=naive --n=10 --samples=1 --show=2 \
        --output="$rows"
    read_csv "$rows"
    [ "$(wc -l <"$rows")" -eq 2 ]
}

# ---- Samples ----

@test "a row whose samples could not be written is not written either" {
    # The samples exceed the file size limit of 1 KiB; the rows do not.
    run --separate-stderr bash -c 'ulimit -f 1 && exec "$@"' _ "$scanbench" --quiet --device=cpu \
        --algo=serial --n=10,20 --samples=50 --columns=algo,n --output="$rows" --samples-file="$rows.samples"
    [ "$status" -eq 1 ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    has "$stderr" "$rows.samples" 'File too large' 'earlier rows are kept'
    [ "$(cat "$rows")" = algo,n ]
    [ "$(wc -l <"$rows.samples")" -eq 1 ] # what there was room for is taken back
}

@test "kill -9 with --samples-file, then --resume: every sample set is whole" {
    local flags=("--device=cpu,emulator" "--algo=serial,naive" "--n=10..40+1" --samples=25 --quiet
       --output="$rows" --samples-file="$rows.samples") kills=0 tries=0
    while [ "$kills" -lt 25 ] && [ "$tries" -lt 200 ]; do
        tries=$((tries + 1))
        "$scanbench" "${flags[@]}" --resume 3>&- &
        sleep "$(printf '0.%03d' $((RANDOM % 40 + 10)))"
        if kill -KILL $! 2>/dev/null; then kills=$((kills + 1)); fi
        wait $! || true
    done
    "$scanbench" "${flags[@]}" --resume
    [ "$(read_csv "$rows" n algo | sort -u | wc -l)" -eq 62 ]
    sets_are_whole
}

@test "--resume: samples without their row are dropped, and measured with it" {
    local flags=(--device=emulator --algo=naive "--n=10,20,30" --samples=4 --quiet --output="$rows"
        --samples-file="$rows.samples")
    "$scanbench" "${flags[@]}"
    sed -i '$d' "$rows" # as a kill between the two leaves it
    "$scanbench" "${flags[@]}" --resume
    [ "$(read_csv "$rows" n | paste -sd' ')" = '10 20 30' ]
    sets_are_whole
    # With the launches, too.
    rm "$rows" "$rows.samples"
    "$scanbench" "${flags[@]}" --kernels
    sed -i '$d' "$rows"
    "$scanbench" "${flags[@]}" --kernels --resume
    [ "$(read_csv "$rows" n launch | sort | uniq -d)" = '' ]
    sets_are_whole
}

@test "--resume: a last sample set that is cut anywhere is measured again with its row" {
    local flags=(--device=emulator --algo=naive "--n=10,20" --samples=3 --quiet --output="$rows"
        --samples-file="$rows.samples") cut
    "$scanbench" "${flags[@]}"
    cp "$rows" "$rows.whole"
    cp "$rows.samples" "$rows.samples.whole"
    for cut in 1 2 20 130 250 300; do
        cp "$rows.whole" "$rows"
        head -c -"$cut" "$rows.samples.whole" >"$rows.samples"
        "$scanbench" "${flags[@]}" --resume
        [ "$(read_csv "$rows" n | paste -sd' ')" = '10 20' ]
        sets_are_whole
    done
}

@test "--resume: another output's samples in the same file are kept" {
    local flags=(--device=cpu --algo=serial --samples=3 --quiet --samples-file="$rows.samples")
    "$scanbench" "${flags[@]}" --n=10,20 --output="$rows.other"
    cp "$rows.samples" "$rows.before"
    "$scanbench" "${flags[@]}" --n=30 --output="$rows" --resume
    starts_with "$rows.before" "$rows.samples"
    "$scanbench" "${flags[@]}" --n=30,40 --output="$rows" --resume
    starts_with "$rows.before" "$rows.samples"
    [ "$(wc -l <"$rows.samples")" -eq 13 ]
}

# ---- The last line ----

@test "--resume and --append: a whole last row without the end of its line is kept" {
    local flags=("--algo=serial,naive" "--device=cpu,emulator" "--n=10,1000" --block=64) how
    for how in --append --resume; do
        rm -f "$rows"
        # Rows that passed, a launch, and one that was skipped.
        quick "${flags[@]}" --output="$rows"
        [ $how = --append ] || quick --algo=naive --device=emulator --n=10 --kernels --output="$rows" --resume
        [ $how = --resume ] || quick --algo=serial --n=2^40 --output="$rows" --append
        cp "$rows" "$rows.before"
        truncate -s -1 "$rows"
        run --separate-stderr "$scanbench" --samples=1 --algo=serial --n=20 --output="$rows" $how
        [ "$status" -eq 0 ]
        has "$stderr" "--output=$rows" 'had no line break'
        starts_with "$rows.before" "$rows"
        [ "$(wc -l <"$rows")" -eq $(($(wc -l <"$rows.before") + 1)) ]
    done
}

@test "a last row that is cut in its last field, though all fields are there, is not whole" {
    quick --algo=serial --n=1000 --output="$rows"
    local cut
    for cut in 2 3 4 5; do # 8000 bytes are 800, 80, 8, none
        head -c -"$cut" "$rows" >"$rows.cut"
        fails 2 --algo=serial --n=10 --output="$rows.cut" --append
        has "$stderr" torn
        run --separate-stderr "$scanbench" --samples=1 --algo=serial --n=1000 --output="$rows.cut" --resume
        [ "$status" -eq 0 ]
        has "$stderr" "--output=$rows.cut" 'torn' 'cut off'
        [ "$(read_csv "$rows.cut" n bytes)" = $'1000\t8000' ]
    done
    # Of the other columns, only check shows whether the row is complete.
    local columns=op,algo,kernel,launch,type,kind,n,block,threads,simd,device,cache,input,max,keep,seed,version,commit,host,label
    quick --algo=serial --n=10 --columns="$columns,check" --output="$rows.check"
    truncate -s -1 "$rows.check"
    quick --algo=serial --n=20 --columns="$columns,check" --output="$rows.check" --append
    [ "$(read_csv "$rows.check" n check)" = $'10\tpassed\n20\tpassed' ]
    quick --algo=serial --n=10 --columns="$columns,check,samples" --output="$rows.samples"
    truncate -s -1 "$rows.samples"
    fails 2 --algo=serial --n=10 --columns="$columns,check,samples" --output="$rows.samples" --append
}

# ---- Values ----

@test "--resume: another seed is another row, and a number is one however it is typed" {
    quick --algo=serial --op=compact --n=1000 --keep=.5 --max=16 --seed=2 --output="$rows"
    cp "$rows" "$rows.before"
    quick --algo=serial --op=compact --n=1e3 --keep=0.50 --max=2^4 --seed=2 --output="$rows" --resume
    cmp "$rows.before" "$rows"
    quick --algo=serial --op=compact --n=1000 --keep=.5 --max=16 --seed=3 --output="$rows" --resume
    [ "$(read_csv "$rows" seed | paste -sd' ')" = '2 3' ]
    # As a spreadsheet might have saved it.
    sed 's/,1000,no,/,1000.0,no,/' "$rows" >"$rows.saved"
    cp "$rows.saved" "$rows"
    quick --algo=serial --op=compact --n=1000 --keep=.5 --max=16 --seed=3 --output="$rows" --resume
    cmp "$rows.saved" "$rows"
}

@test "--resume: lengths of segments are numbers, too" {
    quick --algo=serial --n=1000 --segments=offsets:16:skewed,rows:8 --output="$rows"
    cp "$rows" "$rows.before"
    quick --algo=serial --n=1000 --segments=rows:2^3,offsets:2^4:skewed --output="$rows" --resume
    cmp "$rows.before" "$rows"
    quick --algo=serial --n=1000 --segments=offsets:2^4,rows:9 --output="$rows" --resume
    [ "$(read_csv "$rows" segments | paste -sd' ')" = 'offsets:16:skewed rows:8 offsets:2^4 rows:9' ]
}

@test "--baseline: what is no time is not compared, and said so" {
    quick --algo=serial --device=cpu --n=10 --columns=op,algo,n,time_ms,noise_pct --output="$rows"
    local time
    for time in inf infinity 1e999 0x10 nan -1 0 '1 ' 2ms; do
        printf 'op,algo,n,time_ms,noise_pct\nscan,serial,10,%s,0\n' "$time" >"$rows"
        run --separate-stderr quick --algo=serial --device=cpu --n=10 --baseline="$rows" \
            --fail-slower=5 --columns=baseline_ms,change
        echo "$time: $stderr"
        [ "$status" -eq 1 ]
        [ "${lines[1]}" = , ]
        has "${stderr_lines[0]}" "--baseline=$rows" "\"$time\"" 'is not a time'
        has "$stderr" 'it has no row for anything that was measured'
    done
}

# ---- Rows that lose the device ----

# losses COUNT: the row of naive as if it had lost the device COUNT times, one of them
# elsewhere.
losses() {
    rm -f "$rows"
    quick --algo=naive --device=emulator --n=100 --output="$rows"
    python3 - "$rows" "$1" <<'END'
import csv, sys
row = list(csv.DictReader(open(sys.argv[1])))[0]
row = {name: "" if name.endswith(("_ms", "_pct", "_s")) or name == "bytes" else text for name, text in row.items()}
row.update(check="error", reason="the device was lost: an illegal memory access, once more")
with open(sys.argv[1], "w") as file:
    writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows([row] * int(sys.argv[2]))
    writer.writerow(dict(row, host="elsewhere"))
    writer.writerow(dict(row, n="200"))
    writer.writerow(dict(row, reason="out of memory"))
END
}

@test "--resume: a row that lost the device twice is left alone, and said so" {
    losses 2
    cp "$rows" "$rows.before"
    run --separate-stderr "$scanbench" --algo=naive --device=emulator --n=100 --samples=1 --output="$rows" --resume
    [ "$status" -eq 1 ]
    [ "${stderr_lines[-1]}" = "scanbench: scan naive, n = 100: lost the device twice before; not tried again (remove its rows to run it again)" ]
    cmp "$rows.before" "$rows"
    losses 3
    run --separate-stderr quick --algo=naive --device=emulator --n=100 --output="$rows" --resume
    has "$stderr" '3 times'
    losses 1
    quick --algo=naive --device=emulator --n=100 --output="$rows" --resume
    [ "$(read_csv "$rows" check | tail -n 1)" = passed ]
    # A row that passed in the end is no longer mentioned.
    losses 2
    cp "$rows" "$rows.before"
    quick --algo=naive --device=emulator --n=100 --output="$rows" --append
    run --separate-stderr quick --algo=naive --device=emulator --n=100 --output="$rows" --resume
    [ -z "$stderr" ]
}

@test "--resume: a file of many rows takes time in proportion to them" {
    quick --device=cpu --algo=serial --n=1 --output="$rows"
    python3 - "$rows" 40000 <<'END'
import csv, sys
with open(sys.argv[1]) as file:
    row = next(csv.DictReader(file))
with open(sys.argv[1], "w") as file:
    writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(dict(row, n=n) for n in range(1, int(sys.argv[2]) + 1))
END
    cp "$rows" "$rows.before"
    timeout 20 "$scanbench" --quiet --samples=1 --device=cpu --algo=serial --n=1..40000+1 --output="$rows" --resume
    cmp "$rows.before" "$rows"
}
