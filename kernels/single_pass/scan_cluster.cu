/* scan_cluster: scan of small arrays by one cluster of blocks.
 * Source:  scanbench; distributed shared memory is that of the Hopper tuning guide.
 * Work:    O(n), and one store per pair of blocks. Depth: O(log n), one hop.
 * DRAM:    2n elements.
 * Shared:  a total per warp and per block.
 * Relies:  on clusters (sm_90): see cluster.cuh. */
#include "cluster.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    with_operand<true>(&call->problem,
                  [&](auto zero) { cluster::run<scan_of<decltype(zero)>::template slice>(call); });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_cluster) = {
    .name = "cluster",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK | TRAIT_IN_PLACE,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .default_block = 256,
    .summary = "single pass by one cluster, totals through distributed shared memory (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::cluster::supports,
    .run = SCANBENCH_BACKEND::run,
};
