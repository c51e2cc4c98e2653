/* thrust_copy_if.cuh: Thrust's compaction under an execution policy handed in. */
#ifndef SCANBENCH_KERNELS_THRUST_COPY_IF_CUH
#define SCANBENCH_KERNELS_THRUST_COPY_IF_CUH

#include "is_not_zero.cuh"

#include <thrust/copy.h>
#include <thrust/execution_policy.h>

#include <exception>

namespace SCANBENCH_BACKEND
{

/* Thrust waits for the count, which then is on the host: there a user has it, and
 * should not be charged for its way back. One for each file that includes this: its
 * algorithm's, and no other's. */
static uint64_t thrust_count;

static void hand_over_count(const struct call *call)
{
    succeeded(queue_of(call), "count",
              cudaMemcpyAsync(call->count, &thrust_count, sizeof thrust_count,
                              cudaMemcpyHostToDevice, queue_of(call)->stream));
}

/* Thrust throws its errors; here they go to the queue like all others. */
template <class Policy> void thrust_copy_if(const struct call *call, const Policy &policy)
{
    thrust_count = UINT64_MAX;
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        const T *in = static_cast<const T *>(call->input);
        T *out = static_cast<T *>(call->output);
        try {
            const T *end = thrust::copy_if(policy, in, in + call->problem.n, out, is_not_zero{});
            thrust_count = (uint64_t)(end - out);
        } catch (const std::exception &error) {
            fail(queue_of(call), "thrust", error.what());
        }
    });
}

} // namespace SCANBENCH_BACKEND

#endif
