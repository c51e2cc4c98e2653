#!/usr/bin/env bats
# measuring: what a run measures in addition to its time.

# shellcheck disable=SC2154 # setup() of helpers sets them
load helpers

@test "--kernels: a row for each launch, behind the row of the whole" {
    quick --algo=naive,efficient-smem --device=emulator --n=1000,5000 --block=64,128 --kernels \
        --output="$rows"
    read_csv "$rows" algo n block kernel launch launches grid launch_block share_pct \
        static_shared_bytes dynamic_shared_bytes time_ms | awk -F '\t' '
            function end() { if (launches != seen) { print "launches: " launches ", rows: " seen; bad = 1 } }
            $4 == "" { end(); whole = $1 $2 $3; launches = $6; seen = 0; next }
            { seen++ }
            $1 $2 $3 != whole || $5 != seen || $6 != "" { print "not in its place: " $0; bad = 1 }
            $4 !~ /_kernel$/ || $7 < 1 || $8 > $3 || $9 <= 0 || $10 == "" || $11 == "" || $12 <= 0 {
                print "not as it should be: " $0
                bad = 1
            }
            END { end(); exit bad || NR < 30 }'
    [ "$(read_csv "$rows" kernel grid launch_block n block | grep -c $'^hillis_steele_first_kernel\t4\t64\t1000\t64$')" -eq 1 ]
}

# kept_by ALGO: prints how many of 100000 elements its compaction kept, by the bytes of its row.
kept_by() {
    read_csv "$rows" algo kernel bytes |
        awk -F '\t' -v algo="$1" '$1 == algo && $2 == "" { print $3 / 4 - 100000 }'
}

@test "--kernels: bytes of a launch, and gb_s by them" {
    # 0.75 of 100000 are kept: the map writes one flag per element, the scatter reads both.
    quick --op=compact --algo=efficient-smem,one-wave --device=emulator --n=100000 --keep=0.75 \
        --kernels --output="$rows"
    # Each has data of its own.
    local over_scan one_wave
    over_scan=$(kept_by efficient-smem) one_wave=$(kept_by one-wave)
    [ "$over_scan" -gt 74000 ] && [ "$over_scan" -lt 76000 ]
    [ "$one_wave" -gt 74000 ] && [ "$one_wave" -lt 76000 ]
    [ "$(read_csv "$rows" kernel bytes | awk '!/tile_scan/ && !/uniform_add/' | tr '\t\n' '  ')" = "\
 $((4 * (100000 + over_scan))) map_kernel 800000 scatter_kernel $((800000 + 4 * over_scan))\
  $((4 * (100000 + one_wave))) one_wave_kernel $((4 * (100000 + one_wave))) " ]
    read_csv "$rows" bytes gb_s time_ms | awk -F '\t' '
        { wanted = $1 / $3 / 1e6 }
        $2 < wanted * 0.999 || $2 > wanted * 1.001 { print "gb_s: " $0; bad = 1 }
        END { exit bad || NR < 6 }'
    # A scan reads and writes its elements, and writes one total per tile.
    quick --algo=efficient-smem --device=emulator --n=100000 --block=128 --type=f64 --kernels --output="$rows.f64"
    [ "$(read_csv "$rows.f64" kernel bytes | head -n 2 | tail -n 1)" = "$(printf 'tile_scan_kernel\t%d' \
        $((8 * (200000 + (100000 + 255) / 256))))" ]
}

@test "--kernels: the shares of a run add up to 100 %" {
    quick --algo=naive,efficient,warp-shuffle --device=emulator --n=1,1000,70000 --kernels --output="$rows"
    read_csv "$rows" algo n kernel share_pct | awk -F '\t' '
        function end() { if (runs++ && (sum < 99.99 || sum > 100.01)) { print "sum: " sum; bad = 1 } }
        $3 == "" { end(); sum = 0; next }
        { sum += $4 }
        END { end(); exit bad || runs != 10 }'
}

@test "--kernels: without it there is only the whole, and its occupancy" {
    quick --algo=naive,memcpy --device=cpu,emulator --n=1000 --output="$rows"
    [ "$(read_csv "$rows" algo device kernel launch launches occupancy_pct | tr '\t' ,)" = "\
memcpy,cpu,,,,
naive,emulator,,,10,100
memcpy,emulator,,,0," ]
}

@test "--kernels: what does not launch has no further rows; a table names what has" {
    quick --algo=serial,memcpy,naive --device=cpu,emulator --n=100 --kernels --output="$rows"
    [ "$(read_csv "$rows" algo kernel | grep -cv $'\t$')" -eq 7 ]
    run quick --algo=naive --device=emulator --n=100 --kernels --format=table
    has "$output" '  1 hillis_steele_first ' '  7 hillis_steele_step ' share grid occupancy ' 100.0 %'
    [ "$(awk 'length > 80' <<<"$output")" = '' ]
}

@test "--kernels: a CPU launches none" {
    fails 2 --kernels --device=cpu
    has "$stderr" --kernels --device=cpu 'emulator'
}

@test "--copies: the whole is no less than its parts, pageable or pinned" {
    quick --op=scan,compact,sort --algo=naive --device=emulator --n=0,1,20000 --copies --output="$rows"
    quick --algo=naive,serial --device=cpu,emulator --n=1000 --copies --pinned --output="$rows.pinned"
    [ "$(read_csv "$rows" host_memory | uniq -c | tr -d ' ')" = 9pageable ]
    [ "$(read_csv "$rows.pinned" algo host_memory | tr '\t' ,)" = $'serial,\nnaive,pinned' ]
    read_csv "$rows" copies_ms h2d_ms d2h_ms | awk -F '\t' '
        $1 == "" || $2 == "" || $3 == "" || $1 < $2 + $3 { print; bad = 1 } END { exit bad }'
    [ "$(read_csv "$rows.pinned" copies_ms h2d_ms d2h_ms | head -n 1)" = $'\t\t' ]
}

@test "--copies: --resume knows rows with other copies, or none, from these" {
    local flags=(--algo=naive --device=emulator --n=1000 --resume --output="$rows")
    quick "${flags[@]}"
    quick "${flags[@]}" --copies
    quick "${flags[@]}" --copies --pinned
    quick "${flags[@]}" --copies
    [ "$(read_csv "$rows" host_memory | tr '\n' ,)" = ,pageable,pinned, ]
    # Without that column it could not tell.
    local columns
    columns=$("$scanbench" --list-columns | awk '$1 != "host_memory" { print $1 }' | paste -sd, -)
    quick --algo=naive --device=emulator --n=1000 --resume --output="$rows.less" --columns="$columns"
    fails 2 --algo=naive --device=emulator --n=1000 --resume --output="$rows.less" --columns="$columns" --copies
    has "$stderr" --resume host_memory
}

@test "--copies: a table says them too" {
    run quick --algo=naive --device=emulator --n=1000 --copies --format=table
    [[ ${lines[-2]} == *' copies '* && ${lines[-1]} =~ \ [0-9.]+\ [mu]s\ +passed$ ]]
}

@test "--copies: not of the CPU; --pinned: not without --copies" {
    fails 2 --copies --device=cpu
    has "$stderr" --copies --device=cpu
    fails 2 --pinned
    has "$stderr" --pinned --copies
}

@test "quartiles stand between the ends and the median" {
    "$scanbench" --quiet --algo=serial,naive --device=cpu,emulator --n=1000 --samples=20 --output="$rows"
    read_csv "$rows" time_min_ms time_q1_ms time_ms time_q3_ms time_max_ms | awk -F '\t' '
        $1 > $2 || $2 > $3 || $3 > $4 || $4 > $5 || $1 == "" { print; bad = 1 } END { exit bad || NR != 2 }'
    # Facts known only for a GPU.
    [ "$(read_csv "$rows" throttled_samples energy_mj | sort -u)" = $'\t' ]
    fails 2 --energy --device=cpu
    has "$stderr" --energy --device=cpu
}

@test "--max-noise: % memcpy is marked where memcpy's own time is" {
    local flags=(--device=cpu --algo=serial --n=2^20 --max-time=10ms --format=table --quiet)
    run "$scanbench" "${flags[@]}" --max-noise=1e-12
    has "$output" '! passed'
    run "$scanbench" "${flags[@]}" --max-noise=1e6
    [[ $output != *'!'* ]]
}

@test "--min-time, --max-time, --max-noise: when to stop, and never without a row" {
    # Unreachable noise: the time runs out, and the row is there.
    "$scanbench" --quiet --algo=serial --n=2^20 --cache=hot --max-noise=0 --max-time=100ms --output="$rows"
    read_csv "$rows" samples noise_pct check |
        awk -F '\t' '$1 < 11 || $2 == "" || $3 != "passed" { print; bad = 1 } END { exit bad }'
    # A time far too short: the fewest samples.
    "$scanbench" --quiet --algo=serial --n=2^20 --cache=hot --max-time=1ms --output="$rows.short"
    read_csv "$rows.short" samples | awk '$1 < 11 || $1 > 26 { print; bad = 1 } END { exit bad }'
    # A least time: the samples add up to it.
    "$scanbench" --quiet --algo=serial --n=2^20 --cache=hot --max-noise=100 --min-time=50ms \
        --output="$rows.long"
    read_csv "$rows.long" samples time_mean_ms |
        awk -F '\t' '$1 * $2 < 49.5 { print; bad = 1 } END { exit bad }'
}

@test "--max-time: what it costs to flush the caches counts" {
    local start=$EPOCHREALTIME
    "$scanbench" --quiet --algo=serial --device=cpu --n=10 --cache=dirty --max-noise=0 --max-time=500ms \
        --output="$rows"
    local took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
    echo "took $took ms, $(read_csv "$rows" samples) samples"
    # Two rows (memcpy is measured too), 0.5 s each, or 11 samples if they take longer.
    [ "$took" -lt 2500 ] || [ "$(read_csv "$rows" samples)" -le 12 ]
}

@test "--device-info: limits, caches, and what a multiprocessor holds of each block size" {
    run --separate-stderr "$scanbench" --device-info --device=cpu,emulator
    [ "$status" -eq 0 ]
    has "$output" cores SIMD 'level 2 cache' 'compute capability' 'registers per multiprocessor' \
        'resident' '   1024        2    100.0 %'
    "$scanbench" --device-info --device=cpu,emulator --format=json >"$rows"
    python3 - "$rows" <<'END'
import json, os, sys
cpu, emulator = json.load(open(sys.argv[1]))
assert cpu["device"] == "cpu" and cpu["logical_processors"] == os.cpu_count() >= cpu.get("cores", 1)
assert cpu["blocks"] == [] and cpu["memory_bytes"] > cpu["memory_free_bytes"] > 0
assert emulator["warp_size"] == 32 and emulator["shared_bytes_per_block_optin"] == 227 * 1024
assert [b["block"] for b in emulator["blocks"]] == [32, 64, 128, 256, 512, 1024]
assert [b["resident_blocks"] for b in emulator["blocks"]] == [32, 32, 16, 8, 4, 2]
END
    fails 4 --device-info --device=gpu --format=json
}

@test "--max-time: what it costs to sort the samples counts" {
    local start=$EPOCHREALTIME
    "$scanbench" --quiet --algo=serial --device=cpu --n=10 --cache=hot --max-noise=0 --max-time=500ms \
        --output="$rows"
    local took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
    echo "took $took ms, $(read_csv "$rows" samples) samples"
    [ "$(read_csv "$rows" samples)" -gt 2000 ]
    [ "$took" -lt 4000 ]
}

# ---- Threads ----

# More threads than processors, so waiting threads must yield.
export OMP_WAIT_POLICY=passive

# algorithms THREADS: prints "algo threads check" of the multi-threaded algorithms, one per
# line.
algorithms() {
    quick --device=cpu --algo=parallel,omp-scan,memcpy --n=2^20 --threads="$1" --output="$rows"
    read_csv "$rows" algo threads check reason
    rm "$rows"
}

@test "threads: a row has those it names, or says why not" {
    local -x OMP_THREAD_LIMIT=1
    run algorithms 2
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cut -f1-3 <<<"$output" | paste -sd' ')" = $'parallel\t2\tpassed omp-scan\t2\tskipped memcpy\t2\tpassed' ]
    [ "$(grep -c 'OMP_THREAD_LIMIT allows OpenMP 1 thread$' <<<"$output")" -eq 1 ]
    run algorithms auto
    [ "$(paste -sd' ' <<<"$output")" = $'parallel\t1\tpassed\t omp-scan\t1\tpassed\t memcpy\t1\tpassed\t' ]
    OMP_THREAD_LIMIT=3
    run algorithms 3,4
    [ "$(cut -f1-3 <<<"$output" | sort | paste -sd' ')" = \
        $'memcpy\t3\tpassed memcpy\t4\tpassed omp-scan\t3\tpassed omp-scan\t4\tskipped parallel\t3\tpassed parallel\t4\tpassed' ]
}

@test "threads: what the system cannot start is skipped, and no library ends the run" {
    local algo
    for algo in parallel omp-scan tbb std-par; do
        run bash -c 'ulimit -v 4000000; exec "$@"' _ "$scanbench" --device=cpu --algo="$algo" --n=2^20 \
            --threads=2,4096 --samples=1 --quiet --columns=threads,check,reason
        echo "$algo: exit $status: $output"
        [ "$status" -eq 0 ]
        [[ $output != *"not in this build"* ]] || continue
        [ "${lines[1]}" = 2,passed, ]
        [[ ${lines[2]} =~ ^4096,skipped,.*at\ most\ [0-9]+\ threads ]]
    done
}

@test "threads: OMP_NUM_THREADS is no number of threads that help" {
    OMP_NUM_THREADS=100000 run algorithms 2
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(cut -f2-3 <<<"$output" | sort -u)" = $'2\tpassed' ]
}

# most_threads ALGO COUNT [OP]: prints the most threads that the worker had while it ran on COUNT
# threads, without the helpers that memcpy, the ceiling of each row, has.
most_threads() {
    local most=0 now first worker=
    "$scanbench" --device=cpu --op="${3:-scan}" --algo="$1" --n=2^20 --threads="$2" --samples=20 --quiet --columns=check,threads \
        >"$rows" 3>&- &
    first=$!
    until worker=$(pgrep -P "$first"); do kill -0 "$first"; done
    while now=$(cat /proc/"$worker"/task/*/comm 2>/dev/null | grep -cvx helper) && [ "$now" -gt 0 ]; do
        [ "$now" -le "$most" ] || most=$now
    done
    wait "$first"
    [ "$(tail -n 1 "$rows")" = "passed,$2" ]
    echo "$most"
}

@test "threads: OpenMP's settings do not make them fewer than the row says" {
    local setting more=$(($(nproc) + 3))
    for setting in OMP_MAX_ACTIVE_LEVELS=0 OMP_DYNAMIC=true OMP_NUM_THREADS=1; do
        run env "$setting" bash -c "$(declare -p scanbench rows); $(declare -f most_threads); most_threads omp-scan $more"
        echo "$setting: $output"
        [ "$status" -eq 0 ]
        [ "$output" -ge "$more" ]
    done
}

@test "threads: libraries have as many as their rows say" {
    local algo op wanted more=$(($(nproc) + 3))
    for algo in omp-scan tbb std-par thrust-omp; do
        op=scan
        [ "$algo" != thrust-omp ] || op=reduce # its scan is serial
        quick --device=cpu --op="$op" --algo="$algo" --n=10 --columns=check,reason >"$rows.check"
        ! grep -q 'not in this build' "$rows.check" || continue
        run most_threads "$algo" "$more" "$op"
        wanted=$more
        case $algo in
        tbb | std-par) wanted=$((more + $(nproc) - 1)) ;; # those of OpenMP that checked results wait meanwhile
        esac
        # On a busy machine more may overlap by chance, or some be over before they are counted, not three times.
        for _ in 1 2; do
            { [ "$output" -gt "$wanted" ] && [ "$output" -le $((wanted + 2)) ]; } ||
                run most_threads "$algo" "$more" "$op"
        done
        # Beside them, one ends a run whose algorithm does not return, and its successor may begin.
        echo "$algo: $output, wanted $wanted, and one or two"
        [ "$status" -eq 0 ]
        [ "$output" -gt "$wanted" ]
        [ "$output" -le $((wanted + 2)) ]
    done
}
