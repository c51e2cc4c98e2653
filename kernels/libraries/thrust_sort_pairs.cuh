/* thrust_sort_pairs.cuh: what the files of thrust_pairs.cuh have in common. */
#ifndef SCANBENCH_KERNELS_LIBRARIES_THRUST_SORT_PAIRS_CUH
#define SCANBENCH_KERNELS_LIBRARIES_THRUST_SORT_PAIRS_CUH

#include "thrust_pairs.cuh"

#include <thrust/sort.h>

namespace SCANBENCH_BACKEND
{

template <class Value, class Policy>
void thrust_sort_pairs_of(const struct call *call, const Policy &policy)
{
    with_element_type(call->problem.type, [&](auto zero) {
        auto *keys = static_cast<decltype(zero) *>(call->output);
        thrust::stable_sort_by_key(policy, keys, keys + call->problem.n,
                                   static_cast<Value *>(call->output_values));
    });
}

} // namespace SCANBENCH_BACKEND

#endif
