/* blelloch.cuh: Blelloch's work-efficient scan of one tile in shared memory.
 * Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990;
 *         GPU Gems 3, chapter 39.
 *
 * Each thread owns two neighbouring elements. Their sum, the first level of the
 * tree, stays in its registers, so the tree in shared memory has one leaf per
 * thread. `Layout::at(i)` is the position of leaf i. Padding against bank
 * conflicts changes only that mapping.
 *
 * On levels of at most 32 nodes only the first warp has work, so it runs them
 * alone, without barriers of the block. */
#pragma once

#include "../warp.cuh"
#include "divide_and_conquer.cuh"

namespace SCANBENCH_BACKEND
{

/* Leaf i is at index i: at stride 2^k, 2^k threads of a warp share a bank. */
struct dense_layout {
    __host__ __device__ static constexpr unsigned at(unsigned i)
    {
        return i;
    }
};

/* One unused word after every 32: strides of any power of two spread over the banks. */
struct padded_layout {
    __host__ __device__ static constexpr unsigned at(unsigned i)
    {
        return i + i / 32;
    }
};

/* Node t of the level with `nodes` nodes over LEAVES leaves: the indices of its right end and
 * of the right end of its left half. */
template <class Layout, unsigned LEAVES> struct tree_node {
    unsigned left, right;
    __device__ __forceinline__ tree_node(unsigned t, unsigned nodes)
    {
        const unsigned half = LEAVES / (2 * nodes);
        left = Layout::at((2 * t + 1) * half - 1);
        right = Layout::at((2 * t + 2) * half - 1);
    }
};

template <class T, class Layout, unsigned LEAVES>
__device__ __forceinline__ void up_sweep_level(T *tree, unsigned nodes)
{
    const tree_node<Layout, LEAVES> node(threadIdx.x, nodes);
    if (threadIdx.x < nodes)
        tree[node.right] += tree[node.left];
}

/* The left half gets its parent's prefix, the right half that plus the left sum. */
template <class T, class Layout, unsigned LEAVES>
__device__ __forceinline__ void down_sweep_level(T *tree, unsigned nodes)
{
    const tree_node<Layout, LEAVES> node(threadIdx.x, nodes);
    if (threadIdx.x < nodes) {
        const T sum = tree[node.left], prefix = tree[node.right];
        tree[node.left] = prefix;
        tree[node.right] = prefix + sum;
    }
}

/* Runs the levels of up to 32 nodes in the first warp; stores the total of the tree at
 * `*total`. */
template <class T, class Layout, unsigned LEAVES>
__device__ __forceinline__ void sweep_top_of_tree(T *tree, T *total)
{
    constexpr unsigned WIDEST = LEAVES / 2 < WARP ? LEAVES / 2 : WARP;
#pragma unroll
    for (unsigned nodes = WIDEST; nodes > 0; nodes /= 2) {
        up_sweep_level<T, Layout, LEAVES>(tree, nodes);
        __syncwarp();
    }
    if (threadIdx.x == 0) {
        *total = tree[Layout::at(LEAVES - 1)];
        tree[Layout::at(LEAVES - 1)] = T(0);
    }
#pragma unroll
    for (unsigned nodes = 1; nodes <= WIDEST; nodes *= 2) {
        __syncwarp();
        down_sweep_level<T, Layout, LEAVES>(tree, nodes);
    }
}

/* Exclusive scan of the LEAVES leaves of `tree`, in place, by as many threads, each of which
 * has just stored its own leaf. Afterwards every thread may read its own leaf and `*total`. */
template <class T, class Layout, unsigned LEAVES>
__device__ __forceinline__ void block_blelloch_scan(T *tree, T *total)
{
    sync_threads<LEAVES>();
#pragma unroll
    for (unsigned nodes = LEAVES / 2; nodes > WARP; nodes /= 2) {
        up_sweep_level<T, Layout, LEAVES>(tree, nodes);
        __syncthreads();
    }
    if (threadIdx.x < WARP)
        sweep_top_of_tree<T, Layout, LEAVES>(tree, total);
#pragma unroll
    for (unsigned nodes = 2 * WARP; nodes < LEAVES; nodes *= 2) {
        __syncthreads();
        down_sweep_level<T, Layout, LEAVES>(tree, nodes);
    }
    sync_threads<LEAVES>();
}

/* A tile for scan_by_tiles(). */
template <class T, unsigned BLOCK, class Layout> struct blelloch_tile {
    static constexpr unsigned PER_THREAD = 2;

    struct shared {
        T tree[Layout::at(BLOCK - 1) + 1];
        T total;
    };
    static constexpr size_t SHARED_BYTES = sizeof(shared);

    static __device__ __forceinline__ pack<T, 2> prefixes(pack<T, 2> x, bool inclusive, T *total)
    {
        shared *s = shared_memory<shared>();
        T &leaf = s->tree[Layout::at(threadIdx.x)];
        leaf = x.at[0] + x.at[1];
        block_blelloch_scan<T, Layout, BLOCK>(s->tree, &s->total);
        *total = s->total;
        const T before = leaf, first = before + x.at[0];
        return inclusive ? pack<T, 2>{first, T(first + x.at[1])} : pack<T, 2>{before, first};
    }
};

} // namespace SCANBENCH_BACKEND
