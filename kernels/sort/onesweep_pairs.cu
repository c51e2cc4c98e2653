/* onesweep_pairs: the kernels of sort_onesweep for keys with values, 4 or 8 bytes of each. No type
 * needs kernels of its own: the order of its keys is a value (key_order.cuh). */
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

template <class Key> static void sort_keys_of(const struct call *call, bool on_demand)
{
    if (call->problem.values == VALUES_U64)
        sort<Key, uint64_t>(call, on_demand);
    else
        sort<Key, uint32_t>(call, on_demand);
}

void sort_pairs(const struct call *call, bool on_demand)
{
    with_key_width(call->problem.type, [&]<class Key>() { sort_keys_of<Key>(call, on_demand); });
}

} // namespace SCANBENCH_BACKEND::onesweep
