/* sort_onesweep: stable radix sort, 8 bits per pass, each pass one read and one write: see
 * onesweep.cuh. */
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

void prepare(const struct call *call, const scratch &scratch)
{
    clear(call, scratch.plan);
    clear(call, scratch.statuses, scratch.status_count);
}

void run(const struct call *call, const scratch &scratch)
{
    if (call->problem.values != VALUES_NONE)
        return sort_pairs(call, scratch);
    with_key_width(call->problem.type, [&]<class Key>() { sort<Key, no_value>(call, scratch); });
}

static scratch own_scratch(const struct problem *problem, allocator memory, size_t *bytes = nullptr)
{
    void *other = memory.get<char>(problem->n * element_bytes(problem->type));
    const scratch scratch = scratch_of(problem, other, &memory);
    if (bytes != nullptr)
        *bytes = memory.used;
    return scratch;
}

static size_t scratch_bytes(const struct problem *problem)
{
    size_t bytes = 0;
    own_scratch(problem, {nullptr}, &bytes);
    return bytes;
}

static void prepare_alone(const struct call *call)
{
    prepare(call, own_scratch(&call->problem, scratch_memory(call)));
}

static void run_alone(const struct call *call)
{
    run(call, own_scratch(&call->problem, scratch_memory(call)));
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
    .prepare = SCANBENCH_BACKEND::onesweep::prepare_alone,
    .run = SCANBENCH_BACKEND::onesweep::run_alone,
};
