/* compact_over_scan: stream compaction by map, scan and scatter, over any scan.
 * Source:  Blelloch 1990; GPU Gems 3, chapter 39, section 39.3.1.
 * Work:    O(n) and the scan's. Depth: the scan's and two launches.
 * DRAM:    4n and as many elements written as are kept (elements and flags of
 *          the same size), and the scan's.
 * Shared:  the scan's.
 * Relies:  on the scan being exclusive: an index is the place of the element.
 *          The count is that of the last index, so it cannot be another's. */
#include "is_not_zero.cuh"
#include "over_scan.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    if (problem->n == 0) {
        succeeded(queue_of(call), "count",
                  cudaMemsetAsync(call->count, 0, sizeof *call->count, queue_of(call)->stream));
        return;
    }
    with_sum_type<OP_COMPACT>(problem->type, [&](auto zero) {
        using T = decltype(zero);
        move_by_scan<REST_DROPPED>(call, static_cast<const T *>(call->input),
                                   static_cast<T *>(call->output), call->scratch, call->epoch,
                                   is_not_zero{}, call->count);
    });
}

static void prepare(const struct call *call)
{
    prepare_flag_scan(call, call->scratch);
}

} // namespace SCANBENCH_BACKEND

/* The name, the block size and the source come from the scan. */
ALGORITHM_DESCRIPTOR(compact_over_scan) = {
    .name = "over-scan",
    .op = OP_COMPACT,
    .family = FAMILY_OWN,
    .summary = "map to 0/1, the scan of this name, scatter",
    .supports = SCANBENCH_BACKEND::flag_scan_supports,
    .scratch_bytes = SCANBENCH_BACKEND::over_scan_scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
