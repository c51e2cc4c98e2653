/* thrust_sort.cuh: Thrust's sort under an execution policy handed in. */
#ifndef SCANBENCH_KERNELS_THRUST_SORT_CUH
#define SCANBENCH_KERNELS_THRUST_SORT_CUH

#include "launch.cuh"

#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <exception>

namespace SCANBENCH_BACKEND
{

/* Thrust throws its errors; here they go to the queue like all others. It sorts
 * in place, so that the copy is part of the work: the input must stay. */
template <class Policy> void thrust_sort(const struct call *call, const Policy &policy)
{
    with_element_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        T *out = static_cast<T *>(call->output);
        const size_t bytes = call->problem.n * sizeof(T);
        if (!succeeded(queue_of(call), "copy",
                       cudaMemcpyAsync(out, call->input, bytes, cudaMemcpyDeviceToDevice,
                                       queue_of(call)->stream)))
            return;
        try {
            thrust::sort(policy, out, out + call->problem.n);
        } catch (const std::exception &error) {
            fail(queue_of(call), "thrust", error.what());
        }
    });
}

} // namespace SCANBENCH_BACKEND

#endif
