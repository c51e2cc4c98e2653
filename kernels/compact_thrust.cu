/* compact_thrust: Thrust's copy_if, as a user calls it by default: temporary memory is
 * allocated inside the call, which waits for the count. */
#include "plain_allocator.cuh"
#include "thrust_copy_if.cuh"
#include "select_limits.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    plain_allocator memory;
    thrust_copy_if(call, thrust::cuda::par(memory).on(queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_thrust) = {
    .name = "thrust",
    .op = OP_COMPACT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::copy_if, its allocation and its wait for the count included",
    .source = "NVIDIA Thrust",
    .supports = SCANBENCH_BACKEND::select_unsupported,
    .run = SCANBENCH_BACKEND::run,
    .hand_over = SCANBENCH_BACKEND::hand_over_count,
};
