/* scan_one_wave: scan of what fits into registers and shared memory of the whole GPU.
 * Source:  the inter-block step is that of Yan, Long and Zhang, "StreamScan",
 *          PPoPP 2013, with all tiles watched at once in place of the last one.
 * Work:    O(n), and tiles^2 / 2 looks at a status. Depth: O(log n), one hop.
 * DRAM:    2n elements, and 8 bytes of status a tile (16 for sums of 8 bytes).
 * Shared:  a total for each warp, twice, and what registers do not hold.
 * Relies:  on all blocks being resident: see one_wave.cuh. */
#include "one_wave.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_sum_type(call->problem.type, [&](auto zero) {
        using scan = scan_of<decltype(zero)>;
        one_wave::run<scan::template slice, scan::template passing_slice>(call);
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_one_wave) = {
    .name = "one-wave",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_BLOCK,
    .default_block = 1024,
    .summary = "single pass over what fits on the chip, one hop between blocks",
    .source = "Yan, Long and Zhang 2013",
    .supports = SCANBENCH_BACKEND::one_wave::supports,
    .scratch_bytes = SCANBENCH_BACKEND::one_wave::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::one_wave::prepare,
    .run = SCANBENCH_BACKEND::run,
};
