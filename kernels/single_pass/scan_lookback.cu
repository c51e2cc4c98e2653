/* scan_lookback: single-pass scan with decoupled look-back.
 * Source:  Merrill and Garland, NVR-2016-002.
 * Work:    O(n). Depth: O(tiles / 32) at worst, and in practice one look.
 * DRAM:    2n elements, and 8 bytes of status per tile (16 for sums of 8 bytes).
 * Shared:  one total per warp, the tile's number, and its prefix.
 * Relies:  on tickets, not on blockIdx: see lookback.cuh. */
#include "lookback.cuh"
#include "ordered_scan.cuh"

namespace SCANBENCH_BACKEND
{

static size_t scratch_bytes(const struct problem *problem)
{
    return with_head_bits(problem, lookback::scratch_bytes(problem));
}

static void run(const struct call *call)
{
    const auto run_slices = [&]<class Scan>(const typename Scan::stream &stream) {
        lookback::run<Scan>(call, stream);
    };
    if (keeps_order(&call->problem))
        return with_ordered_scan(
            call, [=] { return bits_after(call, lookback::scratch_bytes(&call->problem)); },
            run_slices);
    with_stored_operand<true>(&call->problem, [&]<class T>(T) {
        run_slices.template operator()<scan_of<T>>(arrays_of<T>(call));
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_lookback) = {
    .name = "lookback",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK | TRAIT_UNALIGNED | TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .recurrence_types = TYPES_OF_4_BYTES,
    .segment_types = TYPES_OF_4_BYTES,
    .default_block = 512,
    .summary = "single pass, decoupled look-back",
    .source = "Merrill and Garland 2016",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
