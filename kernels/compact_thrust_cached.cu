/* compact_thrust_cached: Thrust's copy_if with an allocator that keeps its memory. */
#include "caching_allocator.cuh"
#include "thrust_copy_if.cuh"
#include "select_limits.cuh"

namespace SCANBENCH_BACKEND
{

static caching_allocator cache;

static void prepare(const struct call *call)
{
    cache.prepare_for(&call->problem);
}

static void release()
{
    cache.clear();
}

static void run(const struct call *call)
{
    thrust_copy_if(call, thrust::cuda::par(cache).on(queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_thrust_cached) = {
    .name = "thrust-cached",
    .op = OP_COMPACT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "the same with an allocator that keeps its memory between calls",
    .source = "NVIDIA Thrust",
    .supports = SCANBENCH_BACKEND::select_unsupported,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
    .hand_over = SCANBENCH_BACKEND::hand_over_count,
    .release = SCANBENCH_BACKEND::release,
};
