/* compact_thrust, compact_thrust_cached: Thrust's copy_if, which waits for the count. */
#include "../is_not_zero.cuh"
#include "select_limits.cuh"
#include "thrust_calls.cuh"

#include <thrust/copy.h>

namespace SCANBENCH_BACKEND
{

struct thrust_copy_if {
    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        uint64_t *count = &kept_by_thrust(call)->on_host;
        *count = UINT64_MAX;
        with_sum_type<OP_COMPACT>(call->problem.type, [&](auto zero) {
            using T = decltype(zero);
            const T *in = static_cast<const T *>(call->input);
            T *out = static_cast<T *>(call->output);
            const T *end = thrust::copy_if(policy, in, in + call->problem.n, out, is_not_zero{});
            *count = (uint64_t)(end - out);
        });
    }
};

static void hand_over_count(const struct call *call)
{
    hand_over_to(call, call->count, sizeof *call->count);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_thrust) = {
    .name = "thrust",
    .op = OP_COMPACT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::copy_if, including allocation and the wait for the count",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .supports = SCANBENCH_BACKEND::select_unsupported,
    .prepare = SCANBENCH_BACKEND::prepare_thrust,
    .run = SCANBENCH_BACKEND::run_thrust<SCANBENCH_BACKEND::thrust_copy_if>,
    .hand_over = SCANBENCH_BACKEND::hand_over_count,
    .release = SCANBENCH_BACKEND::release_thrust,
};

ALGORITHM_DESCRIPTOR(compact_thrust_cached) = {
    .name = "thrust-cached",
    .op = OP_COMPACT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::copy_if with an allocator that keeps memory between calls",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .supports = SCANBENCH_BACKEND::select_unsupported,
    .prepare = SCANBENCH_BACKEND::prepare_thrust,
    .run = SCANBENCH_BACKEND::run_thrust_cached<SCANBENCH_BACKEND::thrust_copy_if>,
    .hand_over = SCANBENCH_BACKEND::hand_over_count,
    .release = SCANBENCH_BACKEND::release_thrust,
};
