#!/bin/sh
# independent_clock.sh SCANBENCH CLOCK: times memcpy and CUB's scan with both programs,
# and exits with 1 if they differ by more than 3 % anywhere. CLOCK is the program of
# tests/gpu/independent_clock.cu (`make independent-clock`). Needs a GPU.
#
# Both run PROCESSES times in turn, and the medians count: the addresses of a process's
# code and memory change short times by up to a tenth, in either program.
set -eu
export LC_ALL=C

PROCESSES=5
scanbench=$1
clock=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run_scanbench FLAG...: prints the rows of memcpy and CUB, without the header.
run_scanbench() {
    "$scanbench" --quiet --device=gpu --algo=memcpy,cub --columns=algo,n,cache,time_ms \
        --format=csv "$@" | sed 1d
}

"$clock" >"$folder/wakes_the_gpu_up"
for _ in $(seq $PROCESSES); do
    "$clock" | sed "1d;s/^/clock,/"
    run_scanbench --n=2^16,2^22,2^28 | sed "s/^/scanbench,/"
    run_scanbench --n=2^28 --cache=hot | sed "s/^/scanbench,/"
done >"$folder/times"

# The times, sorted within each case and program, so that the middle one is the median.
sort -t, -k1,4 -k5,5g "$folder/times" | awk -F, -v processes="$PROCESSES" '
    $5 > 0 { time[$1, $2, $3, $4, ++seen[$1, $2, $3, $4]] = $5 }
    $1 == "scanbench" && seen[$1, $2, $3, $4] == 1 { row[++rows] = $2 SUBSEP $3 SUBSEP $4 }
    function median(who, what) {
        return seen[who, what] == processes ? time[who, what, (processes + 1) / 2] : 0
    }
    function range(who, what) {
        return sprintf("%.6f (%.6f to %.6f)", median(who, what), time[who, what, 1],
                       time[who, what, processes])
    }
    END {
        for (r = 1; r <= rows; r++) {
            split(row[r], part, SUBSEP)
            ours = median("scanbench", row[r]); theirs = median("clock", row[r])
            off = ours > 0 && theirs > 0 ? 100 * (ours / theirs - 1) : 100
            good = off <= 3 && off >= -3
            printf "%s  %-6s n = %-9s %-4s %s ms, by the other clock %s: %+.2f %%\n",
                good ? "ok    " : "FAILED", part[1], part[2], part[3],
                range("scanbench", row[r]), range("clock", row[r]), off
            bad += !good
        }
        print rows - bad " passed, " bad + 0 " failed"
        exit bad > 0 || rows != 8
    }'
