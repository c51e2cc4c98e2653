/* reduce_lookback: sums of rows in one pass, by decoupled look-back.
 * Source:  see lookback.cuh.
 * Work:    O(n), and at least one read of a status per tile.
 * DRAM:    n elements, one sum per row, and 16 bytes of status per tile.
 * Shared:  a total per warp.
 * Relies:  on tickets: see lookback.cuh. */
#include "lookback.cuh"
#include "row_sums.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_row_sums(call, [&]<class Sums>(const typename Sums::stream &stream) {
        lookback::run<Sums>(call, stream);
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_lookback) = {
    .name = "lookback",
    .op = OP_REDUCE,
    .traits = TRAIT_HAS_BLOCK | TRAIT_LASTING_SCRATCH,
    .segment_types = TYPES_OF_4_BYTES,
    .default_block = 512,
    .summary = "a scan by rows that stores sums only, with decoupled look-back",
    .source = "Merrill and Garland 2016",
    .supports = SCANBENCH_BACKEND::row_sums_unsupported,
    .scratch_bytes = SCANBENCH_BACKEND::lookback::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_board,
    .run = SCANBENCH_BACKEND::run,
};
