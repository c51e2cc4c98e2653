/* wrong_moves: compactions and sorts on the GPU that are wrong in one way each. */
#include "../../kernels/launch.cuh"
#include "wrong_moves.h"

namespace SCANBENCH_BACKEND
{

template <wrong_move FAULT>
__global__ void wrong_compaction_kernel(const uint32_t *in, uint32_t *out, uint64_t n,
                                        uint64_t *count)
{
    if (global_thread() == 0)
        compact_wrongly(FAULT, in, out, n, count);
}

template <wrong_move FAULT>
__global__ void wrong_sort_kernel(const uint32_t *in, uint32_t *out, uint32_t *other, uint64_t n)
{
    if (global_thread() == 0)
        sort_wrongly(FAULT, in, out, other, n);
}

template <wrong_move FAULT> static void run_compaction(const struct call *call)
{
    launch<wrong_compaction_kernel<FAULT>>(
        queue_of(call), {1, call->problem.block}, static_cast<const uint32_t *>(call->input),
        static_cast<uint32_t *>(call->output), call->problem.n, call->count);
}

template <wrong_move FAULT> static void run_sort(const struct call *call)
{
    launch<wrong_sort_kernel<FAULT>>(queue_of(call), {1, call->problem.block},
                                     static_cast<const uint32_t *>(call->input),
                                     static_cast<uint32_t *>(call->output),
                                     static_cast<uint32_t *>(call->scratch), call->problem.n);
}

static size_t other_keys_bytes(const struct problem *problem)
{
    return problem->n * sizeof(uint32_t);
}

static size_t no_bytes(const struct problem *)
{
    return 0;
}

static const char *only_32_bit_integers(const struct problem *problem)
{
    return problem->type == TYPE_I32 || problem->type == TYPE_U32 ? nullptr : "i32 and u32 only";
}

} // namespace SCANBENCH_BACKEND

#define WRONG(op_name, its_name, its_op, its_run, its_bytes, fault) \
    ALGORITHM_DESCRIPTOR(op_name) = {                               \
        .name = its_name,                                           \
        .op = its_op,                                               \
        .family = FAMILY_OWN,                                       \
        .traits = TRAIT_HAS_BLOCK,                                  \
        .default_block = 32,                                        \
        .summary = "wrong: " #fault,                                \
        .source = "none",                                           \
        .supports = SCANBENCH_BACKEND::only_32_bit_integers,        \
        .scratch_bytes = SCANBENCH_BACKEND::its_bytes,              \
        .run = SCANBENCH_BACKEND::its_run<fault>,                   \
    };
#define WRONG_COMPACTION(op_name, its_name, fault) \
    WRONG(compact_##op_name, its_name, OP_COMPACT, run_compaction, no_bytes, fault)
#define WRONG_SORT(op_name, its_name, fault) \
    WRONG(sort_##op_name, its_name, OP_SORT, run_sort, other_keys_bytes, fault)

WRONG_COMPACTION(wrong_count, "wrong-count", WRONG_COUNT)
WRONG_COMPACTION(removed_count, "removed-count", REMOVED_COUNT)
WRONG_COMPACTION(unwritten_count, "unwritten-count", UNWRITTEN_COUNT)
WRONG_COMPACTION(lost_element, "lost-element", LOST_ELEMENT)
WRONG_COMPACTION(swapped_elements, "swapped-elements", SWAPPED_ELEMENTS)
WRONG_COMPACTION(duplicated_element, "duplicated-element", DUPLICATED_ELEMENT)
WRONG_COMPACTION(written_behind, "written-behind", WRITTEN_BEHIND)
WRONG_SORT(lost_key, "lost-key", LOST_KEY)
WRONG_SORT(duplicated_key, "duplicated-key", DUPLICATED_KEY)
WRONG_SORT(wrong_order, "wrong-order", WRONG_ORDER)
WRONG_SORT(unstable_split, "unstable-split", UNSTABLE_SPLIT)
