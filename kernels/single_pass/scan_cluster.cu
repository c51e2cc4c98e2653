/* scan_cluster: scan of small arrays by one cluster of blocks.
 * Source:  scanbench; distributed shared memory is that of the Hopper tuning guide.
 * Work:    O(n), and one store per pair of blocks. Depth: O(log n), one hop.
 * DRAM:    2n elements.
 * Shared:  a total per warp and per block. A bit per element if segments are at offsets.
 * Relies:  on clusters (sm_90): see cluster.cuh. */
#include "cluster.cuh"
#include "ordered_scan.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    const auto run_slices = [&]<class Scan>(const typename Scan::stream &stream) {
        cluster::run<Scan::template slice>(call, stream);
    };
    if (keeps_order(&call->problem))
        return with_ordered_scan(
            call, [=] { return offsets_of(call); }, run_slices);
    with_stored_operand<true>(&call->problem, [&]<class T>(T) {
        run_slices.template operator()<scan_of<T>>(arrays_of<T>(call));
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_cluster) = {
    .name = "cluster",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK | TRAIT_IN_PLACE,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .recurrence_types = TYPES_OF_4_BYTES,
    .segment_types = TYPES_OF_4_BYTES,
    .default_block = 256,
    .summary = "single pass by one cluster, totals through distributed shared memory (sm_90)",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::cluster::supports,
    .run = SCANBENCH_BACKEND::run,
};
