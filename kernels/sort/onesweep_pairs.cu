/* onesweep_pairs: the kernels of sort_onesweep for keys with values, 4 or 8 bytes of each. No type
 * needs kernels of its own: the order of its keys is a value (key_order.cuh). */
#include "onesweep_one_launch.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

/* Calls f with the types of keys and values. */
template <class Function> static void with_pairs_of(const struct problem *problem, Function f)
{
    with_types_of(problem, [&]<class Key, class Value>() {
        if constexpr (HAS_VALUES_OF<Value>)
            f.template operator()<Key, Value>();
    });
}

void sort_pairs(const struct call *call)
{
    with_pairs_of(&call->problem, [&]<class Key, class Value>() { sort<Key, Value>(call); });
}

void sort_pairs_unless_disabled(const struct call *call)
{
    with_pairs_of(&call->problem,
                  [&]<class Key, class Value>() { sort_in_one_launch<Key, Value>(call); });
}

} // namespace SCANBENCH_BACKEND::onesweep
