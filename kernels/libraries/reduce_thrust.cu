/* reduce_thrust, reduce_thrust_cached: Thrust's reduction, which waits for the sum. */
#include "thrust_calls.cuh"

#include <thrust/reduce.h>

namespace SCANBENCH_BACKEND
{

static void hand_over_sum(const struct call *call)
{
    hand_over_to(call, call->output, element_bytes(call->problem.type));
}

struct thrust_reduce {
    static constexpr struct algorithm ROW = {
        .op = OP_REDUCE, .operator_types = TYPES_OF_4_BYTES, .hand_over = hand_over_sum};

    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        uint64_t *on_host = &kept_by_thrust(call)->on_host;
        *on_host = UINT64_MAX;
        if (call->problem.binary_operator != OPERATOR_SUM)
            return thrust_reduce_by_operator(call, policy, on_host);
        with_sum_type(call->problem.type, [&](auto zero) {
            using T = decltype(zero);
            const T *in = static_cast<const T *>(call->input);
            const T sum = thrust::reduce(policy, in, in + call->problem.n, T(0));
            memcpy(on_host, &sum, sizeof sum);
        });
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_thrust) =
    SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_reduce>(
        "thrust::reduce, including allocation, with the sum on the host", false);
ALGORITHM_DESCRIPTOR(reduce_thrust_cached) =
    SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_reduce>(
        "thrust::reduce with an allocator that keeps memory between calls", true);
