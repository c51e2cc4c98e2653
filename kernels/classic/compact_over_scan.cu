/* compact_over_scan: stream compaction by map, scan and scatter, over any scan.
 * Source:  Blelloch 1990; GPU Gems 3, chapter 39, section 39.3.1.
 * Work:    O(n) plus the scan's. Depth: the scan's plus two launches.
 * DRAM:    4n plus the kept elements written (if elements and flags have the
 *          same size), plus the scan's.
 * Shared:  the scan's.
 * Relies:  on the scan being exclusive: the index of a kept element is its place
 *          in the output. The count comes from the same scan's last index. */
#include "../is_not_zero.cuh"
#include "over_scan.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    if (problem->n == 0) {
        store_zero_count(call);
        return;
    }
    with_stored_type(problem->type, [&](auto zero) {
        using T = decltype(zero);
        move_by_scan<REST_DROPPED>(call, static_cast<const T *>(call->input),
                                   static_cast<T *>(call->output), call->scratch, is_not_zero{},
                                   call->count);
    });
}

static void prepare(const struct call *call)
{
    prepare_flag_scan(call, call->scratch);
}

} // namespace SCANBENCH_BACKEND

/* The table fills in the scan's name, block size and source. */
ALGORITHM_DESCRIPTOR(compact_over_scan) = {
    .name = "over-scan",
    .op = OP_COMPACT,
    .summary = "map to 0/1, scan, scatter",
    .supports = SCANBENCH_BACKEND::flag_scan_supports,
    .scratch_bytes = SCANBENCH_BACKEND::over_scan_scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
