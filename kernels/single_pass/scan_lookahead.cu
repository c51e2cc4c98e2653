/* scan_lookahead: single-pass scan, persistent and warp-specialised.
 * Source:  see lookahead.cuh.
 * Work:    O(n), and per tile one read of a status for each multiprocessor.
 *          Depth: one hop between blocks per tile of a block, hidden by the ring.
 * DRAM:    2n elements, and 8 bytes of status per tile (16 for sums of 8 bytes).
 * Shared:  up to MAX_STAGES tiles of TILE_BYTES, five barriers and the sums of its slices each.
 * Relies:  on bulk copies (sm_90) and on all blocks being resident. */
#include "lookahead.cuh"
#include "ordered_scan.cuh"

namespace SCANBENCH_BACKEND
{

static size_t scratch_bytes(const struct problem *problem)
{
    return with_head_bits(problem, lookahead::scratch_bytes(problem));
}

static void run(const struct call *call)
{
    const auto run_slices = [&]<class Scan>(const typename Scan::stream &stream) {
        lookahead::run<Scan::template slice, Scan::template passing_slice>(call, stream);
    };
    if (keeps_order(&call->problem))
        return with_ordered_scan(
            call, [=] { return bits_after(call, lookahead::scratch_bytes(&call->problem)); },
            run_slices);
    with_stored_operand<true>(&call->problem, [&]<class T>(T) {
        run_slices.template operator()<scan_of<T>>(arrays_of<T>(call));
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_lookahead) = {
    .name = "lookahead",
    .op = OP_SCAN,
    .traits = TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .recurrence_types = TYPES_OF_4_BYTES,
    .segment_types = TYPES_OF_4_BYTES,
    .summary = "single pass, persistent blocks, warps with one job each, bulk copies (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::lookahead::supports,
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
