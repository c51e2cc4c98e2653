#!/bin/sh
# profile.sh traffic|stalls|counts FLAG...: profiles each launch of our GPU algorithms with
# Nsight Compute, as CSV. FLAGs are scanbench's, for one size and one block size:
# scripts/profile.sh traffic --algo=own --n=2^29. Needs a GPU whose counters may be read.
#   traffic: time and DRAM bytes, all read in one pass, caches as the launch finds them
#   stalls:  shared memory, occupancy, and the reasons for which warps stall:
#            several passes, each from flushed caches
#   counts:  what the emulator's --counts counts; compare-counts.sh compares the two
set -eu
cd "$(dirname "$0")/.."
scanbench=${SCANBENCH:-./scanbench}

usage() {
    echo "usage: scripts/profile.sh traffic|stalls|counts FLAG..., such as --algo=own --n=2^26" >&2
    exit 2
}

[ $# -gt 1 ] || usage
what=$1
shift
case $what in
traffic)
    caches=none
    metrics='gpu__time_duration.sum dram__bytes_read.sum dram__bytes_write.sum
        dram__throughput.avg.pct_of_peak_sustained_elapsed'
    ;;
stalls)
    caches=all
    metrics='gpu__time_duration.sum
        dram__throughput.avg.pct_of_peak_sustained_elapsed
        lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum
        lts__t_sectors.avg.pct_of_peak_sustained_elapsed
        l1tex__t_sector_hit_rate.pct
        l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
        l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
        l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
        sm__warps_active.avg.pct_of_peak_sustained_active
        smsp__issue_active.avg.pct_of_peak_sustained_active'
    for why in long_scoreboard short_scoreboard barrier mio_throttle lg_throttle wait drain \
        not_selected; do
        metrics="$metrics smsp__average_warps_issue_stalled_${why}_per_issue_active.ratio"
    done
    metrics="$metrics smsp__average_warp_latency_per_inst_issued.ratio"
    ;;
counts)
    caches=none
    metrics=
    for kind in ld st; do
        metrics="$metrics l1tex__t_requests_pipe_lsu_mem_global_op_$kind.sum"
        metrics="$metrics l1tex__t_sectors_pipe_lsu_mem_global_op_$kind.sum"
    done
    metrics="$metrics smsp__sass_inst_executed_op_shared.sum
        l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
    ;;
*) usage ;;
esac

# The first calls of the algorithms, launch by launch, are in the order of the rows. libscanbench,
# whose launches are not counted, is left out: they would be taken for those of the next row.
launches=$(mktemp)
profile=$(mktemp)
trap 'rm -f "$launches" "$profile"' EXIT
"$scanbench" --device=gpu --samples=1 --quiet --format=csv --columns=check,algo,launches "$@" |
    sed -n '/,0$/d; s/^passed,//p' >"$launches"
count=$(awk -F , '{ sum += $2 } END { print sum + 0 }' "$launches")
[ "$count" -gt 0 ] || { echo "profile.sh: nothing was launched by: $*" >&2; exit 1; }
set -- "$@" --algo="$(cut -d , -f 1 "$launches" | paste -sd ,)"

# The kernels of these rows, without those of the harness.
names=$("$scanbench" --device=gpu --samples=1 --quiet --format=csv --kernels --columns=kernel "$@" |
    sed 1d | grep . | sort -u | paste -sd '|')

# shellcheck disable=SC2086  # $metrics is words
ncu --clock-control none --cache-control "$caches" --csv --page raw --print-units base \
    --print-kernel-base function --launch-count "$count" --kill yes \
    --kernel-name "regex:^($names)\$" \
    --metrics "$(echo $metrics | tr ' ' ,)" \
    "$scanbench" --device=gpu --samples=1 --quiet --format=csv --columns=check "$@" >"$profile" || true

# Fields are quoted, and numbers may contain commas. The row after the header has the units.
awk -v metrics="$metrics" '
BEGIN { wanted = split(metrics, metric, " "); row = 1 }
NR == FNR { split($0, field, ","); algo[NR] = field[1]; last[NR] = last[NR - 1] + field[2]; next }
!/^"/ { next }
{ sub(/^"/, ""); sub(/"$/, ""); fields = split($0, field, "\",\"") }
!header {
    for (i = 1; i <= fields; i++) at[field[i]] = i
    header = "algo,launch,kernel,grid,block"
    for (m = 1; m <= wanted; m++) header = header "," metric[m]
    print header
    next
}
field[1] == "" { next }
{
    launch++
    if (launch > last[row]) row++
    grid = field[at["Grid Size"]]; block = field[at["Block Size"]]
    gsub(/[( ]|,.*/, "", grid); gsub(/[( ]|,.*/, "", block)
    line = algo[row] "," launch - last[row - 1] "," field[at["Kernel Name"]] "," grid "," block
    for (m = 1; m <= wanted; m++) {
        value = field[at[metric[m]]]; gsub(/,/, "", value)
        line = line "," value
    }
    print line
}' "$launches" "$profile"
lines=$(grep -c '^"' "$profile" || true)
[ "$lines" -eq $((count + 2)) ] || {
    echo "profile.sh: $count launches were expected, $((lines - 2)) profiled; ncu said:" >&2
    grep -v '^"' "$profile" | tail -n 20 >&2
    exit 1
}
