/* sort_adaptive: a sample of the keys decides, on the device, which of two sorts sorts them.
 * Source:  scanbench.
 * Work:    that of msd, sample or onesweep, and the launches of one other, which end at once.
 * Depth:   as theirs.
 * DRAM:    as theirs.
 * Shared:  as theirs.
 * Relies:  as they do.
 *
 * Where keys are spread evenly, two partitions and a sort in shared memory (msd), or one partition
 * where the array fits the L2 (sample), are faster than the four or eight passes of onesweep. For
 * skewed keys, msd needs level after level and sample needs splitters, and onesweep takes no
 * longer. Keys of few values are counted by msd, which is faster still.
 *
 * The host chooses the policy for evenly spread keys by n and the type: policy_for() is the only
 * place that does. It queues that policy and then onesweep, in one launch, because a launch costs
 * time even if it is disabled. The policy's first launch samples the keys, and disables onesweep or
 * itself. msd may enable onesweep again, after a count by value that was in vain. Both share the
 * array that a sort needs beside input and output. */
#include "onesweep_one_launch.cuh"
#include "msd_host.cuh"
#include "sample_division.cuh"

namespace SCANBENCH_BACKEND::adaptive
{

/* The most bytes of integers that `sample` sorts here. */
constexpr size_t MOST_INTEGERS = 6 << 20;

/* The policy that sorts evenly spread keys soonest. Up to 512 KiB `sample` does not see whether
 * keys are skewed. Above 4 MB `msd` sorts evenly spread integers sooner; MOST_INTEGERS is more,
 * because `msd` once took longer than CUB for keys of few values, which it now counts by value.
 * Floats take `msd` longer at all sizes that `sample` sorts. */
static const bucket_policy &policy_for(const struct problem *problem)
{
    const size_t bytes = problem->n * element_bytes(problem->type);
    const bool suits = bytes > sample_sort::LARGE_BYTES &&
                       (bytes <= MOST_INTEGERS || type_class(problem->type) == TYPE_FLOAT);
    return suits && SAMPLE_SORT.supports(problem) == nullptr ? SAMPLE_SORT : MSD_SORT;
}

/* Are two sorts queued? What msd sorts in one block needs no scratch, and is left to it. */
static bool has_choice(const struct problem *problem)
{
    return policy_for(problem).scratch_bytes(problem) > 0;
}

/* Scratch: the policy's, which ends with the other array of keys, and then onesweep's, which begins
 * with the same array. */
static size_t place_of_onesweep(const struct problem *problem)
{
    return policy_for(problem).scratch_bytes(problem) -
           next_place(problem->n * element_bytes(problem->type));
}

static size_t own_scratch_bytes(const struct problem *problem)
{
    return has_choice(problem)
               ? place_of_onesweep(problem) + bytes_laid_out<onesweep::lay_out>(problem)
               : 0;
}

/* The scratch is at least what fewer keys need, because `sample`, which sorts these, may need more
 * for its buckets than msd for its lists. */
static size_t scratch_bytes(const struct problem *problem)
{
    struct problem fewer = *problem;
    fewer.n = std::min<uint64_t>(problem->n, MOST_INTEGERS / element_bytes(problem->type));
    return type_class(problem->type) == TYPE_FLOAT
               ? own_scratch_bytes(problem)
               : std::max(own_scratch_bytes(problem), own_scratch_bytes(&fewer));
}

static struct call onesweep_call(const struct call *call)
{
    struct call part = *call;
    part.scratch = static_cast<char *>(call->scratch) + place_of_onesweep(&call->problem);
    return part;
}

static __global__ void let_first_choose_kernel(unsigned **other_disabled, onesweep::plan *plan)
{
    *other_disabled = &plan->disabled;
}

static void prepare(const struct call *call)
{
    const bucket_policy &policy = policy_for(&call->problem);
    policy.prepare(call);
    if (!has_choice(&call->problem))
        return;
    const struct call part = onesweep_call(call);
    onesweep::prepare(&part);
    launch<let_first_choose_kernel>(queue_of(call), {.blocks = 1, .threads = 1},
                                    policy.other_disabled(call),
                                    scratch_of<onesweep::lay_out>(&part).plan);
}

static void run(const struct call *call)
{
    policy_for(&call->problem).run(call);
    if (!has_choice(&call->problem))
        return;
    const struct call part = onesweep_call(call);
    with_key_width(call->problem.type,
                   [&]<class Key>() { onesweep::sort_in_one_launch<Key, no_value>(&part); });
}

static const char *supports(const struct problem *problem)
{
    const char *why = MSD_SORT.supports(problem);
    return why != nullptr ? why : msd::why_too_much(problem, scratch_bytes(problem));
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
