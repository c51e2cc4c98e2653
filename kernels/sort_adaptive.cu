/* sort_adaptive: a sample of the keys decides, on the device, which of two sorts sorts them.
 * Work:    that of msd or onesweep, and the launches of the other, which end at once.
 * Depth:   as theirs.
 * DRAM:    as theirs.
 * Shared:  as theirs.
 * Relies:  as they do.
 *
 * Where the keys' first bits are spread evenly, two partitions and a sort in shared memory
 * (sort_msd) are faster than four or eight passes. Where keys crowd, it takes level after level,
 * and the passes (sort_onesweep) take as long as ever. The host need not know: both are queued, and
 * one is off. They share the array that a sort needs beside input and output.
 *
 * Of large arrays of integers, msd takes the sample and tells. Floats of 4 bytes crowd, and four
 * passes are as fast as three levels: they have no choice. */
#include "msd_host.cuh"
#include "onesweep.cuh"

extern "C" {
extern const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_msd);
extern const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_onesweep);
}

namespace SCANBENCH_BACKEND
{

namespace adaptive
{

enum {
    SAMPLE = 256, /* keys, a thread each */
    LOG2_PARTS = 6,
    PARTS = 1 << LOG2_PARTS, /* of the range of a type */
    MANTISSA_BITS = 52,      /* of f64 */
    /* Keys of the sample in a part: three times its share where keys fill half of their type. */
    CROWD = 3 * 2 * SAMPLE / PARTS
};

static const struct algorithm *const by_msd = &DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_msd);
static const struct algorithm *const by_onesweep =
    &DESCRIPTOR_NAME(SCANBENCH_BACKEND, sort_onesweep);

/* One block. */
template <class Key>
__global__ void __launch_bounds__(SAMPLE)
    choose_sort_kernel(const Key *in, uint64_t n, key_order<Key> order, unsigned shift,
                       unsigned *msd_is_off, unsigned *onesweep_is_off)
{
    auto *seen = shared_memory<unsigned>();
    let_next_launch_begin();
    const Key rank = order(in[n / SAMPLE * threadIdx.x]);
    if (threadIdx.x < PARTS)
        seen[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&seen[(unsigned)(rank >> shift) % PARTS], 1u);
    __syncthreads();
    const bool crowds = __syncthreads_or(threadIdx.x < PARTS && seen[threadIdx.x] > CROWD);
    if (threadIdx.x == 0) {
        *msd_is_off = crowds;
        *onesweep_is_off = !crowds;
    }
}

/* The sort of keys that have no choice, or null. What msd sorts in one block needs no scratch. */
static const struct algorithm *only_sort_of(const struct problem *problem)
{
    if (by_msd->scratch_bytes(problem) == 0)
        return by_msd;
    return type_class(problem->type) == TYPE_FLOAT && element_bytes(problem->type) == 4
               ? by_onesweep
               : nullptr;
}

/* Scratch: msd's, and then onesweep's, which begins with the array that msd's ends with. */
static size_t place_of_onesweep(const struct problem *problem)
{
    return by_msd->scratch_bytes(problem) - onesweep::keys_bytes(problem);
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct algorithm *only = only_sort_of(problem);
    return only != nullptr ? only->scratch_bytes(problem)
                           : place_of_onesweep(problem) + onesweep::scratch_bytes(problem);
}

static struct call onesweep_call(const struct call *call)
{
    struct call part = *call;
    part.scratch = static_cast<char *>(call->scratch) + place_of_onesweep(&call->problem);
    return part;
}

/* The bits to look at are those above this one. Floats crowd in a few exponents, which msd has
 * digits for: that costs another level, less than eight passes. */
static unsigned sampled_shift(enum element_type type)
{
    if (type_class(type) == TYPE_FLOAT)
        return MANTISSA_BITS - LOG2_PARTS;
    return 8 * (unsigned)element_bytes(type) - LOG2_PARTS;
}

static onesweep::plan *plan_of(const struct call *onesweep_call)
{
    return reinterpret_cast<onesweep::plan *>(static_cast<char *>(onesweep_call->scratch) +
                                              onesweep::keys_bytes(&onesweep_call->problem));
}

template <class Key> static void choose(const struct call *call, onesweep::plan *plan)
{
    launch<choose_sort_kernel<Key>>(
        queue_of(call), {1, SAMPLE, {}, PARTS * sizeof(unsigned)},
        static_cast<const Key *>(call->input), call->problem.n, order_of<Key>(call->problem.type),
        sampled_shift(call->problem.type), &static_cast<msd::control *>(call->scratch)->is_off,
        &plan->is_off);
}

/* Does msd take the sample? */
static bool does_msd_choose(const struct problem *problem)
{
    const bool is_large = element_bytes(problem->type) == 8 ? msd::is_large<uint64_t>(problem)
                                                            : msd::is_large<uint32_t>(problem);
    return is_large && type_class(problem->type) != TYPE_FLOAT;
}

static __global__ void let_msd_choose_kernel(msd::control *control, onesweep::plan *plan)
{
    control->other_is_off = &plan->is_off;
}

static void prepare(const struct call *call)
{
    if (const struct algorithm *only = only_sort_of(&call->problem))
        return only->prepare(call);
    const struct call part = onesweep_call(call);
    by_msd->prepare(call);
    by_onesweep->prepare(&part);
    if (does_msd_choose(&call->problem))
        launch<let_msd_choose_kernel>(queue_of(call), {1, 1},
                                      static_cast<msd::control *>(call->scratch), plan_of(&part));
}

static void run(const struct call *call)
{
    if (const struct algorithm *only = only_sort_of(&call->problem))
        return only->run(call);
    const struct call part = onesweep_call(call);
    if (!does_msd_choose(&call->problem)) {
        if (element_bytes(call->problem.type) == 8)
            choose<uint64_t>(call, plan_of(&part));
        else
            choose<uint32_t>(call, plan_of(&part));
    }
    by_msd->run(call);
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
    .summary = "msd or onesweep, as a sample of the keys decides on the device",
    .supports = SCANBENCH_BACKEND::adaptive::supports,
    .scratch_bytes = SCANBENCH_BACKEND::adaptive::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::adaptive::prepare,
    .run = SCANBENCH_BACKEND::adaptive::run,
};
