/* thrust_scan.cuh: Thrust's scan under an execution policy handed in. */
#ifndef SCANBENCH_KERNELS_THRUST_SCAN_CUH
#define SCANBENCH_KERNELS_THRUST_SCAN_CUH

#include "launch.cuh"

#include <thrust/execution_policy.h>
#include <thrust/scan.h>

#include <exception>

namespace SCANBENCH_BACKEND
{

/* Thrust throws its errors; here they go to the queue like all others. */
template <class Policy> void thrust_scan(const struct call *call, const Policy &policy)
{
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        const T *in = static_cast<const T *>(call->input);
        T *out = static_cast<T *>(call->output);
        try {
            if (call->problem.kind == KIND_EXCLUSIVE)
                thrust::exclusive_scan(policy, in, in + call->problem.n, out);
            else
                thrust::inclusive_scan(policy, in, in + call->problem.n, out);
        } catch (const std::exception &error) {
            fail(queue_of(call), "thrust", error.what());
        }
    });
}

} // namespace SCANBENCH_BACKEND

#endif
