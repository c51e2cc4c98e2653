/* thrust_pairs.cuh: Thrust's sort of pairs, compiled in a file for each type of values. */
#ifndef SCANBENCH_KERNELS_LIBRARIES_THRUST_PAIRS_CUH
#define SCANBENCH_KERNELS_LIBRARIES_THRUST_PAIRS_CUH

#include "thrust_calls.cuh"

namespace SCANBENCH_BACKEND
{

using thrust_plain_policy = decltype(thrust::cuda::par(std::declval<plain_allocator &>()).on(0));
using thrust_cached_policy = decltype(thrust::cuda::par(std::declval<caching_allocator &>()).on(0));

/* Sorts the keys of the output and moves the values of the output with them. */
void thrust_sort_pairs_u32(const struct call *call, const thrust_plain_policy &policy);
void thrust_sort_pairs_u32(const struct call *call, const thrust_cached_policy &policy);
void thrust_sort_pairs_u64(const struct call *call, const thrust_plain_policy &policy);
void thrust_sort_pairs_u64(const struct call *call, const thrust_cached_policy &policy);

} // namespace SCANBENCH_BACKEND

#endif
