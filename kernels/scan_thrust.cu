/* scan_thrust: Thrust's scan, as a user calls it by default: temporary memory is
 * allocated inside the call, which waits for its result. */
#include "plain_allocator.cuh"
#include "thrust_scan.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    plain_allocator memory;
    thrust_scan(call, thrust::cuda::par(memory).on(queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_thrust) = {
    .name = "thrust",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::exclusive_scan / inclusive_scan, its allocation included",
    .source = "NVIDIA Thrust",
    .run = SCANBENCH_BACKEND::run,
};
