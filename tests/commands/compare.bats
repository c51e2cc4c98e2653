#!/usr/bin/env bats
# compare: scripts/compare.sh on runs with a known change, and on runs without any.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

# runs FILE FACTOR SEED RUNS [CONFIGURATIONS]: writes runs whose medians scatter as those of
# processes do: by 0.3 %, and, if there are several, now and then one that is 5 % slower, as on a
# machine that others use (a single run cannot show that it is one of these). The times are
# FACTOR times as long as with 1.
runs() {
    python3 - "$@" <<'END'
import csv, random, sys
path, factor, seed, runs, configurations = sys.argv[1], *map(float, sys.argv[2:5]), int((sys.argv + [20])[5])
random.seed(seed)
columns = ["op", "algo", "type", "n", "device", "time_ms", "noise_pct", "check"]
with open(path, "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(columns)
    for c in range(configurations):
        for _ in range(int(runs)):
            slow = 1.05 if runs > 1 and random.random() < 0.03 else 1
            time = 0.1 * 2 ** (c % 10) * factor * random.lognormvariate(0, 0.003) * slow
            out.writerow(["scan", f"algo{c // 10}", "i32", 4096 << c % 10, "cpu", f"{time:.6g}", 0.3, "passed"])
END
}

# counts OLD NEW: prints how many changes are slower, faster, same and undecided.
counts() {
    scripts/compare.sh "$@" | tail -n 1 | tr -dc '0-9,' | tr , ' '
}

setup_file() {
    python3 -c 'import scipy' 2>/dev/null || /usr/bin/python3 -c 'import scipy' 2>/dev/null || skip "no scipy here"
}

@test "compare: no change: at most one false alarm in 100 configurations, with six runs and with one" {
    local slower faster same undecided number
    for number in 6 1; do
        runs "$rows.old" 1 "$number" "$number" 200
        runs "$rows.new" 1 "10$number" "$number" 200
        read -r slower faster same undecided <<<"$(counts "$rows.old" "$rows.new")"
        echo "$number runs: $slower slower, $faster faster, $same same, $undecided undecided"
        [ "$((slower + faster + same + undecided))" -eq 200 ]
        [ "$((slower + faster))" -le 2 ]
    done
}

@test "compare: 1, 2, 5 and 10 % are found in ten runs, in both directions" {
    local factor slower faster rest
    runs "$rows.old" 1 1 10 20
    for factor in 1.01 1.02 1.05 1.10; do
        runs "$rows.new" "$factor" 2 10 20
        read -r slower faster rest <<<"$(counts "$rows.old" "$rows.new")"
        echo "$factor: $slower slower, $faster faster, of 20"
        [ "$slower" -ge 17 ] && [ "$faster" -eq 0 ]
    done
    read -r slower faster rest <<<"$(counts "$rows.new" "$rows.old")"
    [ "$slower" -eq 0 ] && [ "$faster" -ge 17 ]
}

@test "compare: of one run each, 5 and 10 % are found; 1 % is not called a change" {
    local factor least slower faster rest
    runs "$rows.old" 1 1 1 40
    while read -r factor least most; do
        runs "$rows.new" "$factor" 2 1 40
        read -r slower faster rest <<<"$(counts "$rows.old" "$rows.new")"
        echo "$factor: $slower slower, $faster faster, of 40"
        [ "$slower" -ge "$least" ] && [ "$slower" -le "$most" ] && [ "$faster" -eq 0 ]
    done <<'END'
1.01 0 0
1.05 36 40
1.10 40 40
END
}

@test "compare: ratios and intervals, sorted by effect; geometric mean over the sizes" {
    printf '%s\n' op,algo,type,n,device,time_ms,noise_pct,check scan,a,i32,1024,cpu,1,0.1,passed \
        scan,a,i32,2048,cpu,2,0.1,passed scan,b,i32,1000,cpu,4,0.1,passed scan,b,i32,3,cpu,,,skipped >"$rows.old"
    printf '%s\n' op,algo,type,n,device,time_ms,noise_pct,check scan,a,i32,1024,cpu,2,0.1,passed \
        scan,a,i32,2048,cpu,1,0.1,passed scan,b,i32,1000,cpu,4,0.1,passed scan,c,i32,3,cpu,1,0.1,passed >"$rows.new"
    run --separate-stderr scripts/compare.sh "$rows.old" "$rows.new"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[1]} =~ ^a\ +2\^10\ +1\ ms\ +2\ ms\ +2.000\ +1.9[0-9]+..2.0[0-9]+\ +slower$ ]]
    [[ ${lines[2]} =~ ^b\ +1000\ +4\ ms\ +4\ ms\ +1.000\ +0.9[0-9]+..1.0[0-9]+\ +undecided$ ]]
    [[ ${lines[3]} =~ ^a\ +2\^11\ +2\ ms\ +1\ ms\ +0.500\ .*\ faster$ ]]
    grep -qE '^a +2 +1.000$' <<<"$output"
    [ "${lines[-1]}" = "1 slower, 1 faster, 0 same, 1 undecided" ]
    [ "$stderr" = "compare.sh: 1 configurations only in the new file" ]
}

@test "compare: --fail-slower is exit 5 for what is slower by more than that" {
    runs "$rows.old" 1 1 6 5
    runs "$rows.new" 1.05 2 6 5
    run scripts/compare.sh --fail-slower "$rows.old" "$rows.new"
    [ "$status" -eq 5 ]
    run scripts/compare.sh --fail-slower=3 "$rows.old" "$rows.new"
    [ "$status" -eq 5 ]
    run scripts/compare.sh --fail-slower=20 "$rows.old" "$rows.new"
    [ "$status" -eq 0 ]
    run scripts/compare.sh --fail-slower "$rows.new" "$rows.old"
    [ "$status" -eq 0 ]
}

@test "compare: rows and samples of the program itself" {
    quick --algo=serial,naive --device=cpu,emulator --n=1000,2000 --output="$rows.a" --samples-file="$rows.as"
    "$scanbench" --quiet --samples=9 --algo=serial,naive --device=cpu,emulator --n=1000,2000 --output="$rows.b" \
        --samples-file="$rows.bs"
    run --separate-stderr scripts/compare.sh "$rows.a" "$rows.b"
    echo "$output; $stderr"
    [ "$(grep -cE '^(serial|naive) +(1000|2000) ' <<<"$output")" -eq 4 ]
    run --separate-stderr scripts/compare.sh "$rows.as" "$rows.bs"
    echo "$output; $stderr"
    [ "$(grep -cE '^(serial|naive) +(1000|2000) ' <<<"$output")" -eq 4 ]
}

@test "compare: a file from before the columns scratch and values, with a new one" {
    printf 'op,algo,type,n,device,time_ms,check\nscan,a,i32,8,cpu,1,passed\n' >"$rows.old"
    printf 'op,algo,type,n,device,time_ms,check,scratch,values\nscan,a,i32,8,cpu,2,passed,kept,none\n' >"$rows.new"
    run scripts/compare.sh "$rows.old" "$rows.new"
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" '1 ms' '2 ms' 2.000 '1 slower'
    printf 'op,algo,type,n,device,time_ms,check,scratch,values\nscan,a,i32,8,cpu,2,passed,fresh,none\n' >"$rows.new"
    run scripts/compare.sh "$rows.old" "$rows.new"
    [ "$status" -eq 1 ]
    has "$output" 'no configuration in common'
}

@test "compare: what is wrong is one line" {
    local arguments
    printf 'a,b\n1,2\n' >"$rows"
    for arguments in "" "$rows" "$rows $rows" "$rows.none $rows" "--fail-slower=x $rows $rows" "--outptu $rows $rows"; do
        # Words, on purpose.
        # shellcheck disable=SC2086
        run --separate-stderr scripts/compare.sh $arguments
        echo "$arguments: exit $status; $stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "compare.sh: "* ]]
    done
}
