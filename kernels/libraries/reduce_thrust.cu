/* reduce_thrust, reduce_thrust_cached: Thrust's reduction, which waits for the sum. */
#include "thrust_calls.cuh"

#include <thrust/reduce.h>

namespace SCANBENCH_BACKEND
{

struct thrust_reduce {
    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        with_sum_type<OP_REDUCE>(call->problem.type, [&](auto zero) {
            using T = decltype(zero);
            uint64_t *on_host = &kept_by_thrust(call)->on_host;
            *on_host = UINT64_MAX;
            const T *in = static_cast<const T *>(call->input);
            const T sum = thrust::reduce(policy, in, in + call->problem.n, T(0));
            memcpy(on_host, &sum, sizeof sum);
        });
    }
};

static void hand_over_sum(const struct call *call)
{
    hand_over_to(call, call->output, element_bytes(call->problem.type));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_thrust) = {
    .name = "thrust",
    .op = OP_REDUCE,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::reduce, including allocation, with the sum on the host",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .prepare = SCANBENCH_BACKEND::prepare_thrust,
    .run = SCANBENCH_BACKEND::run_thrust<SCANBENCH_BACKEND::thrust_reduce>,
    .hand_over = SCANBENCH_BACKEND::hand_over_sum,
    .release = SCANBENCH_BACKEND::release_thrust,
};

ALGORITHM_DESCRIPTOR(reduce_thrust_cached) = {
    .name = "thrust-cached",
    .op = OP_REDUCE,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::reduce with an allocator that keeps memory between calls",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .prepare = SCANBENCH_BACKEND::prepare_thrust,
    .run = SCANBENCH_BACKEND::run_thrust_cached<SCANBENCH_BACKEND::thrust_reduce>,
    .hand_over = SCANBENCH_BACKEND::hand_over_sum,
    .release = SCANBENCH_BACKEND::release_thrust,
};
