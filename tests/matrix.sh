#!/bin/bash
# matrix.sh SCANBENCH [ROW]: runs every row of `scanbench --list`, or those whose
# "OP ALGO DEVICE" begins with ROW, at awkward sizes, with all block sizes, types and
# kinds, and with several inputs and seeds, on the CPU and in the emulator. SCANBENCH is
# a build with the address and undefined-behaviour sanitizers. FAST=PROGRAM, the same algorithms
# in a build without, says which flags they obey, and runs all but `sanitized_runs`: with
# sanitizers a run takes five times as long, and whether a result is right is seen without them,
# as is an access beyond an array. What only they see depends on a block size, a type or an input,
# not on all of them at once. Races (--check) are found without sanitizers alone.
#
# Without LONG, one of 24 runs of each row, counted apart for those with sanitizers, those for races
# and the others. Each row begins at another, so that all sizes, block sizes, types and inputs are met by
# some rows.
#
# It reads the list, so a new algorithm is tested as soon as it is listed. One test is
# one algorithm on one device. Its rows are counted, so a missing row is a failure
# just like a wrong one. Prints TAP.
set -u

scanbench=$1
chosen=${2:-}
fast=${FAST:-$scanbench}
jobs=$(nproc 2>/dev/null || echo 2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CUDA_VISIBLE_DEVICES=
# More threads than processors, on purpose: waiting threads must yield.
export OMP_WAIT_POLICY=passive
libraries=$("$scanbench" --list | awk '/^[^ ]/ && $4 == "library" { print $1, $2 }')
# A ceiling is the same code in every operation, and in a scan it is tested at more sizes. It does not
# know what elements are.
ceilings=$("$scanbench" --list | awk '/^[^ ]/ && $4 == "ceiling" { print $1, $2 }')

# Skipped rows count as missing unless they match one of these, "OP ALGO DEVICE TYPE INPUT:
# REASON" as extended regular expressions, or the algorithm refuses the type (`refused_types`).
expected_skips='^(scan|reduce) [^ ]+ [a-z]+ b?f(16|32|64) special: sums of NaN'
expected_skips+='|^scan [^ ]+ [a-z]+ b?f16 [a-z]+: sums may exceed 2'
expected_skips+='|^(scan|reduce) [^ ]+ [a-z]+ b?f16 [a-z]+: does not keep sums of this type in f32'
expected_skips+='|^compact highway cpu b?f16 [a-z]+: it is called for whole numbers'
expected_skips+='|^[a-z]+ [^ ]+ [a-z]+ u[0-9]+ signed: an unsigned type'
expected_skips+='|^[a-z]+ one-wave emulator [^ ]+ [a-z]+: more (elements than one wave|shared memory than)'
expected_skips+='|^[a-z]+ cluster emulator [^ ]+ [a-z]+: more elements than one cluster'
expected_skips+='|^sort (sample|one-block) emulator [^ ]+ [^ ]+: sorts (no more keys than|at least 8192 keys)'
expected_skips+='|^sort enumeration emulator [^ ]+ [^ ]+: sorts at most 32768 keys'
expected_skips+='|: not in this build: install |^sort vqsort cpu f(32|64) '
expected_skips+='|^sort (simd|parallel) cpu [^ ]+ [^ ]+: it sorts pairs of'

blocks=(32 64 128 256 512 1024)
# Every line of the table of types; `types`: those that the operation of a run takes.
mapfile -t all_types < <(sed -nE 's/^TYPE\([A-Z0-9]+, *([a-z0-9]+),.*/\1/p' bench/types.def)
# Types whose code is that of others in another width. They take turns beside the others in
# every_type, where a test has all inputs.
few_bits=(f16 i16 bf16 i8 u16)
declare -A types_of_op # found once per operation
# Types of 8 and 16 bits: few sorts take such keys, and those that do have kernels of their own for them.
narrow_keys=(u8 "${few_bits[@]}")

# Sizes around every power of two, and so around every tile: for any tile size, there are sizes
# of one less, exactly one tile, one more, and several tiles.
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
# A few sizes of each sort, for the other types.
few_sizes=0,1,2,31,33,63,64,65,127,129,640,1021,1024,1025,2047,2049,5003
# More than tile^2 elements with the smallest blocks, so that totals of totals are scanned too,
# for tiles of up to 16 elements per thread.
deep_sizes=4097,16387,40960,65537,262149
# For algorithms that keep elements in registers as long as they can: 5 to 7 rows of 8 bytes and
# of 4 on the emulator, and more than its registers hold of either.
wave_sizes=35003,45003,53003,69999,81923,100003,139999,163845
# The same of a cluster of 16 blocks of 32 threads, or of 64 with 8 bytes.
cluster_sizes=9001,11003,14003,16383,16384
# For algorithms without a block size to make tiles small: several tiles per multiprocessor or
# thread, enough to reach the last choice of those that choose the tile by n.
large_sizes=524293,2097155
# For threads: 42 and 129 blocks of 256 KiB, taken in turns (cpu/block_parts.h).
chain_sizes=2686981,8388613
# With sanitizers: on both sides of a warp, of a small block and of a tile.
sanitized_sizes=1,31,33,129,640,1025,4097

# Compaction and sort are built on a scan that is tested separately. Their sizes are those
# around their own tiles, and less than two of the largest.
own_sizes=0,1,2,31,32,33,127,128,129,640,1021,1024,1025,2560,4093,4096,4097,5003
own_few_sizes=0,1,32,33,129,640,1025
# For a sort of many bits, which takes as many scans.
own_least_sizes=1,2,33,640
# For what does not depend on the size: each type's additions, order and zeros. One element of each
# type is in the runs with sanitizers.
type_sizes=33,1025

# refused_types: prints "OP ALGO DEVICE TYPE: REASON" where all rows of a type are skipped for one reason,
# whose text is in the algorithm's own file, and rows of another type passed. Skips that are expected
# say nothing.
refused_types() {
    local op algo device type reason file
    cat "$work"/*.csv | awk -v skips="$expected_skips" '
        {
            reason = $0
            split($0, field, ",")
            for (i = 1; i <= 10; i++)
                sub(/^[^,]*,/, "", reason)
            gsub(/"/, "", reason)
            key = field[1] " " field[2] " " field[3]
            if (field[10] == "skipped" && key " " field[4] " " field[5] ": " reason ~ skips)
                next
            if (field[10] == "passed")
                passed[key]
            what = field[10] == "skipped" ? reason : "-"
            type = key " " field[4]
            if (!(type in row))
                why[type] = what
            else if (why[type] != what)
                why[type] = "-"
            row[type] = key
        }
        END {
            for (type in row)
                if (why[type] != "-" && row[type] in passed)
                    print type, why[type]
        }' | while read -r op algo device type reason; do
        for file in cpu/"${op}_${algo//-/_}".c kernels/*/"${op}_${algo//-/_}".cu; do
            # A long text is in pieces in the source.
            [ ! -e "$file" ] || ! tr -d '\n' <"$file" | sed 's/" *"//g' | grep -qF "\"$reason\"" ||
                echo "$op $algo $device $type: $reason"
        done
    done
}

# ---- What is to be run: a line a run, "KEY FLAG...", into $work/runs ----
#
# A line that ends with `sanitized` is run by the build with sanitizers, the others by $fast.

# runs_of KEY OP ALGO DEVICE
runs_of() {
    local key=$1 common="--op=$2 --algo=$3 --device=$4 --samples=1" block_flags=('') input
    local persistent='' types gpus
    [ "$3" != stable-msd ] || common+=' --values=u32' # it sorts pairs alone
    [ -n "${types_of_op[$2]:-}" ] || types_of_op[$2]=$(types_of "$2")
    read -ra types <<<"${types_of_op[$2]}"
    # On a CPU, and by MPI anywhere, it needs several processes. These, and every input and type,
    # have tests of their own (tests/commands/several.bats).
    if [ "$3" = slices ]; then
        for gpus in 2 3; do
            echo "$key $common --gpus=$gpus --engine=peer --type=i32,f64 --max=5 --n=0,1,2,33,5003 sanitized"
        done
        return
    fi
    if [ "$3" = auto ] || [ "$3" = libscanbench ]; then # what they choose is tested by itself
        echo "$key $common --type=i32,f64 --max=5 --n=0,1,33,5003 sanitized"
        if [ "$2" = sort ]; then
            echo "$key $common --values=u32 --type=i32,f64 --max=5 --n=0,1,33,5003 sanitized"
            echo "$key $common --values=u64 --type=i32,f64 --max=5 --n=0,1,33,5003"
            echo "$key $common --type=$(IFS=, && echo "${narrow_keys[*]}") --n=0,1,33,5003 sanitized"
        else
            echo "$key $common --n=262149"
        fi
        return
    fi
    if grep -qx "$2 $3" <<<"$libraries"; then # how we call it, not what it does
        for input in uniform signed special; do
            echo "$key $common --type=$(IFS=, && echo "${types[*]}") --input=$input --n=$own_few_sizes" \
                "$([ $input != uniform ] || echo sanitized)"
        done
        [ "$2" != sort ] || pair_runs "$key $common"
        [ "$2" != sort ] || ! takes "$key $common" u8 || narrow_runs "$key $common" "$own_few_sizes"
        return
    fi
    if grep -qx "$2 $3" <<<"$ceilings"; then
        echo "$key $common --type=i32,f64 --n=$own_few_sizes sanitized"
        [ "$2" = scan ] || return 0
        echo "$key $common --type=$(IFS=, && echo "${types[*]}") --n=$few_sizes"
        echo "$key $common --n=$deep_sizes,$large_sizes"
        [ "$4" != emulator ] || race_runs "$key $common" "$2" "$3"
        return
    fi
    if [ "$3" = serial-O0 ]; then # compiled from the source of serial
        echo "$key $common --kind=exclusive,inclusive --type=$(IFS=, && echo "${types[*]}") --n=$few_sizes"
        return
    fi
    if obeys "$common" --block=32; then
        block_flags=("${blocks[@]/#/--block=}")
    elif obeys "$common" --threads=2; then
        block_flags=(--threads=1 --threads=2 --threads=5)
        echo "$key $common --threads=2 --n=${chain_sizes%,*}"
        echo "$key $common --threads=5 --n=${chain_sizes#*,}"
    elif [ "$4" = emulator ]; then
        persistent=yes # all its threads are there for one element too: fewer runs
    fi
    if [ "$2" = sort ] && ! takes "$key $common" i32; then
        narrow_runs "$key $common" "$own_sizes"
        counting_runs "$key $common"
        return
    fi
    ! takes_segments "$2" "$3" "$4" || segment_runs "$key $common" "$2" "$4"
    [ "$3" != segmented ] || return 0 # scans nothing else
    [ "$4" != emulator ] || race_runs "$key $common" "$2" "$3"
    sanitized_runs "$key $common" "$2" "$3" "$4"
    # An operation over a scan that was tested with every block size, type and input is the
    # same code over all scans. So one of them is tested with all of these again, and with the
    # others how they are called.
    if [ "$4" = emulator ] && over_a_scan "$2" "$3" && [ "$3" != efficient-smem ]; then
        over_another_runs "$key $common" "$2"
        return
    fi
    if [ "$3" = one-wave ] && [ "$2" != sort ]; then
        echo "$key $common --block=64 --type=i64,f64 --n=$wave_sizes"
        echo "$key $common --block=256 --n=$wave_sizes"
        echo "$key $common --block=1024 --type=i64,f32 --n=$wave_sizes --max=1"
        [ "$2" != compact ] || echo "$key $common --block=1024 --type=u8,i16 --n=139999,300003,600003"
    fi
    if [ "$3" = cluster ] && [ "$2" != sort ]; then
        echo "$key $common --block=32 --type=i32,f32 --n=$cluster_sizes sanitized"
        echo "$key $common --block=64 --type=i64,f64 --n=$cluster_sizes"
        echo "$key $common --block=512 --n=59999,65536"
    fi
    # One block size per run, so that it is a separate group with memory for nothing else.
    case $2 in
    scan) scan_runs "$key $common --kind=exclusive,inclusive" ;;
    compact) compact_runs "$key $common" ;;
    sort) sort_runs "$key $common" ;;
    *) scan_runs "$key $common" ;;
    esac
}

# takes_segments OP ALGO DEVICE: does its descriptor say so?
takes_segments() {
    local where=(cpu/"$1_${2//-/_}".c)
    [ "$3" = cpu ] || where=(kernels/*/"$1_${2//-/_}".cu)
    [ -f "${where[0]}" ] && grep -q '\.segment_types' "${where[0]}"
}

# segment_runs COMMON OP DEVICE: short and long segments, on both sides of a pack, a warp and a tile,
# with blocks in turns. Sees the block_flags of runs_of.
segment_runs() {
    local i=0 form block common=$1
    local forms=(rows:1 rows:7 rows:77 rows:2048 rows:2049 offsets:33 offsets:20:skewed offsets:33:skewed offsets:900:skewed)
    [ "$2" != scan ] || forms+=(keys:33 keys:900:skewed) common+=' --kind=exclusive,inclusive'
    for form in "${forms[@]}"; do
        block="${block_flags[i++ % ${#block_flags[@]}]} --segments=$form"
        echo "$common $block --type=i32,f32 --n=1,33,1025,5003"
        [ "$form" != rows:77 ] || echo "$common $block --type=i32 --n=0,2,31,4097,16387 sanitized"
        [[ "$3 $form" != emulator\ offsets:33* ]] ||
            echo "$common $block --check --format=csv --type=i32 --input=uniform --max=49 --n=1000,5003"
    done
}

# race_runs COMMON OP ALGO: few sizes, because where threads meet depends on little else. Sees the
# block_flags of runs_of.
race_runs() {
    local block common="$1 --check --format=csv --type=i32,f64" sizes=1,33,1000,5003
    [ "$2" != scan ] || common+=' --kind=exclusive,inclusive'
    [ "$3" != sample ] || sizes=9001
    # A sort over a scan launches it for every bit, and each scan has runs of its own at more sizes.
    [ "$2" != sort ] || ! over_a_scan "$2" "$3" || [ "$3" = efficient-smem ] || sizes=1,33,1000
    for block in "${block_flags[@]}"; do
        is_typical "$block" || continue
        echo "$common $block --input=uniform --max=49 --n=$sizes"
        [ "$2" != compact ] || echo "${common/i32,f64/u8,f16} $block --input=uniform --max=49 --n=$sizes"
        [ "$2" != sort ] || echo "$common $block --input=signed --max=2^31-1 --n=$sizes"
    done
}

# sanitized_runs COMMON OP ALGO DEVICE: every block size or number of threads, two types at a time
# until each had its turn, and inputs whose sums and keys overflow if one does. Sees the block_flags
# and types of runs_of.
sanitized_runs() {
    local round block pair sizes=$sanitized_sizes rounds=6 flags=
    local inputs=(signed special uniform alternating sorted uniform)
    case $2 in
    scan) flags=--kind=exclusive,inclusive ;;
    compact) flags=--keep=0.5 ;;
    sort) sizes=1,33,640 ;;
    esac
    [ "$3" != sample ] || sizes=8191,8193,9001
    if [ "$4" = emulator ] && over_a_scan "$2" "$3" && [ "$3" != efficient-smem ]; then
        rounds=2
    elif [ ${#block_flags[@]} -lt 6 ]; then
        rounds=4
    fi
    for ((round = 0; round < rounds; round++)); do
        block=${block_flags[round % ${#block_flags[@]}]}
        pair=${types[2 * round % ${#types[@]}]},${types[(2 * round + 1) % ${#types[@]}]}
        if [ "$2" = sort ]; then # the keys of f32 are exact up to 2^23
            flags=--max=2^31-1
            [[ $pair != *f32* ]] || flags=--max=2^23
            [ "${inputs[round]}" != sorted ] || flags=--max=49
        fi
        echo "$1 $block $flags --type=$pair --input=${inputs[round]} --seed=$((1 + round)) --n=$sizes sanitized"
    done
}

# over_another_runs COMMON OP: sees the block_flags and types of runs_of.
over_another_runs() {
    local block flags=--keep=0.75
    [ "$2" != sort ] || flags=--max=64
    [ ${#block_flags[@]} -eq 1 ] || block_flags=(--block=32 --block=256)
    for block in "${block_flags[@]}"; do
        echo "$1 $block $flags --n=$own_few_sizes"
        echo "$1 $block $flags --type=$(IFS=, && echo "${types[*]}") --n=$type_sizes"
    done
    echo "$1 ${block_flags[0]} ${flags/64/3} --n=16387,65537"
}

# over_a_scan OP ALGO: is it a line OVER_SCANS that makes this row?
over_a_scan() {
    grep -q "^OVER_SCANS($1_" bench/algorithms.def &&
        ! grep -q "^ALGORITHM(GPU, $1_${2//-/_})" bench/algorithms.def
}

# scan_runs COMMON: sees the block_flags and types of runs_of.
scan_runs() {
    local block all=$sizes few=$few_sizes
    if [ -n "$persistent" ]; then
        all=$few_sizes,9215,9216,9217 few=$own_few_sizes
    fi
    for block in "${block_flags[@]}"; do
        echo "$1 $block --n=$(sizes_for "$block" "$all" "$few,4095,4096,4097")"
    done
    echo "$1 ${block_flags[0]} --n=$deep_sizes"
    [ -n "${block_flags[0]}" ] || echo "$1 --n=$large_sizes"
    every_type "$1" "$type_sizes"
    every_seed "$1" "$few"
    # Sums that wrap around.
    echo "$1 ${block_flags[0]} --type=i32,u32,i64,u64 --max=2^31-1 --n=5003"
}

# is_typical BLOCK: code for all block sizes is the same, and all sizes and inputs are tried with
# the two of these, or with several threads; with the others, those around their tiles.
is_typical() {
    case $1 in
    --threads=1 | --block=64 | --block=128 | --block=512 | --block=1024) return 1 ;;
    esac
}

# sizes_for BLOCK ALL FEW
sizes_for() {
    if is_typical "$1"; then echo "$2"; else echo "$3"; fi
}

compact_runs() {
    local block keep list i=0
    local keeps=(0.5 0 0.01 0.75 1)
    list=$(IFS=, && echo "${types[*]}")
    for block in "${block_flags[@]}"; do
        for keep in "${keeps[@]}"; do
            ! is_typical "$block" || echo "$1 $block --keep=$keep --n=$own_sizes"
        done
        is_typical "$block" || echo "$1 $block --keep=0.5 --n=$own_few_sizes,4095,4096,4097,5003"
        # Fractions take turns.
        echo "$1 $block --keep=${keeps[i++ % 5]} --type=$list --n=$own_few_sizes"
    done
    echo "$1 ${block_flags[0]} --keep=0.5 --n=16387,65537"
    [ -n "${block_flags[0]}" ] || echo "$1 --n=$large_sizes"
    every_type "$1" "$type_sizes"
    every_seed "$1 --keep=0.5" "$own_few_sizes"
}

sort_runs() {
    local block max type input many i own=$own_sizes few=$own_few_sizes least=$own_least_sizes
    local -A most=([i32]=2147483647 [u32]=4294967295 [i64]=2^63-1 [u64]=2^64-1 [f32]=2^23 [f64]=2^52)
    if [[ $1 == *--algo=sample* ]]; then # it sorts no fewer keys
        own=8191,8192,8193,9001,12289,16383,16384,16385 few=8191,8192,8193,9001 least=8191,8192,9001
    elif [[ $1 == *--algo=stable-msd* ]]; then # in one block, or in tiles of 6144 and 7680
        own=0,1,33,1025,8191,8192,8193,12288,15360,15361 few=1,9001 least=8193
    fi
    for block in "${block_flags[@]}"; do
        # One bit, and seven bits of which the highest is rarely set.
        for max in 1 64; do
            echo "$1 $block --max=$max --n=$(sizes_for "$block" "$own" "$few,4095,4096,4097")"
        done
        # All bits, of positive numbers and of numbers of both signs.
        echo "$1 $block --input=signed --max=2^31-1 --n=$least"
        is_typical "$block" || continue
        for input in ones zeros alternating sorted reversed; do
            echo "$1 $block --input=$input --max=49 --n=$few"
        done
        echo "$1 $block --input=alternating --max=2^30 --n=$few"
        for input in uniform special; do
            echo "$1 $block --input=$input --max=2^31-1 --n=$least"
        done
    done
    # All bits of each type, each with two of the block sizes.
    for ((i = 0; i < 2 * ${#types[@]}; i++)); do
        type=$((i / 2))
        block=${block_flags[(type + i % 2 * 3) % ${#block_flags[@]}]}
        input=uniform
        [[ ${types[type]} != f* ]] || input=signed
        echo "$1 $block --type=${types[type]} --input=$input --max=${most[${types[type]}]} --n=$least"
    done
    # Skewed keys, and keys that are in order already.
    for input in and-3 few zipf nearly-sorted all-but-one; do
        echo "$1 ${block_flags[0]} --input=$input --max=2^31-1 --n=$few"
    done
    # The same in many buckets, and in the emulator, where it takes long, once in very many.
    many=40961,300007
    if [ -n "$persistent" ]; then
        many=40961
        echo "$1 --input=zipf --type=u32 --max=2^31-1 --n=300007"
    fi
    for input in and-3 few zipf all-but-one; do
        [ -n "${block_flags[0]}" ] || echo "$1 --input=$input --type=u32,f64 --max=2^31-1 --n=$many"
    done
    echo "$1 ${block_flags[0]} --max=3 --n=16387,65537"
    # Launches of their own for the steps, of leaves of two digits each; and more keys than one level
    # parts. What one launch sorts is more than one block does on larger devices: sorts_test has it.
    if [[ $1 == *--algo=msd* ]]; then
        for type in "${types[@]}"; do
            many=135001
            [[ $type != *64 ]] || many=67501
            input=uniform
            [[ $type != f* ]] || input=normal # uneven floats: wide margins
            echo "$1 --type=$type --input=$input --max=${most[$type]} --n=$many"
        done
        echo "$1 --type=f32,f64 --input=signed --max=2^23 --n=135001" # even floats: narrow margins
        echo "$1 --type=u32,i64 --max=63 --n=150001" # values that are written from counts
        if [ -n "${LONG:-}" ]; then
            echo "$1 --type=i64 --input=signed --max=2^63-1 --n=8500003"
            echo "$1 --type=f64 --input=normal --max=2^23 --n=4300003" # digits of values
            echo "$1 --type=f64 --input=signed --max=2^23 --n=4300003" # even ones, in one level
        fi
    fi
    if [[ $1 == *--algo=stable-msd* ]]; then
        for type in "${types[@]}"; do
            echo "$1 --type=$type --max=${most[$type]} --n=20001"
        done
        echo "$1 --values=u64 --type=u32,f64 --max=2^31-1 --n=20001"
        echo "$1 --type=u64 --max=2^64-1 --n=150001"
    fi
    if [[ $1 == *--algo=adaptive* ]]; then
        echo "$1 --type=u32,i64 --input=and-4 --max=2^31-1 --n=300007"
        echo "$1 --type=u64,f64 --max=2^23 --n=300007"
    fi
    # Floats that are dense in the middle; some lie outside of the range of the sample.
    if [[ $1 == *--algo=adaptive* || $1 == *--algo=sample* ]]; then
        echo "$1 --type=f32 --input=normal --max=2^23 --n=300007"
    fi
    pair_runs "$1"
    [ -n "$persistent" ] || every_type "$1 --max=49" "$least"
    every_seed "$1 --max=49" "$few"
}

# narrow_runs COMMON SIZES: keys of 8 and 16 bits, all of their bits and each input.
narrow_runs() {
    local list input
    list=$(IFS=, && echo "${narrow_keys[*]}")
    echo "$1 --type=$list --n=$2"
    for input in ones zeros alternating sorted reversed signed special and-3 normal few zipf nearly-sorted all-but-one rising falling; do
        echo "$1 --type=$list --input=$input --n=$type_sizes"
    done
    echo "$1 --type=$list --n=1,33,640 sanitized"
}

# counting_runs COMMON: one block that counts, and several, with several seeds; races.
counting_runs() {
    local list seed input
    list=$(IFS=, && echo "${narrow_keys[*]}")
    echo "$1 --type=$list --n=16383,16384,16385,32767,32768,65533,65537"
    echo "$1 --type=u8,i16 --n=131069,262147"
    echo "$1 --type=u8,f16 --n=0,1023,4097,20011,32769 sanitized"
    echo "$1 --type=u8,i16 --n=8191,8192,8193"
    for seed in 2 3 4 5; do
        echo "$1 --type=i8,bf16 --seed=$seed --n=33001"
    done
    for input in special zipf few all-but-one alternating; do
        echo "$1 --type=i8,i16 --input=$input --n=20011,40961,100003"
    done
    echo "$1 --check --format=csv --type=u8,i16 --input=uniform --n=1,33,1000,5003,9001,33001"
    echo "$1 --check --format=csv --type=i8,f16 --input=zeros --n=33,5003,9001,33001"
}

# pair_runs COMMON: keys with values, if the algorithm takes them: many equal keys, all types, and
# inputs with keys of one digit.
pair_runs() {
    local list
    list=$(IFS=, && echo "${types[*]}")
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    ! "$fast" ${1#* } --values=u32 --n=100 --dry-run 2>&1 | grep -q 'sorts keys alone' || return 0
    echo "$1 ${block_flags[0]} --values=u32 --max=3 --n=$own_few_sizes"
    echo "$1 ${block_flags[0]} --values=u64 --type=$list --max=3 --n=$own_least_sizes sanitized"
    echo "$1 ${block_flags[0]} --values=u64 --type=$list --max=3 --n=$own_few_sizes"
    echo "$1 ${block_flags[0]} --values=u32 --type=$list --input=special --n=$own_least_sizes"
    echo "$1 ${block_flags[0]} --values=u32 --input=all-but-one --max=2^31-1 --n=$own_few_sizes"
}

# every_type COMMON SIZES: all types with each input, and with the block sizes and the seeds, which
# also set the order of blocks and threads, in turns. The first three inputs are skipped for some
# types, or say little; their block sizes come again with the last three.
every_type() {
    local round list type taken=' ' few=("${few_bits[@]}")
    [[ $1 != *--op=sort* ]] || few=("${narrow_keys[@]}")
    local inputs=(special signed zeros alternating sorted reversed ones uniform uniform)
    list=$(IFS=, && echo "${types[*]}")
    for type in "${few[@]}"; do
        ! takes "$1" "$type" || taken+="$type "
    done
    for ((round = 0; round < ${#inputs[@]}; round++)); do
        echo "$1 ${block_flags[round % ${#block_flags[@]}]} --type=$list --input=${inputs[round]}" \
            "--seed=$((2 + round % 5)) --n=$2"
        type=${few[round % ${#few[@]}]}
        [[ $taken != *" $type "* ]] ||
            echo "$1 ${block_flags[round % ${#block_flags[@]}]} --type=$type --input=${inputs[round]} --n=33,1025"
    done
}

# every_seed COMMON SIZES: in the emulator, where the seed is also the order of blocks and threads.
every_seed() {
    local seed
    [[ $1 == *--device=emulator* ]] || return 0
    for seed in 2 3 4 5; do
        echo "$1 ${block_flags[seed % ${#block_flags[@]}]} --seed=$seed --n=$2"
    done
}

# types_of OP: the types that the operation takes, with all of its algorithms.
types_of() {
    local type
    for type in "${all_types[@]}"; do
        [[ " ${few_bits[*]} " == *" $type "* ]] || [ "$1 $type" = "sort u8" ] ||
            ! obeys "--op=$1" "--type=$type" || printf '%s ' "$type"
    done
}

# takes COMMON TYPE: do the operation and, if it is a sort, the algorithm take the type?
takes() {
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    obeys "${1#* }" "--type=$2" &&
        ! "$fast" ${1#* } "--type=$2" --n=100 --dry-run 2>&1 |
        grep -qE 'sorts keys of (4 and 8 bytes|8 and 16 bits) only'
}

# obeys COMMON FLAG: does the algorithm accept the flag?
obeys() {
    # Words of flags, on purpose.
    # shellcheck disable=SC2086
    "$fast" $1 "$2" --n=100 --dry-run >/dev/null 2>&1
}

# Each row on each device that needs no GPU, as "OP ALGO DEVICE". Libraries that run on a GPU
# are left out.
algorithms() {
    "$scanbench" --list | awk -v chosen="$chosen" '
        function add(device) {
            row = $1 " " $2 " " device
            if (index(row " ", chosen (chosen == "" ? "" : " ")) == 1)
                print row
        }
        NR > 1 && /^[^ ]/ && $3 ~ /cpu/ && $5 " " $6 != "several devices:" { add("cpu") }
        NR > 1 && /^[^ ]/ && $3 ~ /gpu/ && $4 != "library" { add("emulator") }'
}

# Prints the table's rows that the list lacks.
lost_algorithms() {
    sed -nE 's/^ALGORITHM\((CPU|GPU), *([a-z]+)_([A-Za-z0-9_]+)\).*/\2 \3/p' bench/algorithms.def |
        tr _ - | while read -r row; do
        printf '%s\n' "${tests[@]}" | grep -q "^$row " || echo "$row"
    done
}

# ---- Running ----

# NUMBER KEY FLAG... [sanitized]: writes rows to $work/KEY.NUMBER.csv and stderr to
# $work/KEY.NUMBER.err.
cat >"$work/run" <<'END'
run=$work/$2.$1 program=$fast
shift 2
for word; do
    shift
    if [ "$word" = sanitized ]; then program=$scanbench; else set -- "$@" "$word"; fi
done
# Looking for leaks takes half of a short run, and what leaks for one type or size does for others. So
# one run of each algorithm looks, and one each with segments and with values.
if [ "$program" != "$fast" ]; then
    case "$*" in *--segments=*) of=segments ;; *--values=*) of=values ;; *) of=elements ;; esac
    mkdir "${run%.*}-$of.leaks" 2>/dev/null || export ASAN_OPTIONS=detect_leaks=0
fi
"$program" "$@" --quiet --columns=op,algo,device,type,input,kind,n,block,threads,check,reason \
    >"$run.csv" 2>"$run.err" || echo "exit $?" >>"$run.err"
END
export scanbench fast work
mapfile -t tests < <(algorithms)
number=0
# Runs start while the list is still being made. Each line holds the words of one run.
for line in "${tests[@]}"; do
    read -r op algo device <<<"$line"
    runs_of "$op-$algo-$device" "$op" "$algo" "$device"
done | awk -v step="${LONG:+1}" '
    function print_some(    kind, i) {
        for (kind in count)
            for (i = row % (count[kind] < step ? count[kind] : step); i < count[kind]; i += step)
                print run[kind, i]
        split("", count)
        row++
    }
    BEGIN {
        step = step ? step : 24
    }
    $1 != key {
        print_some()
        key = $1
    }
    {
        kind = / sanitized$/ ? "sanitized" : / --check / ? "races" : "results"
        run[kind, count[kind]++] = $0
    }
    END {
        print_some()
    }' | while read -r line; do
    number=$((number + 1))
    echo "$number $line"
done | tee "$work/runs" | xargs -r -P "$jobs" -L 1 sh "$work/run"

refused_types >"$work/refused"

# Each run must have as many different rows as the lists of its flags give, all of them passed
# or expected to be skipped, and nothing on stderr. Anything else goes to $work/KEY.NUMBER.bad.
awk -v work="$work" -v skips="$expected_skips" '
    BEGIN {
        while ((getline line <(work "/refused")) > 0)
            refused[line]
    }
    # The number of items in the list after NAME=; 1 without it.
    function length_of(name,    list) {
        return match(" " $0, " " name "=[^ ]*") ? split(substr(" " $0, RSTART, RLENGTH), list, ",") : 1
    }
    function judge(line,    reason, field, i, configuration, key) {
        split(line, field, ",")
        reason = line
        for (i = 1; i <= 10; i++) {
            sub(/^[^,]*,/, "", reason)
            configuration = configuration "," (i < 10 ? field[i] : "")
        }
        gsub(/"/, "", reason)
        key = field[1] " " field[2] " " field[3] " " field[4]
        if (field[10] != "passed" && !(field[10] == "skipped" &&
            (key " " field[5] ": " reason ~ skips || key ": " reason in refused)))
            print line >bad
        if (seen[configuration]++)
            print "twice: " line >bad
    }
    {
        file = work "/" $2 "." $1
        bad = file ".bad"
        wanted = length_of("--n") * length_of("--kind") * length_of("--type")
        while ((getline line <(file ".err")) > 0)
            print line >bad
        close(file ".err")
        split("", seen)
        rows = -1 # the header
        while ((getline line <(file ".csv")) > 0)
            if (++rows > 0)
                judge(line)
        close(file ".csv")
        if (rows != wanted)
            print (rows < 0 ? 0 : rows) " rows, where " wanted " were expected" >bad
        close(bad)
    }' "$work/runs"

# ---- What came out of it ----

echo "1..$((${#tests[@]} + 1))"
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
        flags=$(sed -n "s/^$number $key //p" "$work/runs")
        case $flags in
        *sanitized) echo "# $scanbench ${flags% sanitized}" ;;
        *) echo "# $fast $flags" ;;
        esac
        head -n 10 "$bad" | sed 's/^/#   /'
    done | head -n 40
done

test=$((test + 1))
lost=
[ -n "$chosen" ] || lost=$(lost_algorithms)
if [ "${#tests[@]}" -gt 0 ] && [ -z "$lost" ]; then
    echo "ok $test - the list has every line of the table"
else
    echo "not ok $test - the list lacks: ${lost:-all of ${chosen:-them}}"
fi
