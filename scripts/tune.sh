#!/bin/bash
# tune.sh [--device=GPU] [--max-time=S] [--output=FILE]: measures our fastest
# algorithms on this machine's GPU at every size, type width and block size, and
# prints lines for bench/choices.def that name the fastest for each. Insert them
# before all others there except those of rows, and rebuild: `auto` then knows this GPU.
#
# A choice is kept for the next size while it is within 1.5 % of the best, so that
# noise does not make it alternate. FILE, which must be new or empty, receives the rows as they
# are measured. Rows that could not go there, or that have no FILE when something fails, stay in a
# temporary file, which is named.
set -euo pipefail
cd "$(dirname "$0")/.."

device=0
max_time=0.1
output=
for argument; do
    case $argument in
    --device=*) device=${argument#*=} ;;
    --max-time=*) max_time=${argument#*=} ;;
    --output=*) output=${argument#*=} ;;
    --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | grep -v '^set'
        exit 0
        ;;
    *)
        echo "tune.sh: $argument: --device=, --max-time=, --output= or --help" >&2
        exit 2
        ;;
    esac
done
scanbench=${SCANBENCH:-./scanbench}
complain() {
    echo "tune.sh: $*" >&2
}

# Both before hours of measuring.
if ! python3 -c '' 2>/dev/null; then
    complain "no python3 runs here; on Debian and Ubuntu: sh scripts/install-deps.sh report"
    exit 1
fi
if [ -s "$output" ]; then
    complain "--output=$output: it has rows already; name a new file"
    exit 2
elif [ -n "$output" ] && ! : 2>/dev/null >>"$output"; then
    complain "--output=$output: it cannot be written; name a file in a folder that is there"
    exit 2
fi

work=$(mktemp -d)
keep=

# The only copy of what was measured is not removed.
finish() {
    local code=$?
    if [ -s "$work/rows.csv" ]; then
        if [ -n "$keep" ] || { [ "$code" -ne 0 ] && [ -z "$output" ]; }; then
            complain "the rows are in $work/rows.csv"
            return
        fi
        [ "$code" -eq 0 ] || complain "the rows so far are in $output"
    fi
    rm -rf "$work"
}
trap finish EXIT

# append FILE: appends the rows of $work/part.csv, with one header.
append() {
    if [ -s "$1" ]; then
        sed 1d "$work/part.csv" >>"$1"
    else
        cat "$work/part.csv" >>"$1"
    fi
}

# measure FLAG...: appends rows to $work/rows.csv and to FILE.
measure() {
    local code=0
    "$scanbench" --device="$device" --quiet --format=csv --max-time="$max_time" --cache=cold,hot \
        --pot --npot --columns=device_name,op,type,n,algo,block,cache,time_ms,check "$@" >"$work/part.csv" || code=$?
    append "$work/rows.csv"
    if [ -n "$output" ] && [ -z "$keep" ] && ! append "$output"; then
        complain "--output=$output: it can no longer be written"
        keep=yes
    fi
    [ "$code" -eq 0 ] || exit "$code"
}

for type in u8 i16 i32 i64; do
    for op in scan compact; do
        measure --op=$op --type=$type --algo=one-wave,lookback --n='2^10..2^19*2' \
            --block=64,128,256,512,1024
        measure --op=$op --type=$type --algo=cluster --n='2^10..2^17*2' --block=128,256,512
        measure --op=$op --type=$type --algo=one-wave,lookback --n='2^20..2^24*2' \
            --block=256,512,1024
        measure --op=$op --type=$type --algo=lookahead --n='2^18..2^29*2'
        measure --op=$op --type=$type --algo=lookback --n='2^25..2^29*2' --block=256,512
    done
    measure --op=reduce --type=$type --algo=single-pass --n='2^10..2^29*2' --block=128,256,512,1024
done
# Keys of all bits. msd is left out for many: it is the fastest for keys that are spread as evenly
# as these, but far from it where keys are skewed.
for type in u32 u64; do
    most=2^${type#u}-1
    measure --op=sort --type=$type --max="$most" --algo=enumeration,msd,one-block --n='2^12..2^14*2'
    measure --op=sort --type=$type --max="$most" --algo=sample,onesweep,adaptive --n='2^12..2^28*2'
done

# A candidate's score at a size is the product of its cold and its hot time, so that both
# count.
python3 - "$work/rows.csv" <<'PYTHON'
import csv, sys
from collections import defaultdict

times = defaultdict(lambda: defaultdict(dict))
for row in csv.DictReader(open(sys.argv[1])):
    if row["check"] != "passed":
        continue
    key = row["device_name"], row["op"], int(row["type"][1:]) // 8
    candidate = row["algo"], row["block"] or "0"
    sizes = times[key][int(row["n"])]
    sizes.setdefault(candidate, {})[row["cache"]] = float(row["time_ms"])

for (device, op, size_bytes), sizes in times.items():
    ranges = []
    for n in sorted(sizes):
        cost = {c: t["cold"] * t["hot"] for c, t in sizes[n].items() if len(t) == 2}
        best = min(cost, key=cost.get)
        if ranges and cost.get(ranges[-1][0], 1e99) <= 1.03 * cost[best]:
            best = ranges[-1][0]
        if ranges and ranges[-1][0] == best:
            ranges[-1][1] = n
        else:
            ranges.append([best, n])
    ranges[-1][1] = "UINT64_MAX"
    for (algo, block), up_to in ranges:
        print(f'CHOICE(DEVICE_GPU, "{device}", OP_{op.upper()}, {size_bytes}, {up_to}, "{algo}", {block})')
PYTHON
[ -z "$keep" ]
