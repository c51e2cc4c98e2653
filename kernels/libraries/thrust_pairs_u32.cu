/* thrust_pairs_u32: Thrust's sort of pairs with values of 32 bits. */
#include "thrust_sort_pairs.cuh"

namespace SCANBENCH_BACKEND
{

void thrust_sort_pairs_u32(const struct call *call, const thrust_plain_policy &policy)
{
    thrust_sort_pairs_of<uint32_t>(call, policy);
}

void thrust_sort_pairs_u32(const struct call *call, const thrust_cached_policy &policy)
{
    thrust_sort_pairs_of<uint32_t>(call, policy);
}

} // namespace SCANBENCH_BACKEND
