/* blelloch.cuh: Blelloch's work-efficient scan of one tile in shared memory.
 * Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990;
 *         GPU Gems 3, chapter 39.
 *
 * A thread owns two neighbouring elements. Their sum, the first level of the
 * tree, never leaves its registers, so that the tree in shared memory has one
 * leaf a thread. `Layout::at(i)` says where leaf i lies: that mapping is all
 * that padding against bank conflicts changes. */
#ifndef SCANBENCH_KERNELS_BLELLOCH_CUH
#define SCANBENCH_KERNELS_BLELLOCH_CUH

#include "divide_and_conquer.cuh"

namespace SCANBENCH_BACKEND
{

/* Leaf i at place i: at stride 2^k, 2^k threads of a warp share a bank. */
struct dense_layout {
    __host__ __device__ static constexpr unsigned at(unsigned i)
    {
        return i;
    }
};

/* One unused place every 32: strides of any power of two spread over the banks. */
struct padded_layout {
    __host__ __device__ static constexpr unsigned at(unsigned i)
    {
        return i + i / 32;
    }
};

/* Separates two levels of the tree of which the first has `threads` at work:
 * within one warp no barrier of the block is needed. */
__device__ __forceinline__ void sync_level(unsigned threads)
{
    if (threads > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* Exclusive scan of the blockDim.x leaves of `tree`, in place. Every thread has
 * stored its leaf, none has waited. Returns with every leaf readable by its own
 * thread; the total of all leaves is left with thread 0. */
template <class T, class Layout> __device__ T block_blelloch_scan(T *tree)
{
    const unsigned leaves = blockDim.x, t = threadIdx.x;

    /* Up-sweep: node t of a level ends at leaf (2t+2) * stride - 1. */
    unsigned stride = 1;
    for (unsigned nodes = leaves / 2; nodes > 0; nodes /= 2) {
        sync_level(2 * nodes);
        if (t < nodes)
            tree[Layout::at((2 * t + 2) * stride - 1)] +=
                tree[Layout::at((2 * t + 1) * stride - 1)];
        stride *= 2;
    }

    T total = T(0);
    if (t == 0) {
        total = tree[Layout::at(leaves - 1)];
        tree[Layout::at(leaves - 1)] = T(0);
    }

    /* Down-sweep: the left child gets its parent's prefix, the right child that
     * and the left child's sum. */
    for (unsigned nodes = 1; nodes < leaves; nodes *= 2) {
        stride /= 2;
        sync_level(nodes);
        if (t < nodes) {
            T &left = tree[Layout::at((2 * t + 1) * stride - 1)];
            T &right = tree[Layout::at((2 * t + 2) * stride - 1)];
            const T sum = left;
            left = right;
            right += sum;
        }
    }
    sync_level(leaves);
    return total;
}

/* Scans each tile of 2 * blockDim.x elements by itself. */
template <class T, class Layout>
__global__ void blelloch_tile_kernel(const T *in, T *out, T *totals, uint64_t n, bool inclusive)
{
    T *tree = shared_memory<T>();
    const unsigned t = threadIdx.x;
    const uint64_t i = 2 * global_thread();

    const pack<T, 2> x = load_pack<T, 2>(in, i, n);
    tree[Layout::at(t)] = x.at[0] + x.at[1];
    const T total = block_blelloch_scan<T, Layout>(tree);
    const T prefix = tree[Layout::at(t)];

    pack<T, 2> sums;
    sums.at[0] = inclusive ? prefix + x.at[0] : prefix;
    sums.at[1] = inclusive ? prefix + x.at[0] + x.at[1] : prefix + x.at[0];
    store_pack(out, i, n, sums);
    if (t == 0 && totals != nullptr)
        totals[blockIdx.x] = total;
}

/* The whole scan: Blelloch in every tile, divide and conquer above. */
template <class Layout> void scan_blelloch(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const unsigned block = problem->block, tile = 2 * block;
    with_sum_type(problem->type, [&](auto zero) {
        using T = decltype(zero);
        const size_t shared_bytes = (Layout::at(block - 1) + 1) * sizeof(T);
        const auto scan_tiles = [&](const T *in, T *out, T *totals, uint64_t n, scan_kind kind) {
            launch<blelloch_tile_kernel<T, Layout>>(queue_of(call),
                                                    {ceil_div(n, tile), block, shared_bytes}, in,
                                                    out, totals, n, kind == KIND_INCLUSIVE);
        };
        scan_by_tiles(queue_of(call), static_cast<const T *>(call->input),
                      static_cast<T *>(call->output), static_cast<T *>(call->scratch), problem->n,
                      problem->kind, tile, block, scan_tiles);
    });
}

inline size_t scan_blelloch_scratch_bytes(const struct problem *problem)
{
    return scan_by_tiles_scratch_bytes(problem, 2 * problem->block);
}

} // namespace SCANBENCH_BACKEND

#endif
