/* thrust_pairs: Thrust's sort of pairs, which takes long to compile. */
#include "thrust_calls.cuh"

#include <thrust/sort.h>

namespace SCANBENCH_BACKEND
{

template <class Value, class Policy> static void sort(const struct call *call, const Policy &policy)
{
    with_element_type(call->problem.type, [&](auto zero) {
        auto *keys = static_cast<decltype(zero) *>(call->output);
        thrust::stable_sort_by_key(policy, keys, keys + call->problem.n,
                                   static_cast<Value *>(call->output_values));
    });
}

template <class Policy> void thrust_sort_pairs(const struct call *call, const Policy &policy)
{
    if (call->problem.values == VALUES_U64)
        sort<uint64_t>(call, policy);
    else
        sort<uint32_t>(call, policy);
}

template void thrust_sort_pairs(const struct call *call, const thrust_policy<plain_allocator> &);
template void thrust_sort_pairs(const struct call *call, const thrust_policy<caching_allocator> &);

} // namespace SCANBENCH_BACKEND
