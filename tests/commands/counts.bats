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

@test "counts: two counts of one run are equal" {
    local op
    for op in scan compact sort reduce; do
        counts algo,shared_requests,bank_conflicts,atomics,active_lanes,global_load_sectors,global_store_sectors \
            --op=$op --algo=own --n=5000 --max=49 >"$rows"
        [ "$(wc -l <"$rows")" -gt 2 ]
        counts algo,shared_requests,bank_conflicts,atomics,active_lanes,global_load_sectors,global_store_sectors \
            --op=$op --algo=own --n=5000 --max=49 --warmup=2 | diff "$rows" -
    done
    # What a scan does to memory does not depend on the data.
    counts algo,global_load_requests,bank_conflicts,active_lanes --algo=own --n=5000 >"$rows"
    counts algo,global_load_requests,bank_conflicts,active_lanes --algo=own --n=5000 --seed=7 | diff "$rows" -
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
    has "$output" 'algo            kernels  B/elem  used  shared  conflicts  barriers  check' \
        'efficient-smem        3    16.1   98%    1207       1785       2.7  passed'
    has "$(quick --device=emulator --algo=naive --n=2^12 --format=table)" time
    # A GPU or a CPU in the table has times.
    has "$(quick --device=emulator,cpu --algo=naive,serial --n=2^12 --counts --format=table)" time GB/s
}

@test "counts: without --counts the columns are empty" {
    [ "$(quick --device=emulator --algo=naive --n=1000 --format=csv --columns=barriers_per_block,atomics,check | tail -1)" = ,,passed ]
}

@test "counts: where nothing can be counted" {
    fails 2 --device=cpu --counts
    has "$stderr" --counts 'only kernels are counted'
    [ ! -x build/asan/scanbench ] && return
    run --separate-stderr build/asan/scanbench --device=emulator --algo=naive --n=100 --samples=1 --counts \
        --format=csv --columns=check,shared_requests
    [ "$output" = $'check,shared_requests\npassed,' ]
    [ "$stderr" = "scanbench: --counts: this build does not count; it has sanitizers, or its compiler lacks -fsanitize=thread" ]
}
