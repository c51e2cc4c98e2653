/* reduce_single_pass: one launch; the totals of blocks are added by atomics or by one block.
 * Source:  the threadFenceReduction sample of the CUDA toolkit for one launch;
 *          Luitjens, "Faster parallel reductions on Kepler", 2014, for the warps.
 * Work:    O(n). Depth: O(n / threads + log threads).
 * DRAM:    one read, 16 bytes per access; one total per block if they are not added by atomics.
 * Shared:  warp_totals[32], last.
 * Order of additions: any for integers of up to 4 bytes, whose sum is the same; else fixed by n,
 *          the block size and the number of multiprocessors.
 * Relies:  see block_totals.cuh. */
#include "block_totals.cuh"
#include "segment_sums.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* Sums PACKS rows, one pack per row for this thread, from `first` on; all loads are issued before
 * the first is used. FULL: the array has them all. Otherwise packs that it cuts off are left out,
 * and the array's first pack is loaded in their place; it must have one. */
template <bool FULL, class T, class Index>
__device__ __forceinline__ register_sum<T> sum_of_rows(const T *in, Index first, Index row, Index n)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const auto there = [&](unsigned p) { return FULL || first + p * row + WIDTH <= n; };
    held_pack<T> x[PACKS];
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        x[p] = load_held<held_pack<T>>(in + (there(p) ? first + p * row : 0));
    register_sum<T> sum(0);
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        sum += there(p) ? pack_sum(x[p]) : register_sum<T>(0);
    return sum;
}

/* The thread's sum over the last tile of the array, which begins with `first` and may be partial,
 * and the elements of the pack that the array cuts off. */
template <class T, class Index>
__device__ __forceinline__ register_sum<T> sum_of_last_tile(const T *in, Index first, Index n)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const unsigned cut_off = n % WIDTH;
    const T last = threadIdx.x < cut_off ? in[n - cut_off + threadIdx.x] : T(0);
    register_sum<T> sum(0);
    if (n >= WIDTH)
        sum = sum_of_rows<false>(in, first + threadIdx.x * WIDTH, (Index)blockDim.x * WIDTH, n);
    return sum + widen(last);
}

/* The thread's sum over the tiles of its block. */
template <class T> __device__ __forceinline__ register_sum<T> thread_sum(const T *in, uint64_t n)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t row = (uint64_t)blockDim.x * WIDTH; /* elements: one pack per thread */
    const uint64_t tile = PACKS * row, stride = gridDim.x * tile;
    uint64_t first = blockIdx.x * tile;
    register_sum<T> sum(0);
    for (; first + tile <= n; first += stride)
        sum += sum_of_rows<true>(in, first + threadIdx.x * WIDTH, row, n);
    if (first < n)
        sum += sum_of_last_tile(in, first, n);
    return sum;
}

template <class T>
__global__ void __launch_bounds__(1024)
    reduce_kernel(const T *in, uint64_t n, block_sums<register_sum<T>> sums, T *result)
{
    sum_of_blocks(
        sums, 0, blockIdx.x, [&] { return thread_sum(in, n); }, result);
}

/* A tile at most. Its code is short: with cold caches, it comes from DRAM. */
template <class T>
__global__ void __launch_bounds__(1024) reduce_tile_kernel(const T *in, unsigned n, T *result)
{
    using Sum = register_sum<T>;
    const Sum total =
        block_sum(sum_of_last_tile(in, 0u, n), shared_memory<shared_layout<Sum>>()->warp_totals);
    if (threadIdx.x == 0)
        *result = narrow<T>(total);
}

/* Where blocks add by atomics, one per tile, up to MOST_ATOMICS: blocks with little work keep all
 * multiprocessors busy to the end. Else one per tile, up to as many as are resident together or
 * two, since one sums a single tile (reduce_tile_kernel). At least one: the sum of no elements is
 * 0. */
template <class Sum> static unsigned blocks_for(const struct problem *problem)
{
    const uint64_t tile =
        (uint64_t)problem->block * PACKS * PACK_BYTES / element_bytes(problem->type);
    const unsigned most = ADDS_BY_ATOMICS<Sum>
                              ? (unsigned)MOST_ATOMICS
                              : std::max(resident_blocks(problem->device, problem->block), 2u);
    return (unsigned)std::clamp<uint64_t>(ceil_div(problem->n, tile), 1, most);
}

static size_t scratch_bytes(const struct problem *problem)
{
    if (problem->segments != SEGMENTS_NONE)
        return segment_sums::scratch_bytes(problem);
    size_t bytes = 0;
    with_stored_operand<true>(problem, [&](auto zero) {
        using Sum = register_sum<decltype(zero)>;
        bytes = block_sums_bytes<Sum>(1, blocks_for<Sum>(problem));
    });
    return bytes;
}

template <class T> static void reduce(const struct call *call)
{
    const struct problem *problem = &call->problem;
    using Sum = register_sum<T>;
    const unsigned blocks = blocks_for<Sum>(problem);
    const launch_shape shape = {
        blocks, problem->block, {problem->n * sizeof(T), sizeof(T)}, sizeof(shared_layout<Sum>)};
    const T *in = static_cast<const T *>(call->input);
    T *result = static_cast<T *>(call->output);
    if (blocks == 1)
        return launch<reduce_tile_kernel<T>>(queue_of(call), shape, in, (unsigned)problem->n,
                                             result);
    launch<reduce_kernel<T>>(queue_of(call), shape, in, problem->n,
                             block_sums_in<Sum>(call, 1, blocks), result);
}

static void run(const struct call *call)
{
    if (call->problem.segments != SEGMENTS_NONE)
        return segment_sums::run(call);
    with_stored_operand<true>(&call->problem, [&](auto zero) { reduce<decltype(zero)>(call); });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_single_pass) = {
    .name = "single-pass",
    .op = OP_REDUCE,
    .traits = TRAIT_HAS_BLOCK,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .segment_types = TYPES_OF_OWN_SUMS,
    .default_block = 512,
    .summary =
        "one launch; blocks add their totals by atomics, or the last one to begin adds them all",
    .source = "CUDA toolkit samples; Luitjens 2014",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
