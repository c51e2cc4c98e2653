/* sort_thrust: Thrust's sort, as a user calls it by default: temporary memory is
 * allocated inside the call. It sorts in place: the copy before it is timed too. */
#include "plain_allocator.cuh"
#include "thrust_sort.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    plain_allocator memory;
    thrust_sort(call, thrust::cuda::par(memory).on(queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_thrust) = {
    .name = "thrust",
    .op = OP_SORT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "a copy, then thrust::sort in place, its allocation included",
    .source = "NVIDIA Thrust",
    .run = SCANBENCH_BACKEND::run,
};
