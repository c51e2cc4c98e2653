/* onesweep_pairs: the kernels of sort_onesweep for keys with values, 4 or 8 bytes of each. No type
 * needs kernels of its own: the order of its keys is a value (key_order.cuh). */
#include "onesweep_one_launch.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

void sort_pairs(const struct call *call)
{
    with_pair_types_of(&call->problem, [&]<class Key, class Value>() { sort<Key, Value>(call); });
}

void sort_pairs_unless_disabled(const struct call *call)
{
    with_pair_types_of(&call->problem,
                       [&]<class Key, class Value>() { sort_in_one_launch<Key, Value>(call); });
}

} // namespace SCANBENCH_BACKEND::onesweep
