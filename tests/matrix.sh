#!/bin/bash
# matrix.sh SCANBENCH [TABLE]: every algorithm of bench/algorithms.def, or of TABLE,
# at awkward sizes, with all block sizes, types, kinds, and with several inputs and
# seeds, on the CPU and in the emulator. Meant for a build with the address and undefined-behaviour sanitizers.
#
# It reads the table, so that an algorithm is tested from the moment it is there.
# One test is one algorithm on one device; its rows are counted, so that a row
# that is missing is a failure as much as one that is wrong. Prints TAP.
set -u

scanbench=$1
table=${2:-bench/algorithms.def}
jobs=$(nproc 2>/dev/null || echo 2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDA_VISIBLE_DEVICES=

# Skipped rows are as good as missing ones, unless they are among these:
# "OP ALGO DEVICE TYPE INPUT: REASON" as extended regular expressions.
expected_skips='^scan [^ ]+ [a-z]+ f(32|64) special: sums of NaN'
expected_skips="$expected_skips|: not in this build: install |^sort vqsort cpu f(32|64) "

blocks=(32 64 128 256 512 1024)
types=(i32 u32 i64 u64 f32 f64)
inputs=(ones zeros alternating sorted reversed special)

# Around every power of two, and so around every tile: whatever an algorithm's
# tile is, sizes of one less, just it, one more, and of several tiles are there.
awkward_sizes() {
    local log2 size
    echo 0
    for ((log2 = 0; log2 <= $1; log2++)); do
        size=$((1 << log2))
        echo $((size - 1))
        echo "$size"
        echo $((size + 1))
        [ "$size" -lt 8 ] || echo $((size - 3))
        [ "$size" -lt 8 ] || echo $((size * 5 / 8))
        [ "$size" -lt 64 ] || echo $((size * 3 + 5))
    done
}

sizes=$(awkward_sizes 12 | sort -nu | paste -sd, -)
# For the other types: a few of each sort.
few_sizes=0,1,2,31,33,63,64,65,127,129,640,1021,1024,1025,2047,2049,5003
# With the smallest blocks: more than tile^2 elements, so that totals of totals
# are scanned too, up to the tiles of 16 elements a thread.
deep_sizes=4097,16387,40960,65537,262149

# ---- What is to be run: a line a run, "KEY FLAG...", into $work/runs ----

# runs_of KEY OP ALGO DEVICE
runs_of() {
    local key=$1 common="--op=$2 --algo=$3 --device=$4 --samples=1" kinds='' block_flags=('') block
    local i type input seed
    [ "$2" != scan ] || kinds=--kind=exclusive,inclusive
    if obeys "$common" --block=32; then
        block_flags=("${blocks[@]/#/--block=}")
    elif obeys "$common" --threads=2; then
        block_flags=(--threads=1 --threads=2 --threads=3 --threads=7)
    fi
    # One block size a run: then scratch is exactly what that one asks for.
    for block in "${block_flags[@]}"; do
        echo "$key $common $kinds $block --n=$sizes"
    done
    echo "$key $common $kinds ${block_flags[0]} --n=$deep_sizes"
    # Every type with every block size and kind; with them, in turn, the inputs
    # and the seeds, which also set the order of blocks and threads.
    i=0
    for block in "${block_flags[@]}"; do
        for type in "${types[@]}"; do
            input=${inputs[i % ${#inputs[@]}]}
            seed=$((2 + i % 5))
            echo "$key $common $kinds $block --type=$type --input=$input --seed=$seed --n=$few_sizes"
            [ "$type" = i32 ] ||
                echo "$key $common $kinds $block --type=$type --seed=$seed --n=$few_sizes"
            i=$((i + 1))
        done
        i=$((i + 1)) # so that a type meets another input at the next block size
    done
    for seed in 2 3 4 5 6 7 8; do
        echo "$key $common $kinds ${block_flags[seed % ${#block_flags[@]}]} --seed=$seed --n=$few_sizes"
    done
    # Sums that wrap around.
    echo "$key $common $kinds ${block_flags[0]} --type=i32,u32,i64,u64 --max=2^31-1 --n=5003"
}

# obeys COMMON FLAG: does the algorithm know what to do with the flag?
obeys() {
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    "$scanbench" $1 "$2" --n=100 --dry-run >/dev/null 2>&1
}

# Each algorithm of the table on each device it is for, as "OP ALGO DEVICE".
# What only a GPU can run (DEVICE) is not for here.
algorithms() {
    sed -nE 's/^ALGORITHM\(([A-Z]+), *([a-z]+)_([A-Za-z0-9_]+)\).*/\1 \2 \3/p' "$table" |
        while read -r where op name; do
            case $where in
            CPU) echo "$op ${name//_/-} cpu" ;;
            GPU) echo "$op ${name//_/-} emulator" ;;
            esac
        done
}

# ---- Running ----

# run_one NUMBER KEY FLAG...: rows to $work/KEY.NUMBER.csv, or what was wrong to
# $work/KEY.NUMBER.bad.
run_one() {
    local number=$1 key=$2 code=0 rows
    shift 2
    rows=$work/$key.$number.csv
    "$scanbench" "$@" --quiet --columns=op,algo,device,type,input,kind,n,block,threads,check,reason \
        >"$rows" 2>"$work/$key.$number.err" || code=$?
    {
        [ "$code" -eq 0 ] || echo "exit $code"
        head -n 20 "$work/$key.$number.err"
        count_rows "$rows" "$@"
    } >"$work/$key.$number.bad"
    [ -s "$work/$key.$number.bad" ] ||
        rm "$work/$key.$number.bad"
}

# length LIST: how many items are joined by commas.
length() {
    local items=()
    IFS=, read -ra items <<<"$1"
    echo "${#items[@]}"
}

# count_rows FILE FLAG...: as many rows as the lists of the flags make, each of
# them different, all of them passed or expected to be skipped. Else says so.
count_rows() {
    local rows=$1 wanted=1 flag
    shift
    for flag; do
        case $flag in
        --n=* | --kind=* | --type=*) wanted=$((wanted * $(length "${flag#*=}"))) ;;
        esac
    done
    awk -F , -v wanted="$wanted" -v skips="$expected_skips" '
        NR == 1 { next }
        {
            reason = $0
            for (i = 1; i <= 10; i++)
                sub(/^[^,]*,/, "", reason)
            gsub(/"/, "", reason)
            key = $1 " " $2 " " $3 " " $4 " " $5
            if (seen[$1, $2, $3, $4, $5, $6, $7, $8, $9]++)
                print "twice: " $0
            if ($10 != "passed" && !($10 == "skipped" && (key ": " reason) ~ skips))
                print $0
        }
        END { if (NR - 1 != wanted) print NR - 1 " rows, where " wanted " were expected" }' "$rows"
}

mapfile -t tests < <(algorithms)
number=0
for line in "${tests[@]}"; do
    read -r op algo device <<<"$line"
    runs_of "$op-$algo-$device" "$op" "$algo" "$device"
done | while read -r line; do
    number=$((number + 1))
    echo "$number $line"
done >"$work/runs"

export -f run_one count_rows length
export scanbench work expected_skips
# A line is the words of one run.
xargs -P "$jobs" -L 1 bash -c 'run_one "$@"' _ <"$work/runs"

# ---- What came out of it ----

echo "1..${#tests[@]}"
test=0
for line in "${tests[@]}"; do
    read -r op algo device <<<"$line"
    key=$op-$algo-$device
    test=$((test + 1))
    runs=$(grep -c "^[0-9]* $key " "$work/runs")
    rows=$(cat "$work/$key".*.csv | grep -vc '^op,')
    if [ "$runs" -gt 0 ] && [ "$rows" -gt 0 ] && ! compgen -G "$work/$key.*.bad" >/dev/null; then
        echo "ok $test - $op $algo on $device: $rows rows of $runs runs"
        continue
    fi
    echo "not ok $test - $op $algo on $device"
    for bad in "$work/$key".*.bad; do
        number=${bad%.bad}
        number=${number##*.}
        echo "# $scanbench $(sed -n "s/^$number $key //p" "$work/runs")"
        head -n 10 "$bad" | sed 's/^/#   /'
    done | head -n 40
done
