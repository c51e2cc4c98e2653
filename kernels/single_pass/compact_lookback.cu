/* compact_lookback: single-pass stream compaction with decoupled look-back.
 * Source:  Merrill and Garland, NVR-2016-002, for the counts of tiles.
 * Work:    O(n). Depth: as scan_lookback.
 * DRAM:    n elements read and the kept ones written: no flags, no indices.
 * Shared:  as scan_lookback, and the tile, where its kept elements are packed.
 * Relies:  on tickets, not on blockIdx: see lookback.cuh. */
#include "lookback.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_compaction(call, [&]<class Slices>(auto stream) { lookback::run<Slices>(call, stream); });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_lookback) = {
    .name = "lookback",
    .op = OP_COMPACT,
    .traits = TRAIT_HAS_BLOCK | TRAIT_UNALIGNED | TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .default_block = 256,
    .summary = "single pass, decoupled look-back over the counts of tiles",
    .source = "Merrill and Garland 2016",
    .scratch_bytes = SCANBENCH_BACKEND::lookback::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
