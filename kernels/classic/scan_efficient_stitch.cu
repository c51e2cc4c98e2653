/* scan_efficient_stitch: tiles in shared memory; every block sums all earlier totals.
 * Source:  a common shortcut in first implementations of a large scan.
 * Work:    O(n + tiles^2). Depth: one tile, then the sum of all totals before it.
 * DRAM:    4n elements; tiles^2 / 2 reads of totals come from the L2.
 * Shared:  tree[block + block/32] and total, then totals[warps].
 * Relies:  on few tiles: the totals are not scanned, so each block adds up all
 *          earlier ones. It shows why the scan of totals is recursive. */
#include "blelloch.cuh"
#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned BLOCK> using stitched_tile = blelloch_tile<T, BLOCK, padded_layout>;

/* Adds the totals of all earlier tiles to each element of the tile. */
template <class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK) stitch_kernel(T *out, const T *totals, uint64_t n)
{
    T mine = T(0);
    for (uint64_t tile = threadIdx.x; tile < blockIdx.x; tile += BLOCK)
        mine += totals[tile];
    const T prefix = sum_of_warps<T>(warp_sum(mine), shared_memory<T>());

    const uint64_t i = 2 * global_thread();
    if (i >= n)
        return;
    pack<T, 2> x = load_pack<T, 2>(out, i, n);
    x.at[0] += prefix;
    x.at[1] += prefix;
    store_pack(out, i, n, x);
}

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    with_operand<false>(problem, [&](auto zero) {
        with_block(problem->block, [&](auto block) {
            using T = decltype(zero);
            constexpr unsigned BLOCK = block.value;
            const uint64_t tiles = ceil_div(problem->n, 2 * BLOCK);
            T *out = static_cast<T *>(call->output), *totals = static_cast<T *>(call->scratch);
            launch<tile_scan_kernel<stitched_tile, T, BLOCK>>(
                queue_of(call),
                {tiles, BLOCK, tile_scan_traffic<T>(problem->n, tiles),
                 stitched_tile<T, BLOCK>::SHARED_BYTES},
                static_cast<const T *>(call->input), out, totals, problem->n,
                problem->kind == KIND_INCLUSIVE);
            if (tiles > 1)
                launch<stitch_kernel<T, BLOCK>>(queue_of(call),
                                                {tiles, BLOCK,
                                                 tile_scan_traffic<T>(problem->n, tiles),
                                                 BLOCK / WARP * sizeof(T)},
                                                out, totals, problem->n);
        });
    });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return ceil_div(problem->n, 2 * problem->block) * element_bytes(problem->type);
}

/* Nearly all of the time is spent on reading totals: tiles^2 / 2 of them, at about 32 bytes per
 * nanosecond and multiprocessor. */
static const char *supports(const struct problem *problem)
{
    const double tiles = (double)ceil_div(problem->n, 2 * problem->block);
    const double bytes = tiles * tiles / 2 * (double)element_bytes(problem->type);
    const double predicted_ms = bytes / (32e6 * problem->device->multiprocessors);
    return predicted_ms > problem->max_time_ms
               ? "its time, which grows with n^2, would exceed --max-time"
               : nullptr;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_efficient_stitch) = {
    .name = "efficient-stitch",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK | TRAIT_NO_SORT,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 1024,
    .summary = "shared-memory tiles; each block adds all earlier totals: quadratic",
    .source = "folklore",
    .supports = SCANBENCH_BACKEND::supports,
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
