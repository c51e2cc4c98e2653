/* sort_onesweep: stable radix sort, 8 bits per pass, each pass one read and one write: see
 * onesweep.cuh. */
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

void prepare(const struct call *call)
{
    allocator memory = {call->scratch};
    const scratch scratch = lay_out(&call->problem, &memory);
    clear(call, scratch.plan, memory.used - ((char *)scratch.plan - (char *)memory.start));
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
    .scratch_bytes = SCANBENCH_BACKEND::bytes_laid_out<SCANBENCH_BACKEND::onesweep::lay_out>,
    .prepare = SCANBENCH_BACKEND::onesweep::prepare,
    .run = SCANBENCH_BACKEND::onesweep::run,
};
