/* sort_onesweep: stable radix sort, 8 bits per pass, each pass one read and one write: see
 * onesweep.cuh. */
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

void prepare(const struct call *call)
{
    const size_t arrays = arrays_bytes(&call->problem);
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(static_cast<char *>(call->scratch) + arrays, 0,
                              scratch_bytes(&call->problem) - arrays, queue_of(call)->stream));
}

void run(const struct call *call)
{
    if (call->problem.values != VALUES_NONE)
        return sort_pairs(call);
    with_key_width(call->problem.type, [&]<class Key>() { sort<Key, no_value>(call); });
}

} // namespace SCANBENCH_BACKEND::onesweep

ALGORITHM_DESCRIPTOR(sort_onesweep) = {
    .name = "onesweep",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_PAIRS | TRAIT_STABLE | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "least significant digit first, 8 bits per pass, one read and one write each",
    .source = "Adinets and Merrill 2022, arXiv:2206.01784",
    .scratch_bytes = SCANBENCH_BACKEND::onesweep::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::onesweep::prepare,
    .run = SCANBENCH_BACKEND::onesweep::run,
};
