/* scan_one_wave: scan of arrays that fit into the GPU's registers and shared memory.
 * Source:  the step between blocks is that of Yan, Long and Zhang, "StreamScan",
 *          PPoPP 2013, but waits for all earlier tiles at once, not only the last.
 * Work:    O(n), and tiles^2 / 2 reads of a status. Depth: O(log n), one hop.
 * DRAM:    2n elements, and 8 bytes of status per tile (16 for sums of 8 bytes).
 * Shared:  two totals per warp, and the rows that registers cannot hold. A bit per element if
 *          segments are at offsets.
 * Relies:  on all blocks being resident: see one_wave.cuh. For short rows, on nothing. */
#include "one_wave.cuh"
#include "ordered_scan.cuh"
#include "short_rows.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    const auto run_slices = [&]<class Scan>(const typename Scan::stream &stream) {
        if constexpr (short_rows::HAS_ROWS<typename Scan::stream>)
            if (short_rows::are_short(call))
                return short_rows::run<Scan::template slice>(call, stream);
        one_wave::run<Scan::template slice, Scan::template passing_slice>(call, stream);
    };
    if (keeps_order(&call->problem))
        return with_ordered_scan(
            call, [=] { return offsets_of(call); }, run_slices);
    with_stored_operand<true>(&call->problem, [&]<class T>(T) {
        run_slices.template operator()<scan_of<T>>(arrays_of<T>(call));
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_one_wave) = {
    .name = "one-wave",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK | TRAIT_IN_PLACE | TRAIT_LASTING_SCRATCH,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .recurrence_types = TYPES_OF_4_BYTES,
    .segment_types = TYPES_OF_4_BYTES,
    .default_block = 1024,
    .summary = "single pass over arrays that fit on the chip, one hop between blocks",
    .source = "Yan, Long and Zhang 2013",
    .supports = SCANBENCH_BACKEND::one_wave::supports,
    .scratch_bytes = SCANBENCH_BACKEND::one_wave::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::clear_scratch,
    .run = SCANBENCH_BACKEND::run,
};
