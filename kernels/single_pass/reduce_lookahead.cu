/* reduce_lookahead: sums of rows at memory speed, by persistent blocks.
 * Source:  see lookahead.cuh.
 * Work:    O(n), and per tile one read of a status for each multiprocessor.
 * DRAM:    n elements, one sum per row, and 16 bytes of status per tile.
 * Shared:  as in scan_lookahead.
 * Relies:  on bulk copies (sm_90) and on all blocks being resident. */
#include "lookahead.cuh"
#include "row_sums.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_row_sums(call, [&]<class Sums>(const typename Sums::stream &stream) {
        lookahead::run<Sums::template slice>(call, stream);
    });
}

static const char *supports(const struct problem *problem)
{
    const char *why = row_sums_unsupported(problem);
    return why != nullptr ? why : lookahead::supports(problem);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_lookahead) = {
    .name = "lookahead",
    .op = OP_REDUCE,
    .traits = TRAIT_LASTING_SCRATCH,
    .segment_types = TYPES_OF_4_BYTES,
    .summary = "a scan by rows that stores sums only: persistent blocks, bulk copies (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::supports,
    .scratch_bytes = SCANBENCH_BACKEND::lookahead::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_board,
    .run = SCANBENCH_BACKEND::run,
};
