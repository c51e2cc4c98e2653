/* reduce_tree_smem: a tree per tile in shared memory, repeated over the roots.
 * Source:  Harris, "Optimizing parallel reduction in CUDA", 2007.
 * Work:    O(n). Depth: O(log n), in log_tile(n) launches.
 * DRAM:    one read; a total per tile, written and read.
 * Shared:  partial[BLOCK]. The active threads are always the first ones, which
 *          read and write neighbouring words: no bank conflict, no divergence in a warp. */
#include "../warp.cuh"
#include "../classic/divide_and_conquer.cuh"

namespace SCANBENCH_BACKEND
{

/* The first addition happens on the way into shared memory. */
template <unsigned BLOCK> constexpr unsigned TILE = 2 * BLOCK;

template <class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK) reduce_tile_kernel(const T *in, T *totals, uint64_t n)
{
    T *partial = shared_memory<T>();
    const uint64_t i = (uint64_t)blockIdx.x * TILE<BLOCK> + threadIdx.x;
    const T low = i < n ? in[i] : T(0);
    const T high = i + BLOCK < n ? in[i + BLOCK] : T(0);
    partial[threadIdx.x] = low + high;
#pragma unroll
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads(); /* the previous level is complete */
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        totals[blockIdx.x] = partial[0];
}

/* `scratch` holds the totals of all levels but the last, level by level. */
template <class T, unsigned BLOCK>
static void reduce_levels(queue *queue, const T *in, uint64_t n, T *scratch, T *result)
{
    const uint64_t tiles = n > 0 ? ceil_div(n, TILE<BLOCK>) : 1; /* the sum of no elements is 0 */
    T *totals = tiles > 1 ? scratch : result;
    launch<reduce_tile_kernel<T, BLOCK>>(
        queue, {tiles, BLOCK, {(n + tiles) * sizeof(T)}, BLOCK * sizeof(T)}, in, totals, n);
    if (tiles > 1)
        reduce_levels<T, BLOCK>(queue, totals, tiles, scratch + totals_of_level(n, TILE<BLOCK>),
                                result);
}

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    with_operand<true>(problem, [&](auto zero) {
        with_block(problem->block, [&](auto block) {
            using T = decltype(zero);
            reduce_levels<T, block.value>(queue_of(call), static_cast<const T *>(call->input),
                                          problem->n, static_cast<T *>(call->scratch),
                                          static_cast<T *>(call->output));
        });
    });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return tile_totals_bytes(problem->n, 2 * problem->block, element_bytes(problem->type));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_tree_smem) = {
    .name = "tree-smem",
    .op = OP_REDUCE,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .default_block = 256,
    .summary = "a tree per tile in shared memory, one launch per level of tiles",
    .source = "Harris 2007",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
