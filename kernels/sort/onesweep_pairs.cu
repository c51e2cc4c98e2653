/* onesweep_pairs: the kernels of sort_onesweep for keys with values, 4 or 8 bytes of each. No type
 * needs kernels of its own: the order of its keys is a value (key_order.cuh). */
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

void sort_pairs(const struct call *call, const scratch &scratch)
{
    with_key_width(call->problem.type, [&]<class Key>() {
        if (call->problem.values == VALUES_U64)
            sort<Key, uint64_t>(call, scratch);
        else
            sort<Key, uint32_t>(call, scratch);
    });
}

} // namespace SCANBENCH_BACKEND::onesweep
