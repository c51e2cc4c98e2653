/* compact_cluster: stream compaction of small arrays by one cluster of blocks.
 * Source:  as scan_cluster, over counts.
 * Work:    O(n), and one store per pair of blocks. Depth: O(log n), one hop.
 * DRAM:    n elements read and the kept ones written.
 * Shared:  as scan_cluster, and the tile, where its kept elements are packed.
 * Relies:  on clusters (sm_90): see cluster.cuh. */
#include "cluster.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    store_zero_count(call);
    with_stored_type(call->problem.type, [&](auto zero) {
        cluster::run<compact_of<decltype(zero), uint32_t>::template slice>(
            call, arrays_of<decltype(zero)>(call));
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_cluster) = {
    .name = "cluster",
    .op = OP_COMPACT,
    .traits = TRAIT_HAS_BLOCK | TRAIT_IN_PLACE,
    .default_block = 256,
    .summary = "single pass by one cluster, totals through distributed shared memory (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::cluster::supports,
    .run = SCANBENCH_BACKEND::run,
};
