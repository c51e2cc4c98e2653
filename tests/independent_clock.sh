#!/bin/sh
# independent_clock.sh SCANBENCH CLOCK: times memcpy and CUB's scan with both, and
# ends with 1 if they differ by more than 3 % anywhere. CLOCK is the program of
# tests/independent_clock.cu (`make independent-clock`). Needs a GPU.
set -eu

scanbench=$1
clock=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$clock" >"$folder/clock"
columns=algo,n,cache,time_ms
"$scanbench" --quiet --device=gpu --algo=memcpy,cub --n=2^16,2^22,2^28 --columns=$columns \
    --format=csv >"$folder/scanbench"
"$scanbench" --quiet --device=gpu --algo=memcpy,cub --n=2^28 --cache=hot --columns=$columns \
    --format=csv | sed 1d >>"$folder/scanbench"

awk -F, '
    FNR == 1 { next }
    NR == FNR { time[$1, $2, $3] = $4; next }
    {
        wanted = time[$1, $2, $3]
        off = wanted > 0 ? 100 * ($4 / wanted - 1) : 100
        good = off <= 3 && off >= -3
        printf "%s  %-7s n = %-10s %-5s %.6f ms, by the other clock %.6f ms: %+.2f %%\n", \
            good ? "ok    " : "FAILED", $1, $2, $3, $4, wanted, off
        bad += !good
        seen++
    }
    END {
        print seen - bad " passed, " bad + 0 " failed"
        exit bad > 0 || seen != 8
    }' "$folder/clock" "$folder/scanbench"
