/* compact_one_wave: stream compaction of arrays that fit on the chip.
 * Source:  as scan_one_wave, over counts.
 * Work:    O(n), and tiles^2 / 2 reads of a status. Depth: O(log n), one hop.
 * DRAM:    n elements read and the kept ones written.
 * Shared:  as scan_one_wave, and the tile, where its kept elements are packed.
 * Relies:  on all blocks being resident: see one_wave.cuh. */
#include "one_wave.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_compaction(call, [&]<class Slices>(auto stream) {
        one_wave::run<Slices::template slice>(call, stream);
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_one_wave) = {
    .name = "one-wave",
    .op = OP_COMPACT,
    .traits = TRAIT_HAS_BLOCK | TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .default_block = 1024,
    .summary = "single pass over arrays that fit on the chip, one hop between blocks",
    .source = "Yan, Long and Zhang 2013",
    .supports = SCANBENCH_BACKEND::one_wave::supports,
    .scratch_bytes = SCANBENCH_BACKEND::one_wave::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
