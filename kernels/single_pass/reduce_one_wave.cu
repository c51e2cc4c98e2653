/* reduce_one_wave: sums of rows of arrays that fit into the GPU's registers.
 * Source:  see one_wave.cuh.
 * Work:    O(n), and tiles^2 / 2 reads of a status. Depth: O(log n), one hop.
 * DRAM:    n elements, one sum per row, and 16 bytes of status per tile.
 * Shared:  two totals per warp.
 * Relies:  on all blocks being resident: see one_wave.cuh. */
#include "one_wave.cuh"
#include "row_sums.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_row_sums(call, [&]<class Sums>(const typename Sums::stream &stream) {
        one_wave::run<Sums::template slice>(call, stream);
    });
}

static const char *supports(const struct problem *problem)
{
    const char *why = row_sums_unsupported(problem);
    return why != nullptr ? why : one_wave::supports(problem);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_one_wave) = {
    .name = "one-wave",
    .op = OP_REDUCE,
    .traits = TRAIT_HAS_BLOCK | TRAIT_LASTING_SCRATCH,
    .segment_types = TYPES_OF_4_BYTES,
    .default_block = 1024,
    .summary = "a scan by rows that stores sums only, of arrays that fit on the chip",
    .source = "Yan, Long and Zhang 2013",
    .supports = SCANBENCH_BACKEND::supports,
    .scratch_bytes = SCANBENCH_BACKEND::one_wave::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_board,
    .run = SCANBENCH_BACKEND::run,
};
