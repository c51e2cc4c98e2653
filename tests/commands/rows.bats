#!/usr/bin/env bats
# rows: the output of a run: CSV, JSON and the table; every type, kind, input and size; seeds;
# what is skipped, and why.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

@test "CSV: one header, one row a configuration, all fields" {
    quick --algo=serial,naive,memcpy --n=0,1,1000 --device=cpu,emulator --output="$rows"
    read_csv "$rows"
    [ "$(wc -l <"$rows")" -eq 13 ] # on the CPU serial and memcpy, on the emulator naive and memcpy
    [ "$(head -n 1 "$rows")" = "$("$scanbench" --list-columns | awk '{ print $1 }' | paste -sd,)" ]
    [ "$(read_csv "$rows" check | sort -u)" = passed ]
}

@test "CSV: the same on stdout, and nothing else there" {
    "$scanbench" --algo=serial --n=100 --samples=3 >"$rows" 2>"$BATS_TEST_TMPDIR/notes"
    read_csv "$rows"
    [ "$(read_csv "$rows" op algo type kind n pot device cache samples check)" = \
        $'scan\tserial\ti32\texclusive\t100\tno\tcpu\tcold\t3\tpassed' ]
}

@test "CSV: the environment stands in every row" {
    quick --algo=serial --n=100,200 --output="$rows"
    local version compiler host date
    while IFS=$'\t' read -r version compiler host date; do
        [[ $version == v[0-9]* ]]
        [[ $compiler == *_[0-9]* ]]
        [ "$host" = "$(hostname)" ]
        [[ $date == 20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z ]]
    done < <(read_csv "$rows" version compiler host date)
}

@test "CSV: numbers belong together" {
    "$scanbench" --algo=serial,memcpy --n=100000 --samples=15 --output="$rows" --quiet
    read_csv "$rows" n time_ms time_min_ms time_max_ms time_mean_ms gelem_s gb_s memcpy_pct algo |
        awk -F '\t' '
            function near(a, b) { return a > b * 0.999 && a < b * 1.001 }
            $3 > $2 || $2 > $4 || $3 > $5 || $5 > $4 { print "times: " $0; bad = 1 }
            !near($6, $1 / $2 / 1e6) { print "gelem_s: " $0; bad = 1 }
            !near($7, 8 * $1 / $2 / 1e6) { print "gb_s: " $0; bad = 1 }
            { time[$9] = $2; pct[$9] = $8 }
            END {
                if (!near(pct["memcpy"], 100)) { print "memcpy_pct of memcpy"; bad = 1 }
                if (!near(pct["serial"], 100 * time["memcpy"] / time["serial"])) {
                    print "memcpy_pct of serial"; bad = 1
                }
                exit bad || NR != 2
            }'
}

@test "memcpy_pct: memcpy is measured, though nobody asked for it" {
    quick --algo=serial --n=10000 --device=cpu --output="$rows"
    [ "$(read_csv "$rows" algo)" = serial ]
    [[ $(read_csv "$rows" memcpy_pct) =~ ^[0-9.e+]+$ ]]
}

@test "JSON parses, and says what CSV says" {
    quick --algo=serial,naive --n=0,1,1000,2^40 --device=cpu,emulator --format=json >"$rows" || true
    python3 - "$rows" "$("$scanbench" --list-columns | awk '{ print $1 }' | paste -sd,)" <<'END'
import json, sys
whole = json.load(open(sys.argv[1]), parse_constant=lambda what: sys.exit(what + " is no JSON"))
rows, context = whole["rows"], whole["context"]
assert whole["schema_version"] == 1 and len(rows) == 8, len(rows)
assert [device["device"] for device in context["devices"]] == ["cpu", "emulator"], context
assert "--n=0,1,1000,2^40" in context["arguments"] and context["version"].startswith("v"), context
for row in rows:
    assert list(row) == sys.argv[2].split(","), list(row)
    assert row["check"] in ("passed", "skipped"), row
    assert (row["time_ms"] is None) == (row["check"] == "skipped"), row
    assert isinstance(row["n"], int) and row["n"] in (0, 1, 1000, 2**40), row
    assert row["kernel"] is None and row["max"] == 49 and row["seed"] == 1, row
END
}

@test "JSON: an argument that is not UTF-8 is there, with question marks" {
    quick --algo=serial --n=10 --format=json --samples-file="$rows"$'.\xff' --output="$rows"
    python3 - "$rows" <<'END'
import json, sys
arguments = json.load(open(sys.argv[1]))["context"]["arguments"]
assert f"--samples-file={sys.argv[1]}.?" in arguments and f"--output={sys.argv[1]}" in arguments, arguments
END
}

@test "JSON Lines: each line is a row" {
    quick --algo=serial,naive --n=0,1000 --device=cpu,emulator --format=jsonl --output="$rows"
    python3 - "$rows" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [(row["algo"], row["n"]) for row in rows] == [("serial", 0), ("naive", 0), ("serial", 1000), ("naive", 1000)], rows
END
    fails 2 --algo=serial --n=10 --format=jsonl --output="$rows" --resume
}

@test "SCANBENCH_FLAGS come before those of the command line, which win" {
    SCANBENCH_FLAGS='--quiet --samples=1  --algo=serial' run "$scanbench" --n=10,20 --samples=2 --columns=algo,n,samples
    [ "$output" = $'algo,n,samples\nserial,10,2\nserial,20,2' ]
    SCANBENCH_FLAGS=--n=none fails 2 --algo=serial
    has "$stderr" '(with SCANBENCH_FLAGS="--n=none")'
    has "$stderr" --n=none
}

@test "JSON without a row has an empty array" {
    # Interrupted before the first row is done.
    env --default-signal=INT "$scanbench" --samples=1 --quiet --algo=naive --n=2^20 --device=emulator \
        --format=json --output="$rows" 3>&- &
    local job=$!
    until [ -s "$rows" ]; do
        sleep 0.05
    done
    kill -INT "$job"
    wait "$job" || true
    python3 -m json.tool "$rows"
}

@test "the table is for people" {
    run --separate-stderr quick --algo=serial,naive --n=1024,1000 --device=cpu,emulator --format=table
    [ "$status" -eq 0 ]
    # The heading may take two lines, and more where the emulator comes in.
    has "${lines[0]}" "$("$scanbench" --version | cut -d, -f1),"
    has "${lines[0]} ${lines[1]}" op=scan type=i32
    has "$output" 'algo ' ' device ' ' time ' GB/s memcpy check
    [ "$(grep -cE '^(serial|naive) +(2\^10|1000) .* passed$' <<<"$output")" -eq 4 ]
}

@test "the table: rows that differ in an axis have a column of it" {
    run quick --algo=serial,memcpy --threads=1,2 --n=1000 --format=table
    [ "$(grep -cE '^memcpy +[12] ' <<<"$output")" -eq 2 ]
    run quick --algo=parallel,simd --threads=1,2 --simd=portable,avx2 --n=1000 --format=table
    [ "$(grep -E ' passed$' <<<"$output" | sed -E 's/  +[0-9.]+ [um]?s .*//' | sort -u | wc -l)" -ge 5 ]
}

@test "the table: no line is wider than 80 columns" {
    run quick --op=scan,compact --algo=all --n=1000,1001 --device=cpu,emulator --block=64,128 --type=i32,f64 \
        --cache=both --threads=1,2 --format=table
    [ "$(awk 'length > 80' <<<"$output")" = '' ]
    [ "${#lines[@]}" -gt 100 ]
}

@test "the table: colour on a terminal only, and not with NO_COLOR" {
    command -v script >/dev/null || skip "no script"
    local flags="--algo=serial,simd --n=1000 --samples=1 --quiet --format=table"
    [[ $(TERM=xterm NO_COLOR='' script -qec "$scanbench $flags" /dev/null </dev/null) == *$'\e['* ]]
    [[ $(TERM=xterm NO_COLOR=1 script -qec "$scanbench $flags" /dev/null </dev/null) != *$'\e['* ]]
    [[ $(TERM=dumb NO_COLOR='' script -qec "$scanbench $flags" /dev/null </dev/null) != *$'\e['* ]]
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    [[ $("$scanbench" $flags) != *$'\e['* ]]
}

@test "--columns rule a table and Markdown, too" {
    run quick --algo=serial --n=7 --columns=check,n,algo --format=table
    [[ ${lines[-2]} =~ ^check\ +n\ +algo$ && ${lines[-1]} =~ ^passed\ +7\ +serial$ ]]
    run quick --algo=serial --n=7 --columns=check,n,algo --format=markdown
    [ "${lines[0]}" = '| check | n | algo |' ]
}

@test "noise that stayed above --max-noise is marked, and one line says so" {
    run --separate-stderr "$scanbench" --algo=serial --n=1000 --max-noise=0 --max-time=20ms --format=table
    has "$output" ' %!'
    has "$stderr" '1 of 1 rows exceeds --max-noise, marked !'
    "$scanbench" --algo=serial,naive --device=cpu,emulator --n=1000 --max-noise=100 --quiet --output="$rows"
    [ "$(read_csv "$rows" algo steady | paste -sd' ')" = $'serial\tyes naive\t' ]
}

@test "a table on stdout, and the rows in a file" {
    run --separate-stderr quick --algo=serial --n=1000 --format=table --output="$rows"
    [ "$status" -eq 0 ]
    has "${lines[-1]}" serial passed
    [ "$(read_csv "$rows" algo n check)" = $'serial\t1000\tpassed' ]
}

@test "--columns: these, in this order" {
    run --separate-stderr quick --algo=serial --n=7 --columns=check,n,algo
    [ "$status" -eq 0 ]
    [ "$output" = $'check,n,algo\npassed,7,serial' ]
}

@test "--columns: what is not there" {
    fails 2 --algo=serial --n=7 --columns=algo,tim_ms
    has "$stderr" --columns tim_ms 'did you mean "time_ms"?'
    # Headings of the table, which are not the columns' names.
    local pair
    for pair in kernels:launches B/elem:'read_bytes_per_element plus written_bytes_per_element' used:sector_use_pct \
        conflicts:bank_conflicts time:time_ms ±:noise_pct '% memcpy':memcpy_pct; do
        fails 2 --algo=serial --n=7 --columns="algo,${pair%%:*}"
        [ "$stderr" = "scanbench: --columns=${pair%%:*}: no such column; \"${pair%%:*}\" in the table is ${pair#*:}" ]
    done
    fails 2 --algo=serial --n=7 --columns=algo,
    fails 2 --algo=serial --n=7 --columns=algo,algo
}

@test "--columns: those that stay empty without another flag are named in a note" {
    local run=(run --separate-stderr "$scanbench" --samples=1 --algo=serial --device=cpu --n=7)
    "${run[@]}" --columns=algo,bank_conflicts,grid,atomics
    [ "$output" = $'algo,bank_conflicts,grid,atomics\nserial,,,' ]
    has "$stderr" '--columns: bank_conflicts, atomics stay empty without --counts' \
        '--columns: grid stays empty without --kernels'
    "${run[@]}" --columns=basic,copies_ms --copies
    [[ $stderr != *"without"* ]]
    "${run[@]}" --columns=algo,baseline_ms --quiet
    [ -z "$stderr" ]
}

@test "--output: a file that holds something is left alone" {
    echo mine >"$rows"
    fails 2 --algo=serial --n=7 --output="$rows"
    has "$stderr" "--output=$rows"
    [ "$(cat "$rows")" = mine ]
}

@test "--output: an empty file is written" {
    : >"$rows"
    quick --algo=serial --n=7 --output="$rows"
    [ "$(read_csv "$rows" n)" = 7 ]
}

@test "--output: where no file can be" {
    fails 1 --algo=serial --n=7 --output="$BATS_TEST_TMPDIR/no/such/folder/x.csv"
    has "$stderr" 'No such file or directory; make its folder first, or name another file'
    fails 1 --algo=serial --n=7 --output="$BATS_TEST_TMPDIR"
}

@test "every type, both kinds, every input, on the CPU and in the emulator" {
    local input
    for input in uniform ones zeros alternating sorted reversed special; do
        rm -f "$rows"
        quick --algo=serial,naive,efficient-smem --device=cpu,emulator --n=0,1,5,1000 --input="$input" \
            --type=i32,u32,i64,u64,f32,f64 --kind=exclusive,inclusive --output="$rows"
        [ "$(read_csv "$rows" n | wc -l)" -eq $((3 * 4 * 6 * 2)) ]
        # Only floats whose sums are not exact in every order are skipped.
        [ "$(read_csv "$rows" check type input reason |
            grep -v '^passed' | grep -cv $'^skipped\tf[36][24]\tspecial\tsums of NaN' || true)" -eq 0 ]
        [ "$input" = special ] || [ "$(read_csv "$rows" check | sort -u)" = passed ]
    done
}

@test "every operation and type has every input of the table, the same on every device" {
    local inputs
    inputs=$(sed -nE 's/^(DRAWN_)?INPUT\([A-Z_0-9]+, "([a-z0-9-]+)".*/\2/p' bench/inputs.def | sort)
    [ "$(wc -w <<<"$inputs")" -ge 17 ]
    quick --op=scan,compact,sort,reduce --algo=memcpy,simd --device=cpu,emulator --input="$(paste -sd, <<<"$inputs")" \
        --type=i32,u32,i64,u64,f32,f64,u8,i8,i16,u16,f16,bf16 --max=127 --n=777 --output="$rows"
    [ "$(read_csv "$rows" check reason | grep -v '^passed' | grep -cvE \
        $'^skipped\t(sums of NaN|an unsigned type has no negative|sums may exceed 2.(8|11),|sorts keys of 4 and 8 bytes)' || true)" -eq 0 ]
    [ "$(read_csv "$rows" input | sort -u)" = "$inputs" ]
}

@test "integers wrap" {
    quick --algo=serial,naive,efficient-smem --device=cpu,emulator --type=i32,u32,i64,u64 \
        --max=2^31-1 --n=100000 --output="$rows"
    [ "$(read_csv "$rows" check | sort -u)" = passed ]
}

@test "floats beyond the exact range are skipped, with that reason" {
    quick --algo=serial --type=f32 --input=sorted --max=1000 --n=2^20 --output="$rows"
    [[ $(read_csv "$rows" check reason time_ms) == $'skipped\t'*2^24*$'\t' ]]
}

@test "sizes: 0 and 1" {
    run --separate-stderr quick --algo=serial,naive,efficient-smem,memcpy --device=cpu,emulator --n=0,1 \
        --kind=exclusive,inclusive --columns=n,check
    [ "$status" -eq 0 ]
    [ "$(tail -n +2 <<<"$output" | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')" = \
        "10 0,passed 10 1,passed" ]
}

@test "--npot: partners in place of sizes, or beside them" {
    sizes() { quick --algo=serial --columns=n,pot "$@" | tail -n +2 | paste -sd' '; }
    [ "$(sizes --n=1024,2^12)" = "1024,yes 4096,yes" ]
    [ "$(sizes --n=1024,2^12 --npot)" = "640,no 2560,no" ]
    [ "$(sizes --n=1024 --npot=5/8)" = "640,no" ]
    [ "$(sizes --n=1024 --npot=-3)" = "1021,no" ]
    [ "$(sizes --n=1024,2^12 --pot --npot)" = "1024,yes 640,no 4096,yes 2560,no" ]
    [ "$(sizes --n=1024 --pot)" = "1024,yes" ]
}

@test "sizes in every spelling" {
    [ "$(quick --algo=serial --n=1000,2^5-3,1e3,4Ki,4K,8..32,10..30+10 --columns=n | paste -sd' ')" = \
        "n 1000 29 4096 4000 8 16 32 10 20 30" ]
}

@test "--block: every size, and only where it means something" {
    quick --algo=naive,memcpy --device=emulator --n=1000 --block=32..1024 --output="$rows"
    [ "$(read_csv "$rows" algo block | paste -sd' ' | tr '\t' :)" = \
        "naive:32 naive:64 naive:128 naive:256 naive:512 naive:1024 memcpy:" ]
}

# strict CODE FLAG...: expects that exit code of a run with --strict, whose rows are in $rows.
strict() {
    run "-$1" --separate-stderr quick --strict --output="$rows" "${@:2}"
}

@test "--strict: exit 3 unless every row passed" {
    strict 0 --algo=serial --n=10,1000
    [ -z "$stderr" ]
    quick --algo=serial --n=2^40
    rm "$rows"
    strict 3 --algo=serial --n=2^40 # all are skipped
    [[ $stderr == "scanbench: --strict: 1 of 1 rows did not pass: scan serial, n = 1099511627776: skipped, needs "* ]]
    rm "$rows"
    strict 3 --algo=serial --n=10,2^40,1000 # one is
    has "$stderr" '--strict: 1 of 3 rows did not pass: scan serial, n = 1099511627776: skipped, needs '
    [ "$(read_csv "$rows" check | paste -sd' ')" = "passed skipped passed" ]
    # A row that is there already counts as it stands in the file.
    strict 3 --algo=serial --n=10,2^40 --resume
    has "$stderr" '--strict: 1 of 2 rows did not pass: scan serial, n = 1099511627776: skipped, needs '
    strict 0 --algo=serial --n=10,1000 --resume
    sed -i 's/,passed,/,failed,/' "$rows"
    strict 3 --algo=serial --n=10 --resume
    [ "$(wc -l <"$rows")" -eq 4 ]
}

@test "a run of which each row was skipped says so with the reason, whatever the columns" {
    run --separate-stderr "$scanbench" --device=cpu --algo=serial --n=2^40 --samples=1 --format=markdown
    has "$stderr" 'no row was measured, each was skipped: needs '
    run --separate-stderr "$scanbench" --device=cpu --algo=serial --n=2^39,2^40 --samples=1 --columns=n
    has "$stderr" 'no row was measured, each was skipped, the first with the reason: needs 4.'
}

@test "--resume: a wrong result that the file has is exit 3, in one line" {
    quick --algo=serial --n=10,1000 --output="$rows"
    sed -i 's/,passed,,/,failed,output[5]: got 7,/' "$rows"
    run -3 --separate-stderr quick --algo=serial --n=1000 --output="$rows" --resume
    [ "$stderr" = "scanbench: scan serial, n = 1000: failed before, output[5]: got 7 (remove its row to run it again)" ]
    run -0 quick --algo=serial --n=1001 --output="$rows" --resume
}

@test "--strict: what takes no such problem is left out, unless it is named" {
    local flags
    for flags in "" "--type=f16" "--operator=max --algo=all" "--segments=rows:16 --algo=gpu"; do
        rm -f "$rows"
        # Words, on purpose.
        # shellcheck disable=SC2086
        strict 0 --device=emulator --n=2^10 $flags
        [ -z "$stderr" ]
        # Only with segments is there a row of `segmented`.
        [ "$(read_csv "$rows" algo | grep -c '^segmented$' || true)" -eq "$(grep -c segments <<<"$flags" || true)" ]
    done
    rm "$rows"
    strict 3 --device=emulator --n=2^10 --algo=own,segmented
    has "$stderr" 'rows did not pass: scan segmented, n = 1024: skipped, scans segments only'
    rm "$rows"
    strict 0 --op=sort --type=u8 --device=cpu --n=100
    ! read_csv "$rows" algo | grep -E 'parallel|tbb' || false
    # Sorts of narrow keys alone, and of pairs alone.
    rm "$rows"
    strict 0 --op=sort --device=emulator --n=9000 --algo=own --type=u32,i16 --max=100
    [ "$(read_csv "$rows" algo type | grep -E 'counting|stable-msd' | tr '\t' :)" = counting:i16 ]
}

@test "--strict: a code that says more remains" {
    run "$broken" --strict --quiet --samples=1 --algo=serial,changed-input --device=cpu --n=1000,2^40 --columns=check
    [ "$status" -eq 3 ]
    has "$output" passed failed skipped
    run --separate-stderr "$broken" --strict --quiet --samples=1 --algo=naive,divergent-barrier --device=emulator \
        --n=64,2^40 --columns=check
    [ "$status" -eq 1 ]
    has "$output" passed error skipped
    fails 2 --strict --n=-1
    # Rows that were not compared make no code 5 of it.
    quick --algo=serial --n=1000 --output="$rows"
    run quick --strict --algo=serial --n=1000,2^40 --baseline="$rows" --columns=check
    [ "$status" -eq 3 ]
}

@test "too large for memory: how much it needs, and how much there is" {
    quick --algo=serial --n=2^40,1000 --type=i64 --output="$rows"
    local reason
    reason=$(read_csv "$rows" check reason | head -n 1)
    has "$reason" skipped 'needs 16.0 TiB' 'free'
    [[ $reason =~ needs\ 16.0\ TiB\ of\ memory,\ [0-9.]+\ [KMGT]iB\ free ]]
    # The next row still runs.
    [ "$(read_csv "$rows" n check | tail -n 1)" = $'1000\tpassed' ]
}

@test "too large for ulimit: skipped with its name, and so is what a library could not allocate" {
    long_test
    if "$scanbench" --version | grep -q sanitize || [ "$(ulimit -H -v)" != unlimited ]; then
        skip "the address space is limited already"
    fi
    local flags=(--quiet --samples=1 --device=cpu --algo=serial "--n=1000,2^24,2^27" --output="$rows")
    (ulimit -v 300000 && "$scanbench" "${flags[@]}")
    [ "$(read_csv "$rows" n check | paste -sd' ' | tr '\t' :)" = "1000:passed 16777216:passed 134217728:skipped" ]
    [[ $(read_csv "$rows" reason) =~ needs\ [0-9.]+\ GiB\ of\ memory,\ [0-9.]+\ MiB\ free\ \(ulimit\ -v\ is\ 293.0\ MiB\) ]]
    # Nothing is left to do, and nothing fails, when it is resumed.
    cp "$rows" "$rows.before"
    (ulimit -v 300000 && "$scanbench" "${flags[@]}" --resume)
    cmp "$rows.before" "$rows"
    (ulimit -v 300000 && quick --device=emulator --algo=lookback --n=1000,2^27 --output="$rows.emulated")
    [ "$(read_csv "$rows.emulated" n check | paste -sd' ' | tr '\t' :)" = "1000:passed 134217728:skipped" ]
    has "$(read_csv "$rows.emulated" reason)" 'ulimit -v'
    # qsort and Thrust take memory of their own, which would not be there.
    (ulimit -v 290000 && quick --device=cpu --op=sort --n=2^24 --output="$rows.sorts")
    [ "$(read_csv "$rows.sorts" algo check | grep -c $'^serial\tskipped$')" -eq 1 ]
    (ulimit -v 300000 && "$scanbench" --device=cpu --algo=serial --n=2^27 --dry-run) |
        grep 'skipped: free is only .* (ulimit -v is 293.0 MiB)'
}

# make_cgroup BYTES: makes a cgroup with that limit, and says where; or says why not.
make_cgroup() {
    local parent limit
    if [ -e /sys/fs/cgroup/memory/cgroup.procs ]; then
        parent=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
    else
        parent=/sys/fs/cgroup limit=memory.max
    fi
    cgroup=$parent/scanbench-test-$$
    mkdir "$cgroup" 2>/dev/null || skip "this user cannot make a cgroup"
    cgroup_limit=$cgroup/$limit
    if ! echo "$1" >"$cgroup_limit" 2>/dev/null; then
        rmdir "$cgroup"
        skip "cgroups have no limit of memory here"
    fi
}

# in_cgroup FLAG...: runs scanbench in it.
in_cgroup() {
    (echo "$BASHPID" >"$cgroup/cgroup.procs" && quick "$@")
}

@test "too large for a cgroup: skipped with its name, not killed" {
    long_test
    local code=0 n
    make_cgroup 100M
    {
        in_cgroup --device=cpu --op=scan --algo=serial,simd --n=2^20,2^22,2^27 --output="$rows" &&
            in_cgroup --device=cpu --op=scan --algo=serial,simd --n=2^20,2^22,2^27 --output="$rows" --resume &&
            in_cgroup --device=emulator --algo=lookback --n=2^18,2^27 --output="$rows.emulated" &&
            in_cgroup --device=emulator --gpus=16 --op=scan --algo=peer --n=2^10,2^27 --output="$rows.team"
    } || code=$?
    # What libraries allocate is counted. Less memory, so that the largest arrays are soon sorted.
    echo 50M >"$cgroup_limit"
    for n in 2^20+2^18 2^20+2^19 2^21; do
        [ $code -ne 0 ] || in_cgroup --device=cpu --op=compact,sort --n=$n --output="$rows.$n" || code=$?
    done
    for _ in {1..50}; do # until the last process is gone
        ! rmdir "$cgroup" 2>/dev/null || break
        sleep 0.1
    done
    [ $code -eq 0 ]
    [ "$(read_csv "$rows" algo n check | paste -sd' ' | tr '\t' :)" = "serial:1048576:passed simd:1048576:passed \
serial:4194304:passed simd:4194304:passed serial:134217728:skipped simd:134217728:skipped" ]
    has "$(read_csv "$rows" reason)" "of the cgroup /scanbench-test-$$ is 100.0 MiB)"
    [ "$(read_csv "$rows.emulated" check | paste -sd' ')" = "passed skipped" ]
    [ "$(read_csv "$rows.team" check | paste -sd' ')" = "passed skipped" ]
}

@test "a library that needs a GPU is skipped in the emulator, with that reason" {
    if ! "$scanbench" --list | grep -q '^scan *thrust '; then
        skip "no thrust in the table"
    fi
    quick --algo=thrust,naive --n=100 --output="$rows"
    [[ $(read_csv "$rows" algo check reason | grep ^thrust) == $'thrust\tskipped\t'?* ]]
    [ "$(read_csv "$rows" algo check | grep ^naive)" = $'naive\tpassed' ]
}

# columns_of OP WORD...: prints n, scratch, launches and block of rows in the emulator.
columns_of() {
    local large=${LONG:+100000}
    "$scanbench" --op="$1" --device=emulator --n="1000,${large:-30000}" --type=u32,f64 --samples=1 --quiet \
        --columns=type,n,algo,block,scratch_bytes,launches,check,chose "${@:2}" | sed 1d
}

@test "auto: a row of that name, without a block, that says what was chosen, and is it" {
    local op type n algo block scratch launches check chose chosen checked=0
    for op in scan compact sort reduce; do
        while IFS=, read -r type n algo block scratch launches check chose; do
            [ "$algo,$block,$check" = auto,,passed ]
            # An algorithm without threads per block of its own is named alone.
            [[ $chose =~ ^([a-z-]+)(\ block\ ([0-9]+))?$ ]]
            chosen=$BATS_TEST_TMPDIR/$op-${chose// /-}
            [ -f "$chosen" ] ||
                columns_of $op --algo="${BASH_REMATCH[1]}" ${BASH_REMATCH[2]:+--block="${BASH_REMATCH[3]}"} >"$chosen"
            grep -x "$type,$n,${BASH_REMATCH[1]},${BASH_REMATCH[3]},$scratch,$launches,passed," "$chosen"
            checked=$((checked + 1))
        done < <(columns_of $op --algo=auto)
    done
    [ "$checked" -eq 16 ]
}

@test "auto: nothing of it runs on the CPU, and --block does not reach it" {
    run "$scanbench" --algo=auto --device=cpu --n=100
    echo "$output"
    [ "$status" -eq 2 ]
    has "$output" auto 'does not run on' 'gpu, emulator'
    run "$scanbench" --algo=auto --device=emulator --n=100 --block=64
    echo "$output"
    [ "$status" -eq 2 ]
    has "$output" '--block=64'
    run "$scanbench" --algo=auto --device=emulator --n=100 --dry-run
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[1]} =~ ^scan\ +auto\ +emulator\ +i32\ +exclusive\ +100\ +-\ +-\ +cold\ +uniform\ +49\ +-\ +[0-9.]+\ KiB\ *$ ]]
}

@test "--samples: exactly so many" {
    [ "$("$scanbench" --algo=serial --n=10 --samples=37 --columns=samples | tail -n 1)" = 37 ]
}

@test "--cache: cold, hot or both" {
    caches() { quick --algo=serial --n=1000 --columns=cache,check "$@" | tail -n +2 | paste -sd' '; }
    [ "$(caches)" = cold,passed ]
    [ "$(caches --cache=hot)" = hot,passed ]
    [ "$(caches --cache=both)" = "cold,passed hot,passed" ]
}

# first SEED: prints the first elements of the input for that seed.
first() {
    quick --algo=serial --n=100 --show=20 --seed="$1" 2>&1 >"$rows" | grep input
    rm "$rows"
}

@test "--seed: the same data again, and other data" {
    [ "$(first 1)" = "$(first 1)" ]
    [ "$(first 1)" != "$(first 2)" ]
    [ "$(first 18446744073709551615)" != "$(first 0)" ]
}

@test "--seed: the emulator goes the same way again" {
    # The result of a race depends on the order of threads, which depends on the seed.
    result() {
        "$broken" --algo=missing-barrier --n=1024 --block=1024 --quiet --columns=reason --seed="$1" ||
            true
    }
    [ "$(result 5)" = "$(result 5)" ]
    has "$(result 5)" output
}

@test "--max: values up to that" {
    run --separate-stderr quick --algo=serial --n=1000 --max=1 --show=1000 --columns=max
    [ "$(sed 1d <<<"$output")" = 1 ]
    [ "$(grep input <<<"$stderr" | tr ' ' '\n' | grep -E '^[0-9]+$' | sort -u | paste -sd' ')" = "0 1" ]
}

@test "--show: the first and the last elements of input and result" {
    run --separate-stderr quick --algo=serial,naive --device=cpu,emulator --n=10 --input=ones --show=3 \
        --columns=check
    [ "$output" = $'check\npassed\npassed' ]
    [ "$(grep -c 'input *1 1 1 ... 1$' <<<"$stderr")" -eq 2 ]
    [ "$(grep -c 'output *0 1 2 ... 9$' <<<"$stderr")" -eq 2 ]
}

@test "--show: more than there is" {
    run --separate-stderr quick --algo=serial --n=3 --input=ones --show=10 --inclusive --columns=check
    has "$stderr" 'output  1 2 3'
    [[ $stderr != *...* ]]
    run --separate-stderr quick --algo=serial --n=0 --show=10 --columns=check
    [ "$status" -eq 0 ]
}

# ---- Compaction and sort ----

@test "compaction and sort: rows beside those of scan, kind and keep where they mean something" {
    quick --op=scan,compact,sort --algo=serial,naive --device=cpu,emulator --n=1000 --keep=0.250 \
        --output="$rows"
    [ "$(read_csv "$rows" op algo kind keep check | tr '\t' ,)" = "\
scan,serial,exclusive,,passed
scan,naive,exclusive,,passed
compact,serial,,0.250,passed
compact,naive,,0.250,passed
sort,serial,,,passed
sort,naive,,,passed" ]
}

@test "compaction and sort: one row a configuration, whatever the kinds of scan" {
    quick --op=scan,compact,sort --algo=serial --kind=exclusive,inclusive --n=10 --output="$rows"
    [ "$(read_csv "$rows" op kind | tr '\t' , | paste -sd' ')" = \
        "scan,exclusive scan,inclusive compact, sort," ]
}

@test "compaction and sort: sizes 0, 1 and 2, every algorithm, every type" {
    quick --op=compact,sort --algo=all --device=cpu,emulator --n=0,1,2 --type=i32,u32,i64,u64,f32,f64 \
        --output="$rows"
    # vqsort does not order NaN, and sample leaves few keys to msd; both say so.
    read_csv "$rows" algo type check | sort -u >"$BATS_TEST_TMPDIR/checks"
    ! grep -vP '\tpassed$|^(vqsort\tf(32|64)|(sample|counting|stable-msd)\t[iuf](32|64))\tskipped$' "$BATS_TEST_TMPDIR/checks" || false
    [ "$(read_csv "$rows" check | wc -l)" -ge $((6 * 3 * (3 + 10 + 3 + 9))) ]
}

@test "gb_s: compaction reads n elements and writes those it keeps, sort writes all" {
    local op bytes
    while read -r op bytes flags; do
        # Words of flags, on purpose.
        # shellcheck disable=SC2086
        quick --op="$op" --algo=serial --n=100000 $flags --output="$rows.$bytes$op"
        read_csv "$rows.$bytes$op" time_ms gb_s | awk -F '\t' -v bytes="$bytes" '
            { wanted = bytes * 100000 / $1 / 1e6 }
            $2 < wanted * 0.999 || $2 > wanted * 1.001 { print "gb_s: " $0 ", wanted " wanted; exit 1 }'
    done <<END
compact 8 --input=ones
compact 4 --input=zeros
compact 6 --input=alternating
compact 12 --input=alternating --type=f64
sort 8 --max=2^31-1
sort 16 --type=u64
END
}

@test "--max: each operation has its own default, for a sort the largest value of the type" {
    quick --op=scan,compact,sort,reduce --algo=serial --type=i32,u32,i64,u64,f32,f64,u8 --n=10 --output="$rows"
    [ "$(read_csv "$rows" op type max | grep -v '^sort' | cut -f3 | sort -u)" = 49 ]
    [ "$(read_csv "$rows" op type max | grep '^sort')" = "$(printf 'sort\t%s\t%s\n' i32 2147483647 u32 4294967295 \
        i64 9223372036854775807 u64 18446744073709551615 f32 8388608 f64 4503599627370496 u8 255)" ]
    # The data is that of the value when it is typed, and so a file of one resumes the other.
    run --separate-stderr "$scanbench" --op=sort --algo=serial --n=1000 --samples=1 --show=20 --quiet --columns=max
    local shown=$stderr
    run --separate-stderr "$scanbench" --op=sort --algo=serial --n=1000 --samples=1 --show=20 --quiet --columns=max \
        --max=2147483647
    [ "$stderr" = "$shown" ]
    rm "$rows"
    quick --op=sort --algo=serial --n=10 --max=49 --output="$rows"
    quick --op=sort --algo=serial --n=10 --max=2^31-1 --output="$rows" --append
    cp "$rows" "$rows.before"
    quick --op=sort --algo=serial --n=10 --output="$rows" --resume
    cmp "$rows.before" "$rows"
    sed -i '$d' "$rows"
    quick --op=sort --algo=serial --n=10 --output="$rows" --resume
    [ "$(read_csv "$rows" max)" = $'49\n2147483647' ]
    quick --op=sort --algo=serial --n=10 --baseline="$rows.before" --format=csv --output="$rows.compared"
    [[ $(read_csv "$rows.compared" baseline_ratio) == [0-9]* ]]
    run --separate-stderr "$scanbench" --op=sort --algo=serial --n=10 --samples=1 --baseline=<(sed '$d' "$rows.before")
    has "$stderr" 'it has no row for anything that was measured'
}

@test "--columns=basic: those that a person wants, beside others" {
    run --separate-stderr quick --algo=serial --n=10 --columns=basic
    [ "${lines[0]}" = op,algo,device,type,n,block,threads,cache,time_ms,noise_pct,gb_s,memcpy_pct,check ]
    run --separate-stderr quick --algo=serial --n=10 --columns=n,basic,seed
    [ "${lines[0]}" = n,op,algo,device,type,block,threads,cache,time_ms,noise_pct,gb_s,memcpy_pct,check,seed ]
    run --separate-stderr quick --device=emulator --algo=naive --n=10 --kernels --columns=basic
    has "${lines[0]}" kernel share_pct
    fails 2 --algo=serial --n=10 --columns=basic,check
    has "$stderr" '"check" is listed twice'
    fails 2 --algo=serial --n=10 --columns=basics
    has "$stderr" 'did you mean "basic"?'
}

@test "--input, --max, --keep: every combination, each in a row of its own" {
    local flags=('--op=scan,compact' --algo=serial --device=cpu '--n=10,20' '--input=few,uniform' '--max=7,1e3'
        '--keep=.5,0.1,0.50')
    quick "${flags[@]}" --output="$rows"
    [ "$(read_csv "$rows" check | sort -u)" = passed ]
    [ "$(read_csv "$rows" op input max keep n | head -n 12 | tr '\t' ,)" = "scan,uniform,7,,10
scan,uniform,7,,20
scan,uniform,1e3,,10
scan,uniform,1e3,,20
scan,few,7,,10
scan,few,7,,20
scan,few,1e3,,10
scan,few,1e3,,20
compact,uniform,7,.5,10
compact,uniform,7,.5,20
compact,uniform,7,0.1,10
compact,uniform,7,0.1,20" ]
    [ "$(read_csv "$rows" op input max keep n | sort -u | wc -l)" -eq 24 ]
    # Each has the data of its own values.
    quick --op=scan --algo=serial --n=50 --input=ones,alternating --max=7,9 --show=2 --columns=n 2>&1 |
        grep input | tr -s ' ' >"$rows.shown"
    [ "$(sort <"$rows.shown" | uniq -c | awk '{ print $1, $3, $4 }' | paste -sd' ')" = '2 1 1 1 7 0 1 9 0' ]
    # A file that lacks one of them gets that one, and each is compared with its own.
    grep -v '^compact.*,few,1e3,0.1,' "$rows" >"$rows.part"
    quick "${flags[@]}" --output="$rows.part" --resume
    [ "$(read_csv "$rows.part" op input max keep n | sort)" = "$(read_csv "$rows" op input max keep n | sort)" ]
    quick "${flags[@]}" --baseline="$rows" --output="$rows.again"
    paste -d' ' <(read_csv "$rows" time_ms) <(read_csv "$rows.again" baseline_ms) | awk '$1 != $2 { print; exit 1 }'
    run --separate-stderr "$scanbench" "${flags[@]}" --dry-run
    has "$output" '24 rows would be measured'
    [ "$(sort -u <<<"$output" | wc -l)" -eq 27 ]
    run --separate-stderr "$scanbench" "${flags[@]}" --samples=1 --progress=always --columns=n
    has "$stderr" ', uniform, max 7'
}

@test "--show: what compaction keeps, and what sort makes of it" {
    run --separate-stderr quick --op=compact,sort --algo=serial,naive --device=cpu,emulator \
        --input=reversed --max=7 --n=8 --show=20 --columns=check
    [ "$(sort -u <<<"$output")" = $'check\npassed' ]
    [ "$(grep -c 'input *7 6 5 4 3 2 1 0$' <<<"$stderr")" -eq 4 ]
    [ "$(grep -c 'n = 8, 7 kept$' <<<"$stderr")" -eq 2 ]
    [ "$(grep -c 'output *7 6 5 4 3 2 1$' <<<"$stderr")" -eq 2 ]
    [ "$(grep -c 'output *0 1 2 3 4 5 6 7$' <<<"$stderr")" -eq 2 ]
    run --separate-stderr quick --op=compact --algo=serial --input=zeros --n=8 --show=3 --columns=check
    has "$stderr" ', 0 kept'
}

@test "without arguments: everything that runs here, verified" {
    run --separate-stderr timeout 300 "$scanbench" --samples=1 --columns=check,reason
    [ "$status" -eq 0 ]
    # Skipped rows say why: an array too large, or a missing library.
    [ "$(grep -vE '^skipped,.*(more elements than|install |sums of integers|scans segments only)' <<<"$output" | sort -u)" = $'check,reason\npassed,' ]
}

@test "results, against Python's" {
    local op own type input
    for type in i32 u64 f64; do
        for input in uniform alternating special; do
            for op in compact sort; do
                own=radix
                [ "$op" = sort ] || own=serial-scan
                quick --op="$op" --algo="serial,$own,naive,efficient-smem-padded" \
                    --device=cpu,emulator --type="$type" --input="$input" --n=200 --show=200 \
                    --columns=check 2>&1 >/dev/null | python3 -c '
import struct, sys
op, is_float = sys.argv[1], sys.argv[2] == "f64"
number = float if is_float else int
def rank(x):
    """The rank of a float, with NaN ordered by its sign; 0 and -0 are equal."""
    bits = struct.unpack("<q", struct.pack("<d", x + 0.0))[0]
    return bits if bits >= 0 else -(bits & (2**63 - 1)) - 1
kept = lambda x: x != 0
seen = 0
for line in sys.stdin:
    words = line.split()
    if words[0] == "input":
        data = [number(w) for w in words[1:]]
    elif words[0] == "output":
        got = [number(w) for w in words[1:]]
        wanted = list(filter(kept, data)) if op == "compact" else sorted(data, key=rank if is_float else None)
        same = [repr(x + 0) for x in got] == [repr(x + 0) for x in wanted]
        assert len(data) == 200 and same, (op, got, wanted)
        seen += 1
assert seen >= 4, seen' "$op" "$type"
            done
        done
    done
}

@test "compaction keeps the fraction that was asked for" {
    local keep
    for keep in 0 0.01 0.5 0.75 1; do
        run --separate-stderr quick --op=compact --algo=serial --n=100000 --keep="$keep" --show=1 \
            --columns=keep
        [ "${lines[1]}" = "$keep" ]
        [[ $stderr =~ ([0-9]+)\ kept ]] || [ "$keep" = 1 ]
        awk -v kept="${BASH_REMATCH[1]:-100000}" -v keep="$keep" \
            'BEGIN { off = kept - keep * 100000; exit off < -700 || off > 700 }'
    done
}

@test "sort: negative numbers by --input=signed, and none where a type has none" {
    quick --op=sort --algo=serial,radix,naive --device=cpu,emulator --input=signed --n=1000 \
        --type=i32,u32,i64,u64,f32,f64 --output="$rows"
    [ "$(read_csv "$rows" type check reason | sort -u | tr '\t' : | paste -sd,)" = "\
f32:passed:,f64:passed:,i32:passed:,i64:passed:,\
u32:skipped:an unsigned type has no negative values,\
u64:skipped:an unsigned type has no negative values" ]
}

@test "sort: --values: pairs, whose bytes count; none for keys alone and other operations" {
    quick --op=sort --algo=serial,radix,std,onesweep,efficient-smem,memcpy --device=cpu,emulator \
        --values=none,u32,u64 --type=u32 --n=1000 --output="$rows"
    [ "$(read_csv "$rows" values bytes check | sort -u | tr '\t' : | paste -sd' ')" = \
        "none:8000:passed u32:16000:passed u64:24000:passed" ]
    [ "$(read_csv "$rows" n | wc -l)" -eq 21 ]
    rm -f "$rows"
    quick --op=sort,scan --algo=serial --values=u64 --n=10 --output="$rows"
    [ "$(read_csv "$rows" op values | tr '\t' : | paste -sd' ')" = "scan:none sort:u64" ]
}

@test "sort: --values: what sorts keys alone is skipped, and auto chooses what does not" {
    quick --op=sort --algo=msd,auto --device=emulator --values=u32 --n=9000 --output="$rows"
    [ "$(read_csv "$rows" algo check chose reason | tr '\t' : | paste -sd' ')" = \
        "msd:skipped::sorts keys alone, without values auto:passed:onesweep:" ]
}

@test "sort: --values: what sorts pairs alone is skipped without them" {
    quick --op=sort --algo=stable-msd --device=emulator --values=none,u32,u64 --type=f32,i64 --n=2000 --output="$rows"
    [ "$(read_csv "$rows" values bytes check reason | tr '\t' : | sort | paste -sd,)" = "\
none::skipped:sorts pairs: msd sorts keys,none::skipped:sorts pairs: msd sorts keys,\
u32:32000:passed:,u32:48000:passed:,u64:48000:passed:,u64:64000:passed:" ]
}

@test "sort: --values: the library sorts pairs too" {
    quick --op=sort --algo=libscanbench --device=cpu,emulator --values=u32,u64 --type=u32,f64 --n=1000 --output="$rows"
    [ "$(read_csv "$rows" check | paste -sd' ')" = "passed passed passed passed passed passed passed passed" ]
}

@test "sort: --values=u32: indices of no more than 2^32 pairs" {
    run --separate-stderr "$scanbench" --op=sort --algo=radix,libscanbench --device=cpu --values=u32 --n=2^32+1 --dry-run
    [ "$(grep -c 'skipped: values are indices, for which u32 is too narrow' <<<"$output")" -eq 2 ]
    run --separate-stderr "$scanbench" --op=sort --algo=radix,libscanbench --device=cpu --values=u32 --n=2^32 --dry-run
    [[ $output != *'too narrow'* ]]
}

@test "library_version: what a library's row was made with; empty in a row of our own" {
    quick --op=scan --algo=std,serial --n=10 --output="$rows"
    [[ $(read_csv "$rows" algo library_version | sort) == serial$'\t\n'std$'\t'libstdc++\ [0-9]* ]]
}
