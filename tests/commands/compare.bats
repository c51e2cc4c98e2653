#!/usr/bin/env bats
# compare: scripts/compare.sh on runs with a known change, and on runs without any.

# setup() of helpers sets them; each test is a subshell of its own.
# shellcheck disable=SC2154,SC2030,SC2031
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
        [ "$slower" -ge 17 ]
        [ "$faster" -eq 0 ]
    done
    read -r slower faster rest <<<"$(counts "$rows.new" "$rows.old")"
    [ "$slower" -eq 0 ] && [ "$faster" -ge 17 ]
}

# process FILE NUMBER: writes the rows of one of the processes that were measured on an H200.
process() {
    awk -F, 'NR == 1 || /,process='"$2"',/' results/nvidia-h200/processes-newest-cub.csv >"$1"
    [ "$(wc -l <"$1")" -eq 79 ]
}

@test "compare: of one build in two processes, one run each, nothing is called a change, nor has it an interval" {
    local number
    for number in 2 3 5; do
        process "$rows.old" 1
        process "$rows.new" "$number"
        run scripts/compare.sh "$rows.old" "$rows.new"
        [ "${lines[-1]}" = "0 slower, 0 faster, 0 same, 78 undecided" ]
        has "${lines[0]}" 'undecided up to'
        [[ $output != *interval* && $output != *..* ]]
    done
}

@test "compare: processes that the table has not seen differ by more than it says in one of 100 rows at most" {
    long_test
    local out number slower faster same undecided sum=0 old=$rows.old new=$rows.new
    cp -R --parents scripts bench/rows "$BATS_TEST_TMPDIR"
    for out in 1 2 3 4 5; do
        grep -v ",process=$out," results/nvidia-h200/processes-newest-cub.csv >"$rows"
        python3 -B scripts/one_run.py "$rows" >"$BATS_TEST_TMPDIR/bench/rows/one_run.def"
        process "$new" $out
        for number in 1 2 3 4 5; do
            [ $number -ne $out ] || continue
            process "$old" $number
            read -r slower faster same undecided <<<"$("$BATS_TEST_TMPDIR/scripts/compare.sh" "$old" "$new" | tail -n 1 | tr -dc '0-9,' | tr , ' ')"
            [ "$((slower + faster + same + undecided))" -eq 78 ]
            echo "$out, unseen, beside $number: $slower slower, $faster faster"
            sum=$((sum + slower + faster))
        done
    done
    [ "$sum" -le 15 ] # of 20 times 78
}

@test "compare: the table of what one run cannot show is of the files that it names, and in the manual" {
    sed -n 's/^ \*     python3 \(scripts.*\) >.*/\1/p' bench/rows/one_run.def | grep . >"$rows.command"
    # Words, on purpose.
    # shellcheck disable=SC2046
    python3 -B $(cat "$rows.command") >"$rows.made"
    cmp "$rows.made" bench/rows/one_run.def
    # The manual has a line for each value.
    python3 - >"$rows.wanted" <<'END'
import re
values = {}
for n, percent in re.findall(r"^ONE_RUN\(gpu, (\d+), ([0-9.]+)\)", open("bench/rows/one_run.def").read(), re.M):
    values.setdefault(percent, f"2^{int(n).bit_length() - 1}")
for percent, n in values.items():
    print(f"| {n} | {percent} % |")
END
    [ "$(wc -l <"$rows.wanted")" -gt 5 ]
    grep -E '^\| 2\^[0-9]+ \| [0-9.]+ % \|$' docs/comparing.md | diff - "$rows.wanted"
}

@test "compare: of one run each, 30 % are found, 10 % of large arrays alone; on a CPU, large ones are like small" {
    long_test
    local factor device least most slower faster rest
    while read -r factor device least most; do
        runs "$rows.old" 1 1 1 40
        runs "$rows.new" "$factor" 2 1 40
        sed -i "s/,cpu,/,$device,/; s/,4096,/,16777216,/" "$rows.old" "$rows.new"
        read -r slower faster rest <<<"$(counts "$rows.old" "$rows.new")"
        echo "$factor $device: $slower slower, $faster faster, of 40"
        [ "$slower" -ge "$least" ]
        [ "$slower" -le "$most" ]
        [ "$faster" -eq 0 ]
    done <<'END'
1.01 gpu0 0 0
1.10 gpu0 6 12
1.30 gpu0 40 40
1.10 cpu 0 0
1.30 cpu 36 40
END
}

# shows_most LINE: does it show the table's largest value, or up to one percentage point more for the
# row's noise?
shows_most() {
    local most shown
    most=$(sed -nE '/^ONE_RUN/{s/.*, ([0-9.]+)\)/\1/p;q}' bench/rows/one_run.def)
    shown=$(sed -nE 's/.* ([0-9.]+) % .*/\1/p' <<<"$1")
    awk -v most="$most" -v shown="$shown" 'BEGIN { exit !(most > 0 && shown >= most && shown <= most + 1) }'
}

@test "compare: ratios, sorted by effect; geometric mean over the sizes" {
    printf '%s\n' op,algo,type,n,device,time_ms,noise_pct,check scan,a,i32,1024,cpu,1,0.1,passed \
        scan,a,i32,2048,cpu,2,0.1,passed scan,b,i32,1000,cpu,4,0.1,passed scan,b,i32,3,cpu,,,skipped >"$rows.old"
    printf '%s\n' op,algo,type,n,device,time_ms,noise_pct,check scan,a,i32,1024,cpu,2,0.1,passed \
        scan,a,i32,2048,cpu,1,0.1,passed scan,b,i32,1000,cpu,4,0.1,passed scan,c,i32,3,cpu,1,0.1,passed >"$rows.new"
    run --separate-stderr scripts/compare.sh "$rows.old" "$rows.new"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[1]} =~ ^a\ +2\^10\ +1\ ms\ +2\ ms\ +2.000\ +[0-9.]+\ %\ +slower$ ]]
    shows_most "${lines[1]}"
    [[ ${lines[2]} =~ ^b\ +1000\ +4\ ms\ +4\ ms\ +1.000\ +[0-9.]+\ %\ +undecided$ ]]
    shows_most "${lines[2]}"
    [[ ${lines[3]} =~ ^a\ +2\^11\ +2\ ms\ +1\ ms\ +0.500\ .*\ faster$ ]]
    grep -qE '^a +2 +1.000$' <<<"$output"
    [ "${lines[-1]}" = "1 slower, 1 faster, 0 same, 1 undecided" ]
    [ "$stderr" = "compare.sh: 1 configuration only in the new file" ]
}

@test "compare: six runs have an interval, one has none, in one table" {
    runs "$rows.old" 1 1 6 2
    runs "$rows.new" 1.3 2 6 2
    sed -i '8,$d' "$rows.old"
    tail -n 1 "$rows.new" | sed 's/,8192,/,16384,/' >"$rows.one"
    tee -a "$rows.old" <"$rows.one" >>"$rows.new"
    run scripts/compare.sh "$rows.old" "$rows.new"
    echo "$output"
    has "${lines[0]}" '99.5 % interval  undecided up to'
    [[ ${lines[1]} =~ ^algo0\ +2\^12\ .*\ 1.2[0-9]+\.\.1.3[0-9]+\ +-\ +slower$ ]]
    [[ ${lines[2]} =~ ^algo0\ +2\^14\ .*\ -\ +[0-9.]+\ %\ +undecided$ ]]
    shows_most "${lines[2]}"
}

# written FILE ROW...: a file of rows TIME,CHECK,DEVICE_NAME,HOST,COMMIT.
written() {
    local file=$1
    shift
    echo op,algo,type,n,device,time_ms,check,device_name,host,commit >"$file"
    printf 'scan,a,i32,1024,cpu,%s\n' "$@" >>"$file"
}

# says NOTE...: compares with a row of 2 ms, whose lines on stderr have these parts, one each.
says() {
    written "$rows.new" 2,passed,A,h,g1
    run --separate-stderr scripts/compare.sh "$rows" "$rows.new"
    echo "exit $status: $output; $stderr"
    [ "${#stderr_lines[@]}" -eq $# ]
    local line
    for line in "${stderr_lines[@]}"; do
        has "$line" 'compare.sh: ' "$1"
        shift
    done
}

@test "compare: a time of 0, or none, is not compared, in one line" {
    long_test
    written "$rows" 0,passed,A,h,g1 1,passed,A,h,g1
    says "$rows: time_ms is not a time in 1 row (\"0\"), which is not compared"
    [ "$status" -eq 0 ]
    has "$output" 2.000
    written "$rows" ,passed,A,h,g1 1,passed,A,h,g1 0,passed,A,h,g1 ,skipped,A,h,g1
    says "$rows: time_ms is not a time in 2 rows (\"\"), which are not compared"
    has "$output" 2.000
    written "$rows" 0,passed,A,h,g1
    says 'time_ms is not a time' 'no row that passed'
    [ "$status" -eq 2 ]
    # Samples, of which a run begins with the first.
    printf 'op,algo,type,n,device,sample,time_ms\n' >"$rows"
    printf 'scan,a,i32,1024,cpu,%s\n' 1,1 2,1 1,0 2,5 3, >>"$rows"
    says 'time_ms is not a time in 2 rows'
    has "$output" '3 ms'
}

@test "compare: two machines or two builds in one file are not pooled, and said, as are files of two machines" {
    long_test
    written "$rows" 9,passed,B,h,g1 1,passed,A,h,g1
    says 'rows of two machines, such as B and A; of each configuration, those like its last row are compared, and 1 are not'
    has "$output" '1 ms' 2.000
    written "$rows" 9,passed,A,h,g1 9,passed,A,h,g1 1,passed,A,h,g2
    says 'rows of two builds, such as g1 and g2'
    has "$output" '1 ms' 2.000
    written "$rows" 1,passed,A,elsewhere,g1
    says 'the files are of two machines: elsewhere and h'
    has "$output" 2.000
    written "$rows" 1,passed,A,h,g7
    says
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

# checked FILE ROW...: a file of rows ALGO,N,TIME,CHECK,REASON,COMMIT.
checked() {
    local file=$1
    shift
    echo op,device,type,algo,n,time_ms,check,reason,commit >"$file"
    printf 'scan,cpu,i32,%s\n' "$@" >>"$file"
}

# ends CODE LINE...: compares with those flags, and expects the code and these lines on stderr.
ends() {
    run "-$1" --separate-stderr scripts/compare.sh "${flags[@]}" "$rows.old" "$rows.new"
    shift
    [ "${#stderr_lines[@]}" -eq $# ]
    local line
    for line in "${stderr_lines[@]}"; do
        [ "$line" = "compare.sh: $1" ]
        shift
    done
}

@test "compare: a wrong result of the new file is exit 3, and named" {
    local flags=() wrong='1 configuration of the new file did not pass: simd n=2^12 (output[5]: got 7)'
    checked "$rows.old" serial,4096,1,passed,,g1 simd,4096,1,passed,,g1
    checked "$rows.new" serial,4096,9,passed,,g2 simd,4096,,failed,'output[5]: got 7',g2
    ends 3 "$wrong"
    flags=(--fail-slower)
    ends 3 "$wrong"
    # Nothing else in the file; in one of its runs; where the old file has nothing.
    checked "$rows.new" simd,4096,,failed,'output[5]: got 7',g2
    ends 3 "$wrong" 'the files have no configuration in common'
    checked "$rows.new" simd,4096,,failed,'output[5]: got 7',g2 simd,4096,,error,lost,g2 simd,4096,1,passed,,g2 \
        serial,4096,1,passed,,g2
    ends 3 "$wrong"
    checked "$rows.old" serial,4096,1,passed,,g1
    checked "$rows.new" simd,4096,,failed,'output[5]: got 7',g2 serial,4096,1,passed,,g2
    ends 3 "$wrong"
    # Another build's, or that of the old file.
    checked "$rows.new" simd,4096,,failed,wrong,g1 simd,4096,1,passed,,g2 serial,4096,1,passed,,g2
    ends 0 '1 configuration only in the new file'
    checked "$rows.old" serial,4096,1,passed,,g1 simd,4096,,failed,wrong,g1
    ends 0 '1 configuration of the old file did not pass: simd n=2^12 (wrong)'
}

@test "compare: --fail-slower is exit 1 if the new file lacks a time, and 5 if anything is slower besides" {
    local flags=() error='1 configuration of the new file did not pass: simd n=2^12 (skipped, too large)'
    checked "$rows.old" serial,4096,1,passed,,g1 simd,4096,1,passed,,g1 other,4096,,skipped,no,g1
    checked "$rows.new" serial,4096,1,passed,,g1 other,4096,,skipped,no,g1
    ends 0 '1 configuration only in the old file'
    flags=(--fail-slower)
    ends 1 '1 configuration only in the old file'
    checked "$rows.new" serial,4096,1,passed,,g1 simd,4096,,skipped,'too large',g1
    ends 1 "$error"
    # One that passed after all.
    checked "$rows.new" serial,4096,1,passed,,g1 simd,4096,,error,'no memory',g1 simd,4096,1,passed,,g1
    ends 0
    checked "$rows.new" serial,4096,9,passed,,g1 simd,4096,,skipped,'too large',g1
    ends 5 "$error"
    flags=()
    ends 0 "$error"
}

@test "compare: rows and samples of the program itself" {
    local file
    for file in a b; do
        quick --algo=serial,simd --device=cpu --n=1000,2000 --output="$rows.$file" --samples-file="$rows.${file}s"
    done
    for file in "" s; do
        run --separate-stderr scripts/compare.sh "$rows.a$file" "$rows.b$file"
        echo "$output; $stderr"
        [ "$(grep -cE '^(serial|simd) +(1000|2000) ' <<<"$output")" -eq 4 ]
    done
}

@test "compare: of the emulator counts are compared, those that both files have, and no times" {
    local flags=() header=op,algo,type,n,device,time_ms,check,bank_conflicts,depth
    printf '%s\n' $header scan,a,i32,8,emulator,1,passed,6,3 scan,b,i32,8,emulator,1,passed,6, >"$rows.old"
    printf '%s\n' $header scan,a,i32,8,emulator,9,passed,9,3 scan,b,i32,8,emulator,9,passed,6,4 >"$rows.new"
    ends 0
    [ "$(tr -s ' ' <<<"$output")" = $'algo count old new new/old\na bank_conflicts 6 9 1.500\n\ncounts in the emulator: 1 changed, 1 same' ]
    flags=(--fail-slower)
    ends 1 '--fail-slower: no time is compared; those of the emulator say nothing about a GPU'
    # Without counts; beside times of a CPU.
    flags=()
    sed -i 's/,6,$/,,/' "$rows.old"
    echo scan,c,i32,8,cpu,1,passed,, | tee -a "$rows.old" >>"$rows.new"
    ends 0 '1 configuration of the emulator without counts in both files, and its times are not compared; run both with --counts'
    has "$output" '1 undecided' 'counts in the emulator: 1 changed, 0 same'
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
    [[ $output == *"no configuration in common" ]]
    # Columns of configurations that an unlike file lacks are named.
    printf 'algo,n,time_ms\na,8,2\n' >"$rows.new"
    run scripts/compare.sh "$rows.old" "$rows.new"
    [ "$status" -eq 1 ]
    [[ $output == *"no configuration in common; only one of them has values of op, type, device" ]]
}

@test "compare: rows whose cells a spreadsheet cleared are none" {
    printf 'op,algo,type,n,device,time_ms,check\nscan,a,i32,8,cpu,1,passed\n,,,,,,\n' >"$rows"
    run -0 scripts/compare.sh "$rows" "$rows"
    has "$output" '1 undecided'
}

on_a_full_disk() {
    "$@" >/dev/full
}

@test "compare: a full disk is one line" {
    printf 'op,algo,type,n,device,time_ms,check\nscan,a,i32,8,cpu,1,passed\n' >"$rows"
    run -1 --separate-stderr on_a_full_disk scripts/compare.sh "$rows" "$rows"
    [ "$stderr" = 'compare.sh: stdout: cannot write: No space left on device' ]
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
