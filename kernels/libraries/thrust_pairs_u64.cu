/* thrust_pairs_u64: Thrust's sort of pairs with values of 64 bits. */
#include "thrust_sort_pairs.cuh"

namespace SCANBENCH_BACKEND
{

void thrust_sort_pairs_u64(const struct call *call, const thrust_plain_policy &policy)
{
    thrust_sort_pairs_of<uint64_t>(call, policy);
}

void thrust_sort_pairs_u64(const struct call *call, const thrust_cached_policy &policy)
{
    thrust_sort_pairs_of<uint64_t>(call, policy);
}

} // namespace SCANBENCH_BACKEND
