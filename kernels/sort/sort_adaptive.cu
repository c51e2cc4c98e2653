/* sort_adaptive: a sample of the keys decides, on the device, which of two sorts sorts them.
 * Source:  scanbench.
 * Work:    that of msd, sample or onesweep, and the launches of one other, which end at once.
 * Depth:   as theirs.
 * DRAM:    as theirs.
 * Shared:  as theirs.
 * Relies:  as they do.
 *
 * Where keys are spread evenly, two partitions and a sort in shared memory (msd), or one where the
 * array fits the L2 (sample), are faster than four or eight passes. Skewed keys take level after
 * level or a search of splitters, but the passes (onesweep) take as long as ever. The host need not
 * know: both are queued, and the first one samples the keys and disables the other or itself. They
 * share the array that a sort needs beside input and output. */
#include "dispatch.cuh"
#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::adaptive
{

using bucket_sort::is_one_leaf;
using bucket_sort::policy_for;

/* Lays out the scratch of the policy that suits, and then what onesweep needs besides the other
 * array of keys. */
static onesweep::scratch lay_out(const struct problem *problem, allocator *memory)
{
    return with_key_width(problem->type, [&]<class Key>() {
        const bucket_sort::scratch<Key> first =
            bucket_sort::scratch_of<Key>(problem, policy_for(problem), memory);
        return onesweep::scratch_of(problem, first.other, memory);
    });
}

static size_t own_scratch_bytes(const struct problem *problem)
{
    allocator memory = {nullptr};
    if (!is_one_leaf(problem))
        lay_out(problem, &memory);
    return memory.used;
}

/* At least what fewer keys need: if `sample` sorts them, its buckets may take more than msd does.
 */
static size_t scratch_bytes(const struct problem *problem)
{
    struct problem fewer = *problem;
    fewer.n =
        std::min<uint64_t>(problem->n, bucket_sort::MOST_INTEGERS / element_bytes(problem->type));
    return type_class(problem->type) == TYPE_FLOAT
               ? own_scratch_bytes(problem)
               : std::max(own_scratch_bytes(problem), own_scratch_bytes(&fewer));
}

static void prepare(const struct call *call)
{
    bucket_sort::prepare(policy_for(&call->problem), call);
    if (is_one_leaf(&call->problem))
        return;
    allocator memory = scratch_memory(call);
    onesweep::prepare(call, lay_out(&call->problem, &memory));
}

static void run(const struct call *call)
{
    const bucket_sort::policy_name policy = policy_for(&call->problem);
    if (is_one_leaf(&call->problem))
        return bucket_sort::run(policy, call, nullptr);
    allocator memory = scratch_memory(call);
    const onesweep::scratch second = lay_out(&call->problem, &memory);
    bucket_sort::run(policy, call, &second.plan->hand_over);
    onesweep::run(call, second);
}

static const char *supports(const struct problem *problem)
{
    const char *why = bucket_sort::why_not_msd(problem);
    return why != nullptr ? why : bucket_sort::why_not_bytes(problem, scratch_bytes(problem));
}

} // namespace SCANBENCH_BACKEND::adaptive

ALGORITHM_DESCRIPTOR(sort_adaptive) = {
    .name = "adaptive",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "msd or sample, or else onesweep, as a sample of the keys decides on the device",
    .supports = SCANBENCH_BACKEND::adaptive::supports,
    .scratch_bytes = SCANBENCH_BACKEND::adaptive::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::adaptive::prepare,
    .run = SCANBENCH_BACKEND::adaptive::run,
};
