/* scan_reduce_then_scan: totals first, so that every element is written once.
 * Source:  Dotsenko, Govindaraju, Sloan, Boyd and Manferdelli, "Fast scan
 *          algorithms on graphics processors", ICS 2008; Merrill and Grimshaw,
 *          "Parallel scan for stream architectures", 2009.
 * Work:    O(n). Depth: log_tile(n) levels of two launches.
 * DRAM:    3n elements: read for the totals, read again and written by the scan.
 * Shared:  totals[warps].
 * Relies:  on 64 bytes in flight per thread: all of a thread's loads are issued
 *          before the first is used. */
#include "reduce_then_scan.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    with_operand<false>(problem, [&](auto zero) {
        with_block(problem->block, [&](auto block) {
            using T = decltype(zero);
            const T *in = static_cast<const T *>(call->input);
            T *totals = static_cast<T *>(call->scratch);
            reduce_then_scan::reduce_levels<T, block.value>(queue_of(call), in, totals, problem->n);
            reduce_then_scan::scan_levels<T, block.value>(queue_of(call), in,
                                                          static_cast<T *>(call->output), totals,
                                                          problem->n, problem->kind);
        });
    });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return reduce_then_scan::level_bytes(problem, problem->block);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_reduce_then_scan) = {
    .name = "reduce-then-scan",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 256,
    .summary = "block sums first, scan them, then one pass: 3n elements instead of 4n",
    .source = "Dotsenko et al. 2008; Merrill and Grimshaw 2009",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
