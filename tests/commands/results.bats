#!/usr/bin/env bats
# results: sweeps, and the charts of their rows.

# setup() of helpers sets variables; single quotes hold text of pages.
# shellcheck disable=SC2154,SC2016
load helpers

# sweep FILE FLAG...: runs a small, quick sweep on the CPU, into FILE's folder.
sweep() {
    local folder=$1
    shift
    SCANBENCH=$scanbench env --default-signal=INT scripts/sweep.sh --device=cpu --op=scan --algo=serial,simd,memcpy \
        --folder="$folder" --samples=2 --quiet "$@"
}

# keys FILE: prints the configurations, without the times.
keys() {
    read_csv "$1" op algo type kind n threads check | sort
}

@test "sweep: an interrupted one, resumed, has the rows of one that was not" {
    local work=$BATS_TEST_TMPDIR signal pid
    sweep "$work/whole" --n=2^4..2^18
    [ "$(keys "$work/whole/scan.csv" | wc -l)" -eq $((15 * 3)) ]
    for signal in INT KILL; do
        # With job control, a background process receives Ctrl-C.
        set -m
        sweep "$work/$signal" --n=2^4..2^18 --samples=400 &
        pid=$!
        set +m
        until [ "$(wc -l <"$work/$signal/scan.csv" 2>/dev/null || echo 0)" -gt 6 ]; do
            sleep 0.02
        done
        kill "-$signal" -- "-$pid"
        wait "$pid" || true
        local had
        had=$(wc -l <"$work/$signal/scan.csv")
        echo "SIG$signal: $had lines"
        [ "$had" -lt $((15 * 3 + 1)) ]
        sweep "$work/$signal" --n=2^4..2^18
        [ "$(keys "$work/$signal/scan.csv")" = "$(keys "$work/whole/scan.csv")" ]
        # Existing rows were not measured again.
        [ "$(read_csv "$work/$signal/scan.csv" samples | grep -c '^400$')" -ge $((had - 2)) ]
    done
}

@test "sweep: operations have files of their own, names are added, flags go through" {
    SCANBENCH=$scanbench env --default-signal=INT scripts/sweep.sh --device=cpu --op=compact,sort --name=types --n=100 --quiet \
        --folder="$BATS_TEST_TMPDIR" --type=i32,f64 --algo=serial --samples=1
    [ "$(read_csv "$BATS_TEST_TMPDIR/compact-types.csv" op type n | tr '\t\n' ', ')" = \
        "compact,i32,100 compact,f64,100 " ]
    [ "$(read_csv "$BATS_TEST_TMPDIR/sort-types.csv" op type n | tr '\t\n' ', ')" = \
        "sort,i32,100 sort,f64,100 " ]
}

@test "sweep: a name of a file is one in the folder of whoever calls" {
    local sweep=$PWD/scripts/sweep.sh program
    program=$(realpath "$scanbench")
    cd "$BATS_TEST_TMPDIR"
    SCANBENCH=$program "$sweep" --device=cpu --op=scan --algo=serial --n=100 --samples=1 --quiet --folder=a/b \
        --samples-file=samples.csv
    [ -s a/b/scan.csv ]
    [ -s samples.csv ]
}

@test "block-sweep: without a GPU one line names the emulator, exit 4" {
    run -4 env SCANBENCH="$scanbench" scripts/block-sweep.sh
    has "$output" '--device=gpu: ' '--device=emulator runs the same kernels'
}

@test "sweep: a wrong result is exit 3, in a later run, too, and keeps no other operation from running" {
    local flags=(--device=cpu --n=100 --quiet --folder="$BATS_TEST_TMPDIR" --algo=serial --samples=1)
    SCANBENCH=$scanbench scripts/sweep.sh --op=scan "${flags[@]}"
    sed -i 's/,passed,,/,failed,wrong,/' "$BATS_TEST_TMPDIR/scan.csv"
    run -3 env SCANBENCH="$scanbench" scripts/sweep.sh --op=scan,reduce "${flags[@]}"
    has "$output" 'scan serial, n = 100: failed before, wrong'
    [ "$(read_csv "$BATS_TEST_TMPDIR/reduce.csv" op check)" = $'reduce\tpassed' ]
}

@test "sweep: all sizes by default, each and 5/8 of it; sort leaves out what takes long" {
    run sweep "$BATS_TEST_TMPDIR" --dry-run
    [ "$status" -eq 0 ]
    has "$output" "$((18 * 2 * 3)) rows would be measured" 335544320
    run env SCANBENCH="$scanbench" scripts/sweep.sh --device=cpu --op=sort --dry-run --quiet \
        --folder="$BATS_TEST_TMPDIR"
    has "$output" 'sort     std ' 'sort     serial ' 335544320
    ! grep -E '^sort +serial .* 335544320 ' <<<"$output" || false
}

# ---- The files of results/, each with its command ----

# evidence FLAG...: a small table on the CPU; the second program stands for one with a newer CUB.
evidence() {
    [ -e "$BATS_TEST_TMPDIR/table" ] || cat >"$BATS_TEST_TMPDIR/table" <<'END'
file | seconds | flags
scan.csv | 60 | --op=scan --algo=serial,simd --n=2^4..2^8*4,100 --pot --npot --samples=1
compact.csv | 60 | --op=compact --algo=all --n=100 --keep={0.5,0.75} --cache=both --samples=1
scan-newest-cub.csv | 60 | --op=scan --algo=serial --n=100 --samples=1
END
    SCANBENCH=$scanbench scripts/evidence.sh --device=cpu --table="$BATS_TEST_TMPDIR/table" "$@"
}

# complete: are the files of the folder the table's, without a gap?
complete() {
    python3 tests/commands/evidence.py "$BATS_TEST_TMPDIR/table" "$BATS_TEST_TMPDIR/folder/README.md"
}

@test "evidence: a file for each line of the table; what is there already is skipped" {
    local folder=$BATS_TEST_TMPDIR/folder
    run evidence "$folder"
    [ "$status" -eq 0 ]
    has "$output" 'scan.csv: 16 rows in ' 'compact.csv: ' 'scan-newest-cub.csv: skipped, SCANBENCH_NEWEST names no program'
    [ "$(cd "$folder" && echo *)" = "compact.csv scan.csv" ]
    [ "$(read_csv "$folder/compact.csv" keep cache | sort -u | wc -l)" -eq 4 ]
    SCANBENCH_NEWEST=$scanbench run evidence "$folder"
    [ "$status" -eq 0 ]
    has "$output" 'scan.csv: skipped, it is there already' 'scan-newest-cub.csv: 1 rows in '
    [ "$(wc -l <"$folder/scan.csv")" -eq 17 ]
}

@test "evidence: the check of a README finds other flags, a missing row and one that failed" {
    local folder=$BATS_TEST_TMPDIR/folder
    evidence "$folder"
    evidence --readme | head -n 4 >"$folder/README.md"
    complete
    sed -i 's/ --cache=both//' "$folder/README.md"
    run complete
    [ "$status" -eq 1 ]
    has "$output" 'compact.csv: its flags are not those of the table'
    evidence --readme | head -n 4 >"$folder/README.md"
    sed -i 's/,passed,/,failed,/' "$folder/compact.csv"
    sed -i 5d "$folder/scan.csv"
    run complete
    [ "$status" -eq 1 ]
    has "$output" 'scan.csv: 1 of 16 rows are missing, one with n=' 'compact.csv: compact serial of 100: failed'
}

@test "evidence: what a time limit stops is kept, and goes on from there" {
    long_test
    local folder=$BATS_TEST_TMPDIR/folder
    # 12 rows of 0.5 s at least: on a busy machine one is ready in time, and on no machine all are.
    printf 'file | seconds | flags\nscan.csv | %s | --algo=serial --n=10..120+10 --min-time=0.5\n' 5 >"$BATS_TEST_TMPDIR/table"
    run --separate-stderr evidence "$folder"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output != *" 0 rows" ]]
    [[ $output =~ ^"scan.csv: not finished, stopped after 5 s; scan.csv.part has "1?[0-9]" rows"$ ]]
    sed -i 's/| 5 |/| 600 |/' "$BATS_TEST_TMPDIR/table"
    run evidence "$folder"
    [ "$status" -eq 0 ]
    [[ $output == "scan.csv: 12 rows in "* ]]
    [ "$(read_csv "$folder/scan.csv" n | sort -u | wc -l)" -eq 12 ]
}

@test "evidence: Ctrl-C ends it and not one file alone; only one may measure into a folder" {
    local folder=$BATS_TEST_TMPDIR/folder first code=0 i
    printf '%s\n' 'file | seconds | flags' 'scan.csv | 60 | --algo=serial --n=10,20 --min-time=20' \
        'compact.csv | 60 | --op=compact --algo=serial --n=10 --samples=1' >"$BATS_TEST_TMPDIR/table"
    SCANBENCH=$scanbench env --default-signal=INT scripts/evidence.sh --device=cpu \
        --table="$BATS_TEST_TMPDIR/table" "$folder" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    first=$!
    for ((i = 0; i < 100; i++)); do
        [ ! -e "$folder/scan.csv.part" ] || break
        sleep 0.05
    done
    run --separate-stderr evidence "$folder"
    [ "$status" -eq 1 ]
    [ -z "$output" ]
    [ "$stderr" = "evidence.sh: another one measures into $folder; wait for its end, or end it" ]
    kill -INT "$first"
    wait "$first" || code=$?
    cat "$BATS_TEST_TMPDIR/out"
    [ "$code" -eq 130 ]
    [ "$(cd "$folder" && echo *)" = scan.csv.part ]
    has "$(cat "$BATS_TEST_TMPDIR/out")" 'scan.csv: not finished, interrupted; scan.csv.part has 0 rows' \
        'evidence.sh: interrupted; the same command goes on from here'
    ! pgrep -f "output=$folder" || false # nothing measures on
    # Where only the program was interrupted, the same.
    printf '%s\n' '#!/bin/sh' 'exit 130' >"$BATS_TEST_TMPDIR/interrupted"
    chmod +x "$BATS_TEST_TMPDIR/interrupted"
    SCANBENCH=$BATS_TEST_TMPDIR/interrupted run -130 scripts/evidence.sh --table="$BATS_TEST_TMPDIR/table" "$folder"
    [ ! -e "$folder/compact.csv" ]
}

@test "evidence: the program takes the flags of each file" {
    local list file flags op algo ops algos
    list=$("$scanbench" --list)
    while IFS=' |' read -r file _ flags; do
        [[ $flags =~ --op=([^ ]*)\ --algo=([^ ]*) ]]
        IFS=, read -ra ops <<<"${BASH_REMATCH[1]}"
        IFS=, read -ra algos <<<"${BASH_REMATCH[2]}"
        for op in "${ops[@]}"; do
            for algo in "${algos[@]}"; do
                [[ $algo = all || $algo = own ]] || grep -qE "^$op +$algo " <<<"$list" ||
                    { echo "$file: no $op $algo" && return 1; }
            done
        done
        # One of {a,b} will do; the emulator has no libraries.
        flags=$(sed -E 's/\{([^,}]*)[^}]*\}/\1/g; s/,(cub|thrust)(-[a-z]+)?//g' <<<"$flags")
        # shellcheck disable=SC2086 # several flags
        "$scanbench" --device=emulator --dry-run --quiet $flags >/dev/null || { echo "$file: $flags" && return 1; }
    done < <(sed 1d scripts/evidence.txt)
}

@test "evidence: files that a page says are its are complete" {
    python3 tests/commands/evidence.py scripts/evidence.txt results/*/FILES.md
    grep -q '^| `scan.csv` | .* | `scripts/evidence.sh`: `.*` |$' results/nvidia-h200/FILES.md
}

@test "provenance: each CSV file has a line, with the date and the commit of its rows" {
    python3 scripts/provenance.py --check results/nvidia-*/FILES.md results/*-cores/README.md
    grep -q '^| `scan.csv` | .* | [0-9-]* | `g[0-9a-f]*` | ' results/nvidia-h200/FILES.md
}

@test "provenance: other dates and commits, and files without a line, are found and written" {
    local folder=$BATS_TEST_TMPDIR/folder date build wrong
    evidence "$folder"
    evidence --readme | head -n 4 >"$folder/FILES.md"
    read -r date build < <(read_csv "$folder/scan.csv" date commit | head -n 1)
    run python3 scripts/provenance.py --check "$folder/FILES.md"
    [ "$status" -eq 1 ]
    [ "$(grep -c ': its rows are of ' <<<"$output")" -eq 2 ]
    python3 scripts/provenance.py "$folder/FILES.md"
    python3 scripts/provenance.py --check "$folder/FILES.md"
    grep -qF "| \`scan.csv\` |  | ${date%%T*} | \`$build\` | " "$folder/FILES.md"
    # The first row is another day's and another build's.
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { $at["date"] = "2026-01-02T03:04:05Z"; $at["commit"] = "g0000000" } 1' "$folder/scan.csv" >"$folder/two.csv"
    mv "$folder/two.csv" "$folder/scan.csv"
    cp "$folder/compact.csv" "$folder/other.csv"
    echo '| `gone.csv` |  |  |  | |' >>"$folder/FILES.md"
    run python3 scripts/provenance.py --check "$folder/FILES.md"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 3 ]
    has "$output" "scan.csv: its rows are of 2026-01-02 to ${date%%T*} \`g0000000\`, \`$build\`" 'gone.csv: no such file' \
        'other.csv: 0 lines in the table'
    for wrong in --chekc ''; do
        run --separate-stderr python3 scripts/provenance.py ${wrong:+"$wrong"}
        [ "$status" -eq 2 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
}

@test "over_cub: the pages' tables of where CUB is faster are what the rows say; a row that differs is found and written" {
    local folder=$BATS_TEST_TMPDIR/folder row='op,algo,type,n,device,device_name,cache,time_ms,check' wrong
    python3 scripts/over_cub.py --check results/nvidia-h200/DETAILS.md results/nvidia-h100/README.md
    mkdir "$folder"
    printf '%s\n' Before. '' '| CUB is faster | file | CUB'"'"'s time over that of `auto` |' '|---|---|---|' '| old | line | |' \
        '' After. '' '<!-- least over sizes' 'scans | scan.csv type=i32 | -' '-->' '| what | new | at | old | at |' \
        '|---|---|---|---|---|' '| old | 9 | 9 |  |  |' '' End. >"$folder/page.md"
    # Behind at 2^12 by the median of three processes, ahead at 1000, and behind with hot caches or a failed check alone.
    {
        echo "$row"
        echo scan,auto,i32,1000,gpu0,X,cold,1,passed
        echo scan,cub,i32,1000,gpu0,X,cold,2,passed
        echo scan,auto,i32,1000,gpu0,X,hot,2,passed
        echo scan,cub,i32,1000,gpu0,X,hot,1,passed
        echo scan,cub,i32,1000,gpu0,X,cold,0.1,failed
        echo scan,auto,i32,4096,gpu0,X,cold,2,passed
        printf 'scan,cub,i32,4096,gpu0,X,cold,%s,passed\n' 1.5 9 1.2
    } >"$folder/scan.csv"
    run python3 scripts/over_cub.py --check "$folder/page.md"
    [ "$status" -eq 1 ]
    has "$output" "$folder/page.md: the rows say otherwise"
    python3 scripts/over_cub.py "$folder/page.md"
    python3 scripts/over_cub.py --check "$folder/page.md"
    [ "$(cat "$folder/page.md")" = "\
Before.

| CUB is faster | file | CUB's time over that of \`auto\` |
|---|---|---|
| scan of i32 | \`scan.csv\` | 0.75 (2^12) |

After.

<!-- least over sizes
scans | scan.csv type=i32 | -
-->
| what | new | at | old | at |
|---|---|---|---|---|
| scans | 0.75 | 2^12 |  |  |

End." ]
    sed -i 's/type=i32/type=f32/' "$folder/page.md"
    run --separate-stderr python3 scripts/over_cub.py --check "$folder/page.md"
    [ "$status" -eq 1 ]
    has "$stderr" 'scan.csv type=f32: no rows of both auto and cub'
    for wrong in --chekc ''; do
        run --separate-stderr python3 scripts/over_cub.py ${wrong:+"$wrong"}
        [ "$status" -eq 2 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
}

@test "evidence: what it does not know is one line, exit 2" {
    local flag
    for flag in --devise=0 --table= ''; do
        run --separate-stderr scripts/evidence.sh ${flag:+"$flag"}
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "evidence.sh: "* ]]
    done
}

@test "block-sweep: every block size of every size" {
    SCANBENCH=$scanbench scripts/block-sweep.sh --device=emulator --n=1000,3000 --algo=naive,warp-shuffle \
        --folder="$BATS_TEST_TMPDIR" --samples=1 --quiet
    [ "$(read_csv "$BATS_TEST_TMPDIR/scan-block.csv" algo n block | sort -u | wc -l)" -eq $((2 * 2 * 6)) ]
}

@test "sweep: what it does not know is one line, exit 2" {
    local flag
    for flag in scan --n= -o --output=x.csv --folder; do
        run --separate-stderr scripts/sweep.sh "$flag"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        has "$stderr" "sweep.sh: $flag is not known; it must be --op=LIST"
    done
    run scripts/sweep.sh --device=cpu --folder="$BATS_TEST_TMPDIR" --alog=serial
    [ "$status" -eq 2 ]
    has "$output" --alog
}

@test "results: a device's folder is its name, with the cores of a CPU, where git ignores what is new" {
    [[ $(SCANBENCH=$scanbench scripts/results-folder.sh cpu) =~ ^results/local/[a-z0-9-]+-cores$ ]]
    [ "$(SCANBENCH=$scanbench scripts/results-folder.sh emulator)" = results/local/emulator ]
    printf '#!/bin/sh\nprintf "gpu0\\n  name    NVIDIA H200\\n"\n' >"$BATS_TEST_TMPDIR/fake"
    chmod +x "$BATS_TEST_TMPDIR/fake"
    [ "$(SCANBENCH=$BATS_TEST_TMPDIR/fake scripts/results-folder.sh)" = results/local/nvidia-h200 ]
}

# ---- Pictures ----

@test "plots: what the rows hold decides what is drawn; SVG and PNG, the same each time" {
    local work=$BATS_TEST_TMPDIR file
    # From nanoseconds to microseconds, on any processor.
    quick --device=cpu --algo=serial,simd,memcpy --n=2^6..2^18*8 --output="$work/cpu.csv"
    quick --device=emulator --algo=naive-smem,warp-shuffle --n=3000 --block=32..256 --output="$work/block.csv"
    quick --device=emulator --algo=naive-smem,warp-shuffle --n=3000 --kernels --output="$work/launches.csv"
    quick --device=emulator --algo=reduce-then-scan --n=2^6..2^10 --copies --output="$work/gpu.csv"
    quick --device=cpu --op=sort --algo=serial,radix,memcpy --n=2^6..2^10 --output="$work/sorts.csv"
    # As if a GPU had measured them.
    sed -i 's/,emulator,/,gpu0,/' "$work"/{block,launches,gpu}.csv
    run scripts/plot.sh --output="$work/first" "$work"/{cpu,block,launches,gpu,sorts}.csv
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cd "$work/first" && echo *.svg)" = \
        "block-time.svg cpu-bandwidth.svg cpu-time.svg gpu-bandwidth.svg gpu-time.svg launches-kernels.svg scan-copies.svg sorts-keys.svg sorts-time.svg" ]
    for file in "$work"/first/*.svg; do
        [ -s "${file%.svg}.png" ]
    done
    # Text is text, not outlines, so names, units, device and date can be searched.
    has "$(cat "$work/first/cpu-time.svg")" '>simd<' '>serial<' '>memcpy<' 'Elements n' 'Time, median' 'lower is better' 'µs' \
        "$(date -u +%Y)" "$(read_csv "$work/cpu.csv" device_name | head -n 1)"
    has "$(cat "$work/first/scan-copies.svg")" 'reduce-then-scan, copies, pageable' 'best on the CPU'
    has "$(cat "$work/first/launches-kernels.svg")" 'tile scan' 'Share of time (%)'
    has "$(cat "$work/first/cpu-bandwidth.svg")" 'Effective throughput (GB/s)' 'higher is better'
    has "$(cat "$work/first/sorts-keys.svg")" 'keys per second' '>radix<'
    ! grep '>memcpy<' "$work/first/sorts-keys.svg" || false
    # Again, or without LONG what comes from two of the files.
    local again=("$work"/{block,gpu}.csv)
    [ -z "${LONG-}" ] || again+=("$work"/{cpu,launches,sorts}.csv)
    scripts/plot.sh --output="$work/second" "${again[@]}"
    [ -n "${LONG-}" ] || rm "$work"/first/{cpu,launches,scan,sorts}-* # scan-copies has the CPU beside the GPU
    diff -r "$work/first" "$work/second"
}

@test "plots: of the emulator's rows the counts are drawn, and no times" {
    local work=$BATS_TEST_TMPDIR
    quick --device=emulator --algo=naive,efficient,memcpy --n=2^6..2^8 --counts --output="$work/counts.csv"
    quick --device=emulator --algo=naive --n=2^6..2^8 --copies --kernels --output="$work/times.csv"
    quick --device=cpu --algo=serial,memcpy --n=2^6..2^8 --output="$work/cpu.csv"
    # As make run writes them: into one file.
    sed 1d "$work/cpu.csv" >>"$work/counts.csv"
    run --separate-stderr scripts/plot.sh --output="$work/plots" "$work/counts.csv" "$work/times.csv"
    echo "$output; $stderr"
    [ "$status" -eq 0 ]
    [ "$stderr" = "plot.sh: $work/times.csv: emulator times say nothing about a GPU: not drawn; --counts adds what is" ]
    [ "$(cd "$work/plots" && echo *.svg)" = "counts-bandwidth.svg counts-bytes.svg counts-depth.svg \
counts-lanes.svg counts-time.svg counts-used.svg counts-work.svg" ]
    has "$(cat "$work/plots/counts-work.svg")" '>naive<' '>efficient<' 'Additions per element' 'lower is better'
    has "$(cat "$work/plots/counts-time.svg")" '>serial<' '>memcpy<'
    ! grep -E '>(naive|efficient)<' "$work/plots/counts-time.svg" || false
}

@test "plots: counts are drawn against block size and for a GPU, too; no conflicts are a line, if others have some" {
    local work=$BATS_TEST_TMPDIR
    quick --device=emulator --algo='efficient-smem*' --n=3000 --block=32..128 --counts --output="$work/block.csv"
    # As if a GPU had counted them.
    quick --device=emulator --algo='efficient-smem*' --n=1000,2000 --counts --output="$work/gpu.csv"
    sed -i 's/,emulator,/,gpu0,/' "$work/gpu.csv"
    run scripts/plot.sh --output="$work/plots" --only=block-conflicts,block-time,gpu-conflicts,gpu-time "$work"/*.csv
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cd "$work/plots" && echo *.svg)" = "block-conflicts.svg gpu-conflicts.svg gpu-time.svg" ]
    has "$(cat "$work/plots/block-conflicts.svg")" '>efficient-smem<' '>efficient-smem-padded<' '>Threads per block<' \
        '>Bank conflicts per element<' 'bank conflicts per element by block size, n = ' 'lower is better'
    has "$(cat "$work/plots/gpu-conflicts.svg")" '>efficient-smem<' '>efficient-smem-padded<' '>Elements n<'
}

@test "plots: where nothing can be drawn, the line says what is missing" {
    local work=$BATS_TEST_TMPDIR header=op,algo,type,n,block,device,time_ms,check,bank_conflicts row lacks
    while read -r row lacks; do
        printf '%s\n' "$header" "$row" >"$rows"
        run -2 --separate-stderr scripts/plot.sh --output="$work" "$rows"
        has "${stderr_lines[-1]}" "plot.sh: nothing to draw: $lacks"
    done <<'END'
scan,a,i32,8,64,gpu0,1,passed, a chart needs two array sizes or three block sizes of an algorithm, all else the same
scan,a,i32,8,64,emulator,1,passed,7 a chart needs two array sizes or three block sizes of an algorithm, all else the same
scan,a,i32,8,64,emulator,1,passed, no row that passed has a time of a CPU or a GPU, or counts (--counts)
scan,a,i32,8,64,gpu0,,skipped, no row that passed has a time of a CPU or a GPU, or counts (--counts)
END
    printf '%s\n' "$header" scan,a,i32,{8,9},64,gpu0,1,passed, >"$rows"
    run -2 --separate-stderr scripts/plot.sh --output="$work" --only=x-time "$rows"
    [ "$stderr" = "plot.sh: nothing to draw: no picture of these files is called x-time; without --only all are drawn" ]
}

@test "plots: vector paths are lines of one picture, beside what has none" {
    local work=$BATS_TEST_TMPDIR
    python3 - "$work" <<'END'
import csv, sys
def write(name, paths):
    with open(f"{sys.argv[1]}/{name}.csv", "w", newline="") as file:
        out = csv.DictWriter(file, ["op", "algo", "type", "n", "device", "device_name", "driver", "simd", "time_ms", "check"],
                             restval="", lineterminator="\n")
        out.writeheader()
        row = {"op": "scan", "type": "i32", "device": "cpu", "device_name": "c", "check": "passed"}
        for k in range(6, 10):
            for algo, path in [("memcpy", ""), *(("simd", path) for path in paths)]:
                out.writerow({**row, "algo": algo, "simd": path, "n": 2**k, "time_ms": k})
            # The same algorithm on another device, where it has a column of its own.
            out.writerow({**row, "algo": "memcpy", "device": "gpu0", "device_name": "g", "driver": "580", "n": 2**k, "time_ms": k})
write("one", ["avx512"])
write("two", ["avx512", "avx2"])
END
    run scripts/plot.sh --output="$work/plots" "$work"/one.csv "$work"/two.csv
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cd "$work/plots" && echo *-time.svg)" = "one-c-time.svg one-g-580-time.svg two-c-time.svg two-g-580-time.svg" ]
    has "$(cat "$work/plots/one-c-time.svg")" '>simd<' '>memcpy<'
    has "$(cat "$work/plots/two-c-time.svg")" '>simd, avx512<' '>simd, avx2<' '>memcpy<'
}

@test "plots: speedups over the libraries that there are" {
    local work=$BATS_TEST_TMPDIR
    scripts/plot.sh --output="$work" --only=scan-over-thrust,scan-over-cub results/nvidia-h200/scan.csv >"$work/list"
    has "$(cat "$work/list")" scan-over-thrust.svg scan-over-cub.svg
    has "$(cat "$work/scan-over-cub.svg")" '>reduce-then-scan<' '>Speedup over CUB 3.0.1<' 'NVIDIA H200' 'higher is better'
    ! grep '>empty<' "$work/scan-over-cub.svg" || false
}

@test "plots: titles name the library's version, the keys, and what is better" {
    long_test
    local work=$BATS_TEST_TMPDIR
    scripts/plot.sh --output="$work" --only=sort-newest-cub-over-cub results/nvidia-h200/sort-newest-cub.csv
    has "$(cat "$work/sort-newest-cub-over-cub.svg")" '>Speedup over CUB 3.6.0<' 'Sort of u32, all 32 bits, uniform: speedup' \
        'Thrust 3.6.0' 'higher is better'
    python3 - >"$work/keys.csv" <<'END'
print("op,algo,type,n,device,input,max,time_ms,gelem_s,check")
for max in ("2^32-1", "63", "2^16", "1000"):
    for n in (64, 128, 256):
        for algo in ("auto", "cub"):
            print(f"sort,{algo},u32,{n},gpu,zipf,{max},1,1,passed")
END
    scripts/plot.sh --output="$work/drawn" "$work/keys.csv"
    has "$(cat "$work/drawn/keys-max-2-32-1-keys.svg")" 'Sort of u32, all 32 bits, zipf: effective throughput (higher is better)'
    has "$(cat "$work/drawn/keys-max-63-keys.svg")" 'Sort of u32, 6 bits, zipf'
    has "$(cat "$work/drawn/keys-max-2-16-time.svg")" 'Sort of u32, 0 to 2^16, zipf: time (lower is better)'
    has "$(cat "$work/drawn/keys-max-1000-keys.svg")" 'Sort of u32, 0 to 1000, zipf'
}

@test "plots: at most eight lines, the rest named; an excerpt if the file has all its lines" {
    long_test
    local work=$BATS_TEST_TMPDIR
    python3 - "$work" <<'END'
import csv, sys
listed = next(row for row in csv.DictReader(open("scripts/charts.csv")) if row["picture"] == "scan-ladder")
assert listed["from"] == "scan-bandwidth", listed
for name, algorithms in (("scan", listed["algorithms"].split() + [f"a{i}" for i in range(5)]), ("few", ["auto", "cub"])):
    with open(f"{sys.argv[1]}/{name}.csv", "w") as file:
        print("op,algo,type,n,device,time_ms,gb_s,check", file=file)
        for n in (64, 128, 256):
            for i, algo in enumerate(algorithms):
                print(f"scan,{algo},i32,{n},gpu,{1 + i},{10 + i},passed", file=file)
END
    scripts/plot.sh --output="$work/drawn" "$work/scan.csv"
    # Of a0 to a4, a4 has the highest throughput, and a0 the lowest time.
    has "$(cat "$work/drawn/scan-bandwidth.svg")" '>auto<' '>naive<' '>a2<' '>a4<' 'not drawn: a0; a1; efficient'
    ! grep '>a[01]<' "$work/drawn/scan-bandwidth.svg" || false
    has "$(cat "$work/drawn/scan-time.svg")" '>a0<' 'not drawn: a2; a3; a4'
    has "$(cat "$work/drawn/scan-ladder.svg")" '>memcpy<' '>auto<' '>cub<' '>efficient-smem<' '>efficient<' '>naive<'
    ! grep '>a[0-9]<\|not drawn' "$work/drawn/scan-ladder.svg" || false
    mv "$work/few.csv" "$work/scan.csv"
    scripts/plot.sh --output="$work/few" "$work/scan.csv"
    [ "$(cd "$work/few" && echo *.svg)" = "scan-bandwidth.svg scan-over-cub.svg scan-time.svg" ]
}

@test "plots: what is not the same has a picture or a line of its own" {
    long_test
    local work=$BATS_TEST_TMPDIR
    python3 - "$work" <<'END'
import csv, sys
def write(name, column, values):
    with open(f"{sys.argv[1]}/{name}.csv", "w", newline="") as file:
        out = csv.DictWriter(file, ["op", "algo", "type", "n", "block", "device", "gpus", "ranks", "engine", "input", "values",
                                    "label", "commit", "time_ms", "check"], restval="", lineterminator="\n")
        out.writeheader()
        for i, value in enumerate(values):
            for k in range(6, 10):
                for algo in ("auto", "cub"):
                    row = {"op": "sort", "algo": algo, "type": "u32", "n": 2**k, "device": "gpu", column: value, "check": "passed"}
                    out.writerow({**row, "time_ms": k + 10 * i})
for column, values in (("values", ["none", "u32"]), ("input", ["uniform", "zeros"]), ("label", ["", "x=1"]), ("commit", ["g1", "g2"])):
    write(column, column, values)
for column, values in (("gpus", ["1", "2"]), ("ranks", ["1", "2"]), ("engine", ["nccl", "peer"]), ("block", ["64", "128"])):
    write(column, column, values)
END
    local apart=(values-values-none-time values-values-u32-time input-uniform-time input-zeros-time label-x-1-time
        label-time commit-g1-time commit-g2-time)
    # Without those of keys per second, which take as long.
    run scripts/plot.sh --output="$work/plots" \
        --only="$(IFS=, && echo "${apart[*]}"),gpus-time,ranks-time,engine-time,block-time" "$work"/*.csv
    echo "$output"
    [ "$status" -eq 0 ]
    has "$output" "${apart[@]/%/.svg}"
    has "$(cat "$work/plots/gpus-time.svg")" '>auto<' '>auto, 2 GPUs<' '>cub<' '>cub, 2 GPUs<'
    has "$(cat "$work/plots/ranks-time.svg")" '>auto<' '>auto, 2 processes<'
    has "$(cat "$work/plots/engine-time.svg")" '>auto, nccl<' '>auto, peer<'
    has "$(cat "$work/plots/block-time.svg")" '>auto, block 64<' '>auto, block 128<'
    has "$(cat "$work/plots/values-values-u32-time.svg")" 'u32 values'
}

@test "plots: time against the length of rows, for each array size" {
    long_test
    local work=$BATS_TEST_TMPDIR
    quick --algo=serial,simd --n=1000,2000 --segments=none,rows:10,rows:2^6,rows:100,keys:7 --output="$work/rows.csv"
    run scripts/plot.sh --output="$work/plots" --only=rows-rows-1000,rows-rows-2000 "$work/rows.csv"
    [ "$status" -eq 0 ]
    has "$(cat "$work/plots/rows-rows-1000.svg")" '>Elements of a row<' '>serial<' '>simd<' 'n = 1000'
    [ -f "$work/plots/rows-rows-2000.svg" ]
    # Two lengths make no line.
    quick --algo=serial --n=1000 --segments=rows:10,rows:100 --output="$work/two.csv"
    run scripts/plot.sh --output="$work/plots" "$work/two.csv"
    [ "$status" -eq 2 ]
}

@test "plots: of several runs the median is drawn" {
    local work=$BATS_TEST_TMPDIR
    # The line of `b` would be another one, were it the fastest, the last or the mean of the runs of `a`.
    python3 - >"$work/runs.csv" <<'END'
print("op,algo,type,n,device,time_ms,check")
for n in (64, 128, 256):
    for time in (5, 2, 1):
        print(f"scan,a,i32,{n},cpu,{time},passed")
    print(f"scan,b,i32,{n},cpu,2,passed")
END
    scripts/plot.sh --output="$work/plots" "$work/runs.csv"
    python3 - "$work/plots/runs-time.svg" <<'END'
import re, sys
lines = re.findall(r'<g id="line2d_\d+">\s*<path d="(M [^"]*)" clip-path', open(sys.argv[1]).read())
rounded = [[round(float(x), 3) for x in re.findall(r"[-\d.]+", line)] for line in lines]
last = rounded[-2:]
assert len(last) == 2 and last[0] == last[1], last
END
}

@test "plots: copies of several GPUs and builds have lines of their own, of several inputs pictures" {
    long_test
    local work=$BATS_TEST_TMPDIR
    python3 - >"$work/rows.csv" <<'END'
print("op,algo,type,n,device,host_memory,input,commit,time_ms,copies_ms,check")
for n in (0, 64, 128):
    for input in ("uniform", "zeros"):
        for device, memory in (("gpu0", "pinned"), ("gpu1", "pinned"), ("gpu0", "pageable")):
            print(f"scan,a,i32,{n},{device},{memory},{input},g1,1,2,passed")
        print(f"scan,serial,i32,{n},cpu,,{input},g1,5,,passed")
    print(f"scan,serial,i32,{n},cpu,,uniform,g2,7,,passed")
END
    run scripts/plot.sh --output="$work/plots" "$work/rows.csv"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cd "$work/plots" && echo scan-copies*.svg)" = "scan-copies-uniform.svg scan-copies-zeros.svg" ]
    has "$(cat "$work/plots/scan-copies-uniform.svg")" '>a, gpu0, no copies<' '>a, gpu1, no copies<' '>a, gpu0, copies, pinned<' \
        '>a, gpu1, copies, pinned<' '>a, copies, pageable<' '>serial, g1<' '>serial, g2<' '>best on the CPU<'
    has "$(cat "$work/plots/scan-copies-zeros.svg")" '>serial<'
}

@test "plots: efficiency has a line for each size, and none for n = 0" {
    local work=$BATS_TEST_TMPDIR
    python3 - >"$work/gpus.csv" <<'END'
print("op,algo,type,n,device,gpus,time_ms,efficiency_pct,check")
for n in (0, 1000, 1001, 1024, 123123123, 123123124):
    for gpus in (1, 2, 4):
        print(f"scan,auto,i32,{n},gpu,{gpus},1,{100 - gpus},passed")
END
    scripts/plot.sh --output="$work/plots" "$work/gpus.csv"
    has "$(cat "$work/plots/gpus-efficiency.svg")" '>auto, n = 1000<' '>auto, n = 1001<' '>auto, n = 2^10<' \
        '>auto, n = 123123123<' '>auto, n = 123123124<'
    ! grep 'n = 0<' "$work/plots/gpus-efficiency.svg" || false
}

@test "plots: what is not ours, or not there, is one line, exit 2" {
    local arguments
    printf 'a,b\n1,2\n' >"$BATS_TEST_TMPDIR/other.csv"
    printf 'op,algo,type,n,device,time_ms,check\nscan,naive,i32,8,cpu,1,passed\n' >"$BATS_TEST_TMPDIR/few.csv"
    for arguments in '' "$BATS_TEST_TMPDIR/none.csv" "$BATS_TEST_TMPDIR/other.csv" "$BATS_TEST_TMPDIR/few.csv" --outptu=x; do
        run --separate-stderr scripts/plot.sh ${arguments:+"$arguments"}
        echo "$arguments: exit $status; $stderr"
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "plot.sh: "* ]]
    done
}

# ---- Fields that cannot be drawn ----

# The readers take the kinds of columns from the program's table.
@test "plots, report: every column of the program is known, and of its kind" {
    PYTHONDONTWRITEBYTECODE=1 python3 - "$scanbench" <<'END'
import subprocess, sys
sys.path.insert(0, "scripts")
import csv_rows
header = subprocess.run([sys.argv[1], "--n=0", "--algo=serial", "--samples=1", "--format=csv", "--quiet"],
                        check=True, capture_output=True, text=True).stdout.splitlines()[0].split(",")
assert list(csv_rows.KINDS) == header, set(csv_rows.KINDS) ^ set(header)
assert {"n", "threads", "bytes"} <= csv_rows.COUNTS and not {"op", "time_ms"} & csv_rows.COUNTS
assert {"n", "keep", "time_ms", "baseline_ratio"} <= csv_rows.NUMBERS and "label" not in csv_rows.NUMBERS
END
}

@test "plots, report: no number where one must be: one line with file, line and column, exit 2" {
    local file=$BATS_TEST_TMPDIR/bad.csv wrong column value tool tools='plot report'
    for wrong in keep=abc keep=nan keep=2 n=inf n= n=1.5 n=-8 n=1e30 n=0x10 n=1_000 time_ms=nan time_ms=-1 time_ms=1e999 \
        gb_s=Infinity threads=two block=١ copies_ms=1,5; do
        column=${wrong%%=*} value=${wrong#*=}
        # The label of the first row takes two lines, so that the bad field is in line 5.
        python3 - "$column" "$value" >"$file" <<'END'
import csv, sys
columns = ["op", "algo", "type", "n", "block", "threads", "device", "keep", "time_ms", "gb_s", "copies_ms", "check", "label"]
out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
out.writeheader()
for k in range(4):
    row = dict(op="compact", algo="naive", type="i32", n=2**k * 32, device="cpu", keep="0.5", time_ms=k + 1, gb_s=3, check="passed")
    if k == 0:
        row["label"] = "two\nlines"
    if k == 2:
        row[sys.argv[1]] = sys.argv[2]
    out.writerow(row)
END
        # Both read files by the same functions: one of them shows every value.
        for tool in $tools; do
            run --separate-stderr "scripts/$tool.sh" --output="$BATS_TEST_TMPDIR/drawn" "$file"
            echo "$tool $wrong: exit $status; $stderr"
            [ "$status" -eq 2 ]
            [ -z "$output" ]
            [ "${#stderr_lines[@]}" -eq 1 ]
            [[ $stderr == "$tool.sh: $file, line 5, column $column: "* ]]
        done
        tools=report
    done
    # Not skipped in a folder, unlike a file that is not scanbench's.
    run scripts/report.sh --output="$BATS_TEST_TMPDIR/drawn" "$BATS_TEST_TMPDIR"
    [ "$status" -eq 2 ]
}

@test "plots: a \$ in a name is a \$, not a formula" {
    local work=$BATS_TEST_TMPDIR
    python3 - >"$work/dollars.csv" <<'END'
import csv, sys
columns = ["op", "algo", "kernel", "type", "kind", "n", "device", "device_name", "cache", "time_ms", "gb_s", "share_pct",
           "check", "date"]
out = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
out.writeheader()
for k in range(4):
    for name in (r"$\frac$", r"a\$b", "one$", "$x$ and $y$", "bell\a", "plain"):
        row = dict(op=r"$\op$", algo=name, type=r"$\t$", kind="$", n=2**k * 32, device="cpu", device_name=r"$\frac{1}$",
                   cache=r"$\c$", time_ms=k + 1, gb_s=3, check="passed", date="$2026")
        out.writerow(row)
        out.writerow({**row, "kernel": r"$\k$", "share_pct": 100})
END
    run --separate-stderr scripts/plot.sh --output="$work/drawn" "$work/dollars.csv"
    echo "$output; $stderr"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    # They are no shell variables.
    # shellcheck disable=SC2016
    has "$(cat "$work/drawn/dollars-time.svg")" '>$\frac$<' '>a\$b<' '>one$<' '>$x$ and $y$<' '>bell?<' '>plain<' '$\frac{1}$' \
        '$\op$' '$\t$' '$\c$ caches' '$2026'
    # shellcheck disable=SC2016
    has "$(cat "$work/drawn/dollars-kernels.svg")" '>$\k$<' '>$\frac$<'
}

@test "plots: PNG is white, SVG transparent; no label on a line or on another label; --only" {
    long_test
    local work=$BATS_TEST_TMPDIR python=python3
    python3 -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
    # With a line that ends in the middle.
    python3 - >"$work/cpu.csv" <<'END'
print("op,algo,type,n,device,time_ms,gb_s,check")
for k in range(6, 11):
    for i, algo in enumerate(("serial", "simd", "std", "memcpy")):
        if algo != "memcpy" or k < 9:
            print(f"scan,{algo},i32,{2**k},cpu,{2**k * (i + 1 + k % 2) / 1e6},{(10 - i) * k},passed")
END
    PYTHONDONTWRITEBYTECODE=1 "$python" - "$work" <<'END'
import os, sys
sys.path.insert(0, "scripts")
import plot, numpy
from matplotlib.image import imread
from matplotlib.text import Text
work = sys.argv[1]
shown = []
def look(figure, stem, written):
    figure.canvas.draw()
    axes = figure.axes[0]
    boxes = [Text.get_window_extent(text) for text in axes.texts] # without its leader
    assert len(boxes) == 4, boxes
    # In the right margin where a line ends there, else beside the end.
    inside = [box for box in boxes if box.x0 < axes.get_window_extent().x1]
    assert len(inside) == 1, boxes
    for line in axes.lines:
        for x, y in zip(*(numpy.interp(numpy.arange(0, len(line.get_xdata()) - 1, 0.01), range(len(line.get_xdata())), data)
                          for data in axes.transData.transform(line.get_xydata()).T)):
            assert not inside[0].contains(x, y), (line, inside)
    ends = [axes.transData.transform(line.get_xydata()[-1]) for line in axes.lines]
    assert min(numpy.hypot(x - min(max(x, inside[0].x0), inside[0].x1), y - min(max(y, inside[0].y0), inside[0].y1))
               for x, y in ends) < 60, inside
    assert not any(a is not b and a.overlaps(b) for a in boxes for b in boxes), boxes
    shown.append(stem)
    save(figure, stem, written)
save, plot.save = plot.save, look
plot.main([f"--output={work}/drawn", f"{work}/cpu.csv"])
assert len(shown) == 2, shown
for stem in shown:
    assert imread(stem + ".png")[0, 0].tolist() == [1, 1, 1, 1], stem
    with open(stem + ".svg") as file:
        assert "fill: #ffffff" not in file.read(), stem
plot.main([f"--output={work}/one", "--only=cpu-time", f"{work}/cpu.csv"])
assert sorted(os.listdir(f"{work}/one")) == ["cpu-time.png", "cpu-time.svg"], os.listdir(f"{work}/one")
END
}

@test "results: each picture is shown by a page" {
    local picture
    for picture in results/*/plots/*; do
        grep -qF "plots/$(basename "${picture%.*}").svg" README.md docs/*.md "$(dirname "$(dirname "$picture")")/README.md" || {
            echo "nobody shows $picture"
            return 1
        }
    done
}

@test "results: each CSV file is quoted, linked or drawn by a page, or is what a table was made from" {
    local file folder
    for file in results/*-*/*.csv; do
        folder=$(dirname "$file")
        grep -qF "$file" README.md docs/*.md results/*/*.md bench/rows/*.def ||
            grep -qF " | $(basename "$file") " "$folder"/*.md || # of the table of least ratios
            compgen -G "$folder/plots/$(basename "$file" .csv)-*" >/dev/null || {
            echo "nobody quotes $file"
            return 1
        }
    done
}
