/* scan_thrust: Thrust's scan, as a user calls it by default: temporary memory is
 * allocated inside the call, which waits for its result. */
#include "launch.cuh"

#include <thrust/execution_policy.h>
#include <thrust/scan.h>

#include <exception>

namespace SCANBENCH_BACKEND
{

template <class T> static void scan_thrust(const struct call *call)
{
    const T *in = static_cast<const T *>(call->input);
    T *out = static_cast<T *>(call->output);
    const auto policy = thrust::cuda::par.on(queue_of(call)->stream);
    if (call->problem.kind == KIND_EXCLUSIVE)
        thrust::exclusive_scan(policy, in, in + call->problem.n, out);
    else
        thrust::inclusive_scan(policy, in, in + call->problem.n, out);
}

static void run(const struct call *call)
{
    try {
        with_sum_type(call->problem.type, [&](auto zero) { scan_thrust<decltype(zero)>(call); });
    } catch (const std::exception &error) {
        fail(queue_of(call), "thrust", error.what());
    }
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
