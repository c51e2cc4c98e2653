/* onesweep_pairs: the kernels of sort_onesweep for keys with values. Four of them do for all types:
 * keys are ordered by a value (key_order.cuh). */
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND
{

namespace onesweep
{

template <class Key> static void sort_keys_of(const struct call *call)
{
    if (call->problem.values == VALUES_U64)
        sort<Key, uint64_t>(call);
    else
        sort<Key, uint32_t>(call);
}

void sort_pairs(const struct call *call)
{
    if (element_bytes(call->problem.type) == 8)
        sort_keys_of<uint64_t>(call);
    else
        sort_keys_of<uint32_t>(call);
}

} // namespace onesweep

} // namespace SCANBENCH_BACKEND
