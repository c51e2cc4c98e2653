/* compact_lookahead: single-pass stream compaction, persistent and warp-specialised.
 * Source:  see lookahead.cuh.
 * Work:    O(n), and per tile one read of a status for each multiprocessor.
 * DRAM:    n elements read and the kept ones written: no flags, no indices.
 * Shared:  as scan_lookahead; kept elements are packed within their own stage.
 * Relies:  on bulk copies (sm_90) and on all blocks being resident. */
#include "lookahead.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_compaction(call, [&]<class Slices>(auto stream) {
        lookahead::run<Slices::template slice>(call, stream);
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_lookahead) = {
    .name = "lookahead",
    .op = OP_COMPACT,
    .traits = TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .summary = "single pass, persistent blocks, warps with one job each, bulk copies (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::lookahead::supports,
    .scratch_bytes = SCANBENCH_BACKEND::lookahead::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
