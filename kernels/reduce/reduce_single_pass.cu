/* reduce_single_pass: one launch; the block that finishes last adds up all totals.
 * Source:  the threadFenceReduction sample of the CUDA toolkit for the last block;
 *          Luitjens, "Faster parallel reductions on Kepler", 2014, for the warps.
 * Work:    O(n). Depth: O(n / threads + log threads).
 * DRAM:    one read, 16 bytes per access; one total per block.
 * Shared:  warp_totals[32], last.
 * Order of additions: fixed by n, the block size and the number of multiprocessors.
 * Relies:  see block_totals.cuh. */
#include "block_totals.cuh"
#include "segment_sums.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* Sums PACKS rows, one pack per row for this thread, from `first` on; all loads are issued before
 * the first is used. FULL: the array has them all. Otherwise packs that it cuts off are left out,
 * and the array's first pack is loaded in their place; it must have one. */
template <bool FULL, class T>
__device__ __forceinline__ register_sum<T> sum_of_rows(const T *in, uint64_t first, uint64_t row,
                                                       uint64_t n)
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
    /* One block has the last tile, if that is partial, and the elements of the pack cut off. */
    if (first < n) {
        const unsigned cut_off = n % WIDTH;
        const T last = threadIdx.x < cut_off ? in[n - cut_off + threadIdx.x] : T(0);
        if (n >= WIDTH)
            sum += sum_of_rows<false>(in, first + threadIdx.x * WIDTH, row, n);
        sum += widen(last);
    }
    return sum;
}

template <class T>
__global__ void __launch_bounds__(1024)
    reduce_kernel(const T *in, uint64_t n, register_sum<T> *totals, ticket_counter *tickets,
                  unsigned last_ticket, T *result)
{
    auto *shared = shared_memory<shared_layout<register_sum<T>>>();
    const register_sum<T> total = block_sum(thread_sum(in, n), shared->warp_totals);
    sum_of_blocks(total, {totals, tickets, gridDim.x, blockIdx.x, last_ticket}, shared, result);
}

/* As many blocks as are resident together or have work; at least one, since the sum of no
 * elements is 0. */
static unsigned blocks_for(const struct problem *problem)
{
    const uint64_t tile =
        (uint64_t)problem->block * PACKS * PACK_BYTES / element_bytes(problem->type);
    return (unsigned)std::clamp<uint64_t>(ceil_div(problem->n, tile), 1,
                                          resident_blocks(problem->device, problem->block));
}

/* The counter and one total per block. */
static size_t scratch_bytes(const struct problem *problem)
{
    if (problem->segments != SEGMENTS_NONE)
        return segment_sums::scratch_bytes(problem);
    return PACK_BYTES + blocks_for(problem) * sizeof(uint64_t);
}

template <class T> static void reduce(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const unsigned blocks = blocks_for(problem);
    using Sum = register_sum<T>;
    launch<reduce_kernel<T>>(
        queue_of(call),
        {blocks,
         problem->block,
         {problem->n * sizeof(T) + blocks * sizeof(Sum), sizeof(T)},
         sizeof(shared_layout<Sum>)},
        static_cast<const T *>(call->input), problem->n,
        reinterpret_cast<Sum *>(static_cast<char *>(call->scratch) + PACK_BYTES),
        static_cast<ticket_counter *>(call->scratch), call->epoch * blocks - 1,
        static_cast<T *>(call->output));
}

static void run(const struct call *call)
{
    if (call->problem.segments != SEGMENTS_NONE)
        return with_sum_type(call->problem.type, [&](auto zero) {
            with_counting(zero, [&]<class Operand>(Operand) { segment_sums::run<Operand>(call); });
        });
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
    .summary = "one launch over resident blocks; the last to finish adds up the totals",
    .source = "CUDA toolkit samples; Luitjens 2014",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
