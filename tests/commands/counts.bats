#!/usr/bin/env bats
# counts: --counts, what kernels do to memory, as the emulator counts it. Where a comment says so, a
# number is what Nsight Compute counted on an H200.

# setup() of helpers sets variables; each test sets its own.
# shellcheck disable=SC2154,SC2030,SC2031
load helpers

setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# counts COLUMNS FLAG...: those columns of the rows, as CSV without the header.
counts() {
    local columns=$1
    shift
    quick --device=emulator --counts --format=csv --columns="$columns" "$@" | tail -n +2
}

# first_launch ALGO COLUMNS: those columns of the first launch of a scan of 2^16 elements.
first_launch() {
    counts "launch,$2" --algo="$1" --n=2^16 --block=128 --kernels | sed -n 's/^1,//p'
}

@test "counts: a tile scan has the GPU's requests, sectors and conflicts" {
    local global=global_load_requests,global_load_sectors,global_store_requests,global_store_sectors
    local algo
    # Hardware: the same.
    for algo in naive-smem efficient-smem efficient-smem-padded; do
        [ "$(first_launch $algo "$global")" = 1024,8192,1280,8448 ]
    done
    # Hardware: the same requests, and 3072 conflicts fewer, which are those of stride 2: nvcc makes
    # one access of two neighbours.
    [ "$(first_launch efficient-smem shared_requests,bank_conflicts)" = 18176,26880 ]
    [ "$(first_launch efficient-smem-padded shared_requests,bank_conflicts)" = 18176,0 ]
    # Hardware: 7424 wavefronts of loads and 8192 of stores.
    [ "$(first_launch naive-smem shared_requests,bank_conflicts)" = 15616,0 ]
    [ "$(first_launch naive-smem barriers_per_block,warp_collectives)" = 8,0 ]
    # Per block, a warp synchronises 6 times going up and as often going down.
    [ "$(first_launch efficient-smem barriers_per_block,warp_collectives,atomics)" = 4,3072,0 ]
}

@test "counts: strided accesses waste sectors" {
    # Hardware: the same.
    counts kernel,global_load_requests,global_load_sectors,sector_use_pct --algo=efficient --n=2^16 \
        --block=128 --kernels >"$rows"
    grep -qx 'up_sweep_kernel,512,16384,12.5' "$rows"
}

@test "counts: memory is read and written as often as the algorithm says" {
    local bytes=read_bytes_per_element,written_bytes_per_element
    # A reduction writes one element, and a scan in one pass all of them once.
    [[ $(counts $bytes --op=reduce --algo=tree-smem --n=2^16) == 4.*,0.* ]]
    [[ $(counts $bytes --algo=lookback --n=2^16) == 4.*,4.* ]]
    [[ $(counts $bytes --algo=reduce-then-scan --n=2^16) == 8.*,4.* ]]
    [[ $(counts $bytes --algo=warp-shuffle --n=2^16) == 8.*,8.* ]]
    [[ $(counts $bytes --algo=warp-shuffle --n=2^16 --type=u64) == 16.*,16.* ]]
}

# applied N FLAG...: how often a scan or reduction of N elements applies its operator, and the depth.
applied() {
    counts work_per_element,depth --n="$1" "${@:2}" | awk -F, -v n="$1" '{ printf "%.0f %d\n", n * $1, $2 }'
}

@test "counts: work and depth are the textbook's" {
    local log2 n
    # Hillis and Steele: each element adds one, then all but 2, 4, 8, ... do.
    for log2 in 5 8 11; do
        n=$((1 << log2))
        [ "$(applied $n --algo=naive)" = "$((log2 * n - (n - 2))) $log2" ]
        [ "$(applied $n --algo=naive --type=f64 --inclusive)" = "$((log2 * n - (n - 2))) $log2" ]
    done
    # Blelloch: n - 1 nodes, each of which adds once on the way up and once on the way down. Here a
    # node has four children, whose sum takes three additions, one after the other; on the way down
    # the fourth child waits for two.
    for log2 in 4 8 12; do
        n=$((1 << log2))
        [ "$(applied $n --algo=efficient)" = "$((2 * (n - 1))) $((5 * (log2 / 2 - 1) + 3))" ]
    done
    # One tile, whose threads have two elements each: their pairs are scanned.
    local log2_block block
    for log2_block in 5 7 10; do
        block=$((1 << log2_block))
        n=$((2 * block))
        [ "$(applied $n --algo=naive-smem --block=$block)" = "$((block + log2_block * block - (block - 1) + block)) $((log2_block + 2))" ]
        [ "$(applied $n --algo=efficient-smem --block=$block)" = "$((2 * (n - 1))) $((2 * (log2_block + 1) - 1))" ]
        [ "$(applied $n --algo=efficient-smem-padded --block=$block --operator=max)" = "$((2 * (n - 1))) $((2 * (log2_block + 1) - 1))" ]
        # The way down of Brent and Kung spares a node per level; at the end each thread adds one.
        [ "$(applied $n --algo=brent-kung-smem --block=$block | cut -d' ' -f1)" = "$((2 * (n - 1) - log2_block))" ]
        [ "$(applied $n --op=reduce --algo=tree-smem --block=$block)" = "$((n - 1)) $((log2_block + 1))" ]
    done
    # 64 tiles of 64 elements; one tile of their totals, which are as deep as a tile's tree is high;
    # and one more addition for each element.
    [ "$(applied 4096 --algo=efficient-smem --block=32)" = "$((64 * 126 + 126 + 4096)) $((6 + 11 + 1))" ]
}

@test "counts: no scan and no reduction can do with less work or less depth" {
    # The last result is made of n - 1 elements.
    local n=5000 flags
    for flags in --op=scan "--op=scan --type=f64" "--op=scan --type=u64" "--op=scan --operator=min" \
        "--op=scan --operator=recurrence" --op=reduce "--op=reduce --block=32" "--op=reduce --type=f64" "--op=reduce --operator=xor"; do
        # shellcheck disable=SC2086
        counts algo,work_per_element,depth,check --algo=own --n=$n $flags | grep ',passed$' |
            grep -v '^libscanbench,' >"$rows"
        cat "$rows"
        [ -s "$rows" ]
        awk -F, -v n=$n '!($2 >= (n - 2) / n && 2 ^ $3 >= n - 1) { bad = 1 } END { exit bad }' "$rows"
    done
}

@test "counts: launches have their part of the work, and the depth of the last" {
    local algo
    for algo in naive efficient-smem reduce-then-scan; do
        counts kernel,work_per_element,depth --algo=$algo --n=2^12 --block=32 --kernels >"$rows"
        awk -F, '
            $1 == "" { work = $2; depth = $3; next }
            { work -= $2; if ($3 > deepest) deepest = $3; launches++ }
            END { exit launches < 3 || work > 1e-4 || work < -1e-4 || deepest != depth }' "$rows"
    done
    # Each level of Hillis and Steele is one deeper than the one before.
    [ "$(counts kernel,depth --algo=naive --n=32 --kernels | sed -n 's/^hillis.*,//p' | paste -sd' ')" = "1 2 3 4 5" ]
}

@test "counts: work is empty where no operator is applied or known" {
    local flags
    for flags in "--op=compact --algo=naive,lookback" "--op=sort --algo=efficient-smem,onesweep" \
        "--op=reduce --algo=tree-smem --type=u8" "--algo=memcpy" "--algo=examples/my_scan.cu"; do
        # shellcheck disable=SC2086
        counts work_per_element,depth,barriers_per_block,check --n=1000 $flags >"$rows"
        cat "$rows"
        grep -q ',passed$' "$rows"
        [ "$(grep -cv '^,,[0-9.]*,passed$' "$rows")" -eq 0 ]
    done
    # A table of such operations has no column for it.
    run ! grep -w work <(quick --device=emulator --op=compact --algo=naive --n=1000 --counts --format=table)
}

@test "counts: two counts of one run are equal" {
    local op
    for op in scan sort ${LONG:+compact reduce}; do
        counts algo,shared_requests,bank_conflicts,atomics,active_lanes,global_load_sectors,global_store_sectors,work_per_element,depth \
            --op="$op" --algo=own --n=5000 --max=49 >"$rows"
        [ "$(wc -l <"$rows")" -gt 2 ]
        counts algo,shared_requests,bank_conflicts,atomics,active_lanes,global_load_sectors,global_store_sectors,work_per_element,depth \
            --op="$op" --algo=own --n=5000 --max=49 --warmup=2 | diff "$rows" -
    done
    # What a scan does to memory does not depend on the data.
    counts algo,global_load_requests,bank_conflicts,active_lanes,work_per_element,depth --algo=own --n=5000 >"$rows"
    counts algo,global_load_requests,bank_conflicts,active_lanes,work_per_element,depth --algo=own --n=5000 --seed=7 | diff "$rows" -
}

@test "counts: a run has what its launches have together" {
    counts kernel,launches,global_load_requests,global_store_sectors,shared_requests,bank_conflicts,atomics \
        --op=sort --algo=onesweep,efficient-smem --n=5000 --kernels >"$rows"
    awk -F, '
        $1 == "" { check(); for (i = 3; i <= 7; i++) whole[i] = $i; launches = $2; next }
        { launches--; for (i = 3; i <= 7; i++) whole[i] -= $i }
        function check() { for (i = 3; i <= 7; i++) if (whole[i] != 0) bad = 1; if (launches != 0) bad = 1 }
        END { check(); exit bad || NR < 20 }' "$rows"
}

@test "counts: sources of users are counted" {
    cat >"$BATS_TEST_TMPDIR/strided.cu" <<'END'
#include <scanbench_own.h>
/* Thread t reads element t of a column of a matrix whose rows have 32 elements, through shared
 * memory with a stride of two words. */
__global__ void strided(const int *in, int *out, int n)
{
    __shared__ int words[64];
    if (threadIdx.x == 0)
        for (int i = 0, sum = 0; i < n; sum += in[i++])
            out[i] = sum;
    __syncthreads();
    words[2 * threadIdx.x] = in[32 * threadIdx.x];
    __syncthreads();
    atomicAdd(&words[0], 1);
}
void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    strided<<<1, 32, 0, stream>>>(in, out, n);
}
SCANBENCH_SCAN("strided", scan)
END
    run counts global_load_requests,global_load_sectors,global_store_requests,shared_requests,bank_conflicts,barriers_per_block,atomics,check \
        --algo="$BATS_TEST_TMPDIR/strided.cu" --n=1024
    echo "$output"
    [ "$output" = 1025,1056,1024,2,1,2,32,passed ]
}

@test "counts: the table has counts instead of times" {
    run --separate-stderr quick --device=emulator --algo=naive,efficient-smem --n=2^12 --block=128 --counts \
        --format=table
    [ "$status" -eq 0 ]
    has "$output" 'algo            kernels   work  depth  B/elem  used  shared  conflicts  check' \
        'naive                12   11.0     12 ' \
        'efficient-smem        3    3.1     23    16.1   98%    1207       1785  passed'
    has "$(quick --device=emulator --algo=naive --n=2^12 --format=table)" time
    # A GPU or a CPU in the table has times.
    has "$(quick --device=emulator,cpu --algo=naive,serial --n=2^12 --counts --format=table)" time GB/s
}

# ---- Lines ----

# The counts that lines have of their own.
summed=global_load_requests,global_load_sectors,global_store_requests,global_store_sectors,shared_requests,bank_conflicts,atomics

# line TEXT FILE: FILE:N for the only line with the text.
line() {
    echo "$(basename "$2"):$(grep -nF -- "$1" "$2" | cut -d: -f1)"
}

@test "counts: the lines of a kernel's source, that with the most traffic first" {
    local source=kernels/classic/scan_efficient.cu
    quick --device=emulator --counts=lines --format=csv --algo=efficient --n=2^16 --block=128 \
        --columns=kernel,launch,line,global_load_requests,global_load_sectors,global_store_sectors,sector_use_pct,active_lanes,check |
        tail -n +2 >"$rows"
    cat "$rows"
    # Two loads and a store, in all launches together.
    grep -qxE "up_sweep_kernel,,$(line 'tree[fourth] += tree[' $source),346,10922,5461,12.5,31.*,passed" "$rows"
    [ "$(head -1 "$rows" | cut -d, -f1-3)" = ,, ]
    # Kernels are in the order of their launches.
    [ "$(cut -d, -f1 "$rows" | uniq | paste -sd' ')" = " up_sweep_first_kernel up_sweep_kernel down_sweep_kernel down_sweep_last_kernel" ]
    awk -F, '$1 != kernel { kernel = $1; last = 1e9 } { sum = $5 + $6; if (sum > last) exit 1; last = sum }' <(tail -n +2 "$rows")
    while IFS=, read -r kernel _ place _; do
        [ -z "$kernel" ] || [[ $place == *.cu*:+([0-9]) ]]
    done <"$rows"
}

@test "counts: the lines of a run add up to it, and two counts are equal" {
    local op
    for op in sort ${LONG:+scan compact reduce}; do
        counts "kernel,$summed" --counts=lines --op="$op" --algo=own --n=5000 --max=49 >"$rows"
        awk -F, '
            $1 == "" { check(); for (i = 2; i <= 8; i++) whole[i] = $i; next }
            { lines++; for (i = 2; i <= 8; i++) whole[i] -= $i }
            function check() { for (i = 2; i <= 8; i++) if (whole[i] + 0 != 0) bad = 1 }
            END { check(); exit bad || lines < 10 }' "$rows"
        counts "kernel,$summed" --counts=lines --op="$op" --algo=own --n=5000 --max=49 --warmup=2 | diff "$rows" -
    done
    # The row of the run is the same as without lines.
    counts $summed --algo=onesweep --op=sort --n=5000 >"$rows"
    counts $summed --algo=onesweep --op=sort --n=5000 --counts=lines | head -1 | diff "$rows" -
}

@test "counts: the lines of a user's source" {
    local source=$BATS_TEST_TMPDIR/tiles.cu
    cat >"$source" <<'END'
#include <scanbench_own.h>
/* The second kernel is slow for reasons of its own: a stride, conflicts, and one lane at work. */
template <class T> __global__ void prefix(const T *in, T *out, int n)
{
    if (threadIdx.x == 0)
        for (int i = 0, sum = 0; i < n; sum += in[i++])
            out[i] = sum;
}
__device__ int column(const int *in)
{
    return in[32 * threadIdx.x]; /* stride */
}
__global__ void slow(const int *in, int *spare)
{
    __shared__ int words[1024];
    words[32 * threadIdx.x] = column(in); /* conflicts */
    __syncthreads();
    if (threadIdx.x == 5)
        *spare += words[0]; /* one */
}
void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    static int *spare;
    if (!spare)
        cudaMalloc(&spare, sizeof *spare);
    slow<<<1, 32, 0, stream>>>(in, spare);
    prefix<<<1, 32, 0, stream>>>(in, out, n);
}
SCANBENCH_SCAN("tiles", scan)
END
    counts kernel,line,global_load_requests,global_load_sectors,sector_use_pct,shared_requests,bank_conflicts,active_lanes \
        --counts=lines --algo="$source" --n=1024 >"$rows"
    cat "$rows"
    grep -qx "slow,$(line '/* stride */' "$source"),1,32,12.5,0,0,32" "$rows"
    grep -qx "slow,$(line '/* conflicts */' "$source"),0,0,,1,31,32" "$rows"
    grep -qx "slow,$(line '/* one */' "$source"),1,1,12.5,1,0,1" "$rows"
    grep -q "^prefix,$(line 'out[i] = sum' "$source")," "$rows"
    # A launch has what its lines have.
    counts kernel,line,bank_conflicts --counts=lines --kernels --algo="$source" --n=1024 | grep -qx 'slow,,31'
}

@test "counts: lines in the table, in Markdown and JSON" {
    run --separate-stderr quick --device=emulator --algo=efficient,naive --n=2^12 --counts=lines --format=table
    [ "$status" -eq 0 ]
    has "$output" 'global  sectors  used  shared  conflicts  lanes' $'\n  up_sweep\n    scan_efficient.cu:' \
        $'\n  hillis_steele_step\n'
    [ "$(grep -c '^naive ' <<<"$output")" -eq 1 ]
    quick --device=emulator --algo=efficient --n=2^12 --counts=lines --format=markdown >"$rows"
    grep -qE '^\| scan \| efficient \| up\\_sweep\\_kernel \| scan\\_efficient.cu:[0-9]+ \|' "$rows"
    quick --device=emulator --algo=efficient --n=2^12 --counts=lines --format=json |
        python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert rows[0]["line"] is None and rows[0]["kernel"] is None
assert all(row["line"] and row["kernel"] and row["launch"] is None and row["time_ms"] is None for row in rows[1:])'
}

@test "counts: --resume adds the lines that are missing, and takes none for a run" {
    local flags=("--algo=efficient,naive,serial" "--device=emulator,cpu" "--n=100,1000")
    quick "${flags[@]}" --counts=lines --output="$rows" --samples-file="$rows.samples"
    local cut
    for cut in 1 2 3 7 12 13 14 20 "$(wc -l <"$rows")"; do
        head -n "$cut" "$rows" >"$rows.cut"
        rm -f "$rows.cut.samples"
        quick "${flags[@]}" --counts=lines --output="$rows.cut" --resume
        diff <(read_csv "$rows" algo n kernel line | sort) <(read_csv "$rows.cut" algo n kernel line | sort)
    done
    # A run that was counted without lines gets them, and then nothing is missing.
    quick "${flags[@]}" --counts --output="$rows.whole"
    quick "${flags[@]}" --counts=lines --output="$rows.whole" --resume
    diff <(read_csv "$rows" algo n kernel line | sort) <(read_csv "$rows.whole" algo n kernel line | sort)
    cp "$rows.whole" "$rows.before"
    quick "${flags[@]}" --counts=lines --output="$rows.whole" --resume
    cmp "$rows.before" "$rows.whole"
    # Lines have no samples, and are not added again for their sake.
    cp "$rows" "$rows.before"
    quick "${flags[@]}" --counts=lines --output="$rows" --samples-file="$rows.samples" --resume
    cmp "$rows.before" "$rows"
    # Launches are told from lines.
    quick "${flags[@]}" --counts=lines --kernels --output="$rows" --resume
    quick "${flags[@]}" --counts=lines --kernels --output="$rows.both"
    diff <(read_csv "$rows.both" algo n kernel launch line | sort) <(read_csv "$rows" algo n kernel launch line | sort)
}

@test "counts: --resume says that rows without counts are kept" {
    local flags=("--algo=naive,memcpy" --device=emulator --samples=1 --output="$rows")
    "$scanbench" "${flags[@]}" --n=100
    run -0 "$scanbench" "${flags[@]}" --n=100,200,300 --counts --resume
    [ "$output" = "scanbench: --resume: rows without counts are kept without, such as scan naive, n = 100; remove them to count them" ]
    [ "$(read_csv "$rows" n | sort -u | paste -sd' ')" = '100 200 300' ]
    run -0 "$scanbench" "${flags[@]}" --n=200,300 --counts --resume
    [ -z "$output" ]
}

@test "counts: a file from before the column line goes on without lines only" {
    local flags=(--algo=naive --device=emulator --n=100)
    local before
    before=$("$scanbench" --list-columns | sed -n 's/^\([a-z0-9_]*\) .*/\1/p' | grep -vx line | paste -sd,)
    quick "${flags[@]}" --columns="$before" --output="$rows"
    fails 2 "${flags[@]}" --counts=lines --columns="$before" --output="$rows" --resume
    has "$stderr" --resume 'without the column line'
    quick "${flags[@]}" --counts --columns="$before" --output="$rows" --resume
    [ "$(wc -l <"$rows")" -eq 2 ]
}

@test "counts: rows of lines are no rows of algorithms to a baseline and to compare.sh" {
    local flags=(--algo=efficient --device=emulator --n=1000)
    quick "${flags[@]}" --output="$rows"
    quick "${flags[@]}" --counts=lines --output="$rows.lines"
    run --separate-stderr quick "${flags[@]}" --counts=lines --baseline="$rows" --columns=kernel
    has "$stderr" '1 of 1 rows of the emulator have no counts to compare'
    run --separate-stderr sh scripts/compare.sh "$rows" "$rows.lines"
    [ "$stderr" = 'compare.sh: 1 configuration of the emulator without counts in both files, and its times are not compared; run both with --counts' ]
    run -0 sh scripts/compare.sh "$rows.lines" "$rows.lines"
    [ "$output" = 'counts in the emulator: 0 changed, 1 same' ]
}

@test "counts: what --counts takes" {
    fails 2 --device=emulator --counts=line
    has "$stderr" --counts=line 'did you mean "lines"'
    fails 2 --device=emulator --counts=
    has "$stderr" 'no value after the ='
}

@test "counts: without --counts the columns are empty" {
    [ "$(quick --device=emulator --algo=naive --n=1000 --format=csv --columns=barriers_per_block,atomics,check | tail -1)" = ,,passed ]
}

@test "counts: where nothing can be counted" {
    fails 2 --device=cpu --counts
    has "$stderr" --counts 'only kernels are counted'
    # Only `make test-long` compiles kernels with sanitizers.
    [ -n "${LONG-}" ] && [ -x build/asan/scanbench ] || return 0
    run --separate-stderr build/asan/scanbench --device=emulator --algo=naive --n=100 --samples=1 --counts \
        --format=csv --columns=check,shared_requests
    [ "$output" = $'check,shared_requests\npassed,' ]
    [ "$stderr" = "scanbench: --counts: this build does not count; it has sanitizers, or its compiler lacks -fsanitize=thread" ]
}

@test "counts: keys whose range is no power of two are sorted in as many passes" {
    long_test
    # A bit more than half of the range of u32 had one level more, which moved 1.8 times as much.
    local max sectors=global_load_sectors,global_store_sectors usual
    usual=$(counts $sectors --op=sort --algo=adaptive --type=u32 --n=400003 --max=2^32-1 | tr , +)
    for max in 2400000000 3000000000; do
        [ $((10 * ($(counts $sectors --op=sort --algo=adaptive --type=u32 --n=400003 --max=$max | tr , +)))) \
            -le $((11 * (usual))) ]
    done
}
