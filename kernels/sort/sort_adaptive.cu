/* sort_adaptive: a sample of the keys decides, on the device, which of two sorts sorts them.
 * Source:  scanbench.
 * Work:    that of msd, sample or onesweep, and the launches of one other, which end at once.
 * Depth:   as theirs.
 * DRAM:    as theirs.
 * Shared:  as theirs.
 * Relies:  as they do.
 *
 * Where keys are spread evenly, two partitions and a sort in shared memory (sort_msd), or one where
 * the array fits the L2 (sort_sample), are faster than four or eight passes. Where keys crowd, they
 * take level after level or search splitters, and the passes (sort_onesweep) take as long as ever.
 * The host need not know: both are queued, and one is off: the first samples the keys, and tells.
 * They share the array that a sort needs beside input and output. */
#include "msd_sample.cuh"
#include "onesweep.cuh"

extern "C" {
extern const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_msd);
extern const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_onesweep);
extern const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_sample);
}

namespace SCANBENCH_BACKEND
{

namespace adaptive
{

static const struct algorithm *const by_msd = &DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_msd);
static const struct algorithm *const by_sample = &DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_sample);
static const struct algorithm *const by_onesweep =
    &DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_onesweep);

enum { MOST_INTEGERS = 6 << 20 }; /* bytes that sample sorts */

/* The sort of evenly spread keys. Its scratch begins with the address of `is_off` of the other, and
 * ends with an array. Above 4 MB msd sorts integers sooner than sample, but not those of few
 * values, which take it longer than CUB up to 6 MB. Floats take it longer at all sizes that sample
 * sorts. */
static const struct algorithm *first_of(const struct problem *problem)
{
    const size_t bytes = problem->n * element_bytes(problem->type);
    const bool suits = bytes > sample_sort::LARGE_BYTES &&
                       (bytes <= MOST_INTEGERS || type_class(problem->type) == TYPE_FLOAT);
    return suits && by_sample->supports(problem) == nullptr ? by_sample : by_msd;
}

/* What msd sorts in one block is sorted by it, and needs no scratch. */
static bool has_choice(const struct problem *problem)
{
    return by_msd->scratch_bytes(problem) > 0;
}

/* Scratch: the first's, and then onesweep's, which begins with the array that the first's ends
 * with. */
static size_t place_of_onesweep(const struct problem *problem)
{
    return first_of(problem)->scratch_bytes(problem) - onesweep::keys_bytes(problem);
}

static size_t own_scratch_bytes(const struct problem *problem)
{
    return has_choice(problem) ? place_of_onesweep(problem) + onesweep::scratch_bytes(problem) : 0;
}

/* At least what fewer keys need: if they are sample's, its buckets may take more than msd does. */
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

static onesweep::plan *plan_of(const struct call *onesweep_call)
{
    return reinterpret_cast<onesweep::plan *>(static_cast<char *>(onesweep_call->scratch) +
                                              onesweep::keys_bytes(&onesweep_call->problem));
}

static __global__ void let_first_choose_kernel(unsigned **other_is_off, onesweep::plan *plan)
{
    *other_is_off = &plan->is_off;
}

static void prepare(const struct call *call)
{
    if (!has_choice(&call->problem))
        return by_msd->prepare(call);
    const struct call part = onesweep_call(call);
    first_of(&call->problem)->prepare(call);
    by_onesweep->prepare(&part);
    launch<let_first_choose_kernel>(queue_of(call), {1, 1}, static_cast<unsigned **>(call->scratch),
                                    plan_of(&part));
}

static void run(const struct call *call)
{
    if (!has_choice(&call->problem))
        return by_msd->run(call);
    first_of(&call->problem)->run(call);
    const struct call part = onesweep_call(call);
    by_onesweep->run(&part);
}

static const char *supports(const struct problem *problem)
{
    const size_t key_bytes = problem->n * element_bytes(problem->type);
    const char *why = by_msd->supports(problem);
    if (why == nullptr && scratch_bytes(problem) > key_bytes + msd::MOST_LIST_BYTES)
        why = "needs more than 32 MiB beside the other array for so many keys: onesweep sorts them";
    return why;
}

} // namespace adaptive

} // namespace SCANBENCH_BACKEND

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
