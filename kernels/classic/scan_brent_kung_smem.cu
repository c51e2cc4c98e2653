/* scan_brent_kung_smem: Brent-Kung scan in shared memory.
 * Source:  Brent and Kung, "A regular layout for parallel adders", IEEE Trans.
 *          Computers C-31(3), 1982; Kirk and Hwu, chapter on prefix sum.
 * Work:    O(n). Depth: 2 log2(block) - 1 steps per tile, log_tile(n) levels.
 * DRAM:    4n elements: tiles read and written, then once more for uniform add.
 * Shared:  tree[block], one leaf per thread, two elements per leaf.
 * Relies:  on the up-sweep leaving inclusive sums at the right end of every
 *          node: the down-sweep only adds them half a node further, and does
 *          not clear the root. */
#include "../warp.cuh"
#include "divide_and_conquer.cuh"

namespace SCANBENCH_BACKEND
{

/* Up-sweep: leaf (t+1) * 2*half - 1 gets the sum that ends `half` before it. */
template <class T, unsigned LEAVES>
__device__ __forceinline__ void brent_kung_up(T *tree, unsigned half)
{
    const unsigned right = (threadIdx.x + 1) * 2 * half - 1;
    if (right < LEAVES)
        tree[right] += tree[right - half];
}

/* Down-sweep: the leaf `half` after it gets the sum that ends there. */
template <class T, unsigned LEAVES>
__device__ __forceinline__ void brent_kung_down(T *tree, unsigned half)
{
    const unsigned left = (threadIdx.x + 1) * 2 * half - 1;
    if (left + half < LEAVES)
        tree[left + half] += tree[left];
}

/* Inclusive scan of LEAVES leaves, in place, by as many threads. The first warp alone runs the
 * levels of up to 32 nodes. */
template <class T, unsigned LEAVES> __device__ __forceinline__ void block_brent_kung_scan(T *tree)
{
    constexpr unsigned LOWEST_OF_WARP = LEAVES > 2 * WARP ? LEAVES / (2 * WARP) : 1;
    sync_threads<LEAVES>();
#pragma unroll
    for (unsigned half = 1; half < LOWEST_OF_WARP; half *= 2) {
        brent_kung_up<T, LEAVES>(tree, half);
        __syncthreads();
    }
    if (threadIdx.x < WARP) {
#pragma unroll
        for (unsigned half = LOWEST_OF_WARP; half < LEAVES; half *= 2) {
            brent_kung_up<T, LEAVES>(tree, half);
            __syncwarp();
        }
#pragma unroll
        for (unsigned half = LEAVES / 4; half >= LOWEST_OF_WARP; half /= 2) {
            brent_kung_down<T, LEAVES>(tree, half);
            __syncwarp();
        }
    }
#pragma unroll
    for (unsigned half = LOWEST_OF_WARP / 2; half > 0; half /= 2) {
        __syncthreads();
        brent_kung_down<T, LEAVES>(tree, half);
    }
    sync_threads<LEAVES>();
}

template <class T, unsigned BLOCK> struct brent_kung_tile {
    static constexpr unsigned PER_THREAD = 2;

    struct shared {
        T tree[BLOCK];
    };
    static constexpr size_t SHARED_BYTES = sizeof(shared);

    static __device__ __forceinline__ pack<T, 2> prefixes(pack<T, 2> x, bool inclusive, T *total)
    {
        shared *s = shared_memory<shared>();
        const unsigned t = threadIdx.x;
        s->tree[t] = x.at[0] + x.at[1];
        block_brent_kung_scan<T, BLOCK>(s->tree);
        *total = s->tree[BLOCK - 1];
        /* The scan over pairs is inclusive; shifted by one it is exclusive. */
        const T before = t > 0 ? s->tree[t - 1] : T(0), first = before + x.at[0];
        return inclusive ? pack<T, 2>{first, T(first + x.at[1])} : pack<T, 2>{before, first};
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_brent_kung_smem) = {
    .name = "brent-kung-smem",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 128,
    .summary = "Brent-Kung in shared memory: inclusive, then shifted to exclusive",
    .source = "Brent and Kung 1982",
    .scratch_bytes =
        SCANBENCH_BACKEND::scan_by_tiles_scratch_bytes<SCANBENCH_BACKEND::brent_kung_tile>,
    .run = SCANBENCH_BACKEND::scan_by_tiles<SCANBENCH_BACKEND::brent_kung_tile>,
};
