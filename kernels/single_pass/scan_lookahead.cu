/* scan_lookahead: single-pass scan, persistent and warp-specialised.
 * Source:  see lookahead.cuh.
 * Work:    O(n), and per tile one read of a status for each multiprocessor.
 *          Depth: one hop between blocks per tile of a block, hidden by the ring.
 * DRAM:    2n elements, and 8 bytes of status per tile (16 for sums of 8 bytes).
 * Shared:  up to MAX_STAGES tiles of TILE_BYTES, five barriers and the sums of its slices each.
 * Relies:  on bulk copies (sm_90) and on all blocks being resident. */
#include "lookahead.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_operand<true>(&call->problem, [&](auto zero) {
        using scan = scan_of<decltype(zero)>;
        lookahead::run<scan::template slice, scan::template passing_slice>(call);
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_lookahead) = {
    .name = "lookahead",
    .op = OP_SCAN,
    .traits = TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .summary = "single pass, persistent blocks, warps with one job each, bulk copies (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::lookahead::supports,
    .scratch_bytes = SCANBENCH_BACKEND::lookahead::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_board,
    .run = SCANBENCH_BACKEND::run,
};
