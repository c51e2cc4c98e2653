/* wrong_moves: compactions and sorts on the CPU that are wrong in one way each. */
#include "wrong_moves.h"

static const char *only_32_bit_integers(const struct problem *problem)
{
    return problem->type == TYPE_I32 || problem->type == TYPE_U32 ? NULL : "i32 and u32 only";
}

static size_t other_keys_bytes(const struct problem *problem)
{
    return problem->n * sizeof(uint32_t);
}

#define WRONG_COMPACTION(op_name, its_name, fault)                                       \
    static void run_##op_name(const struct call *call)                                   \
    {                                                                                    \
        compact_wrongly(fault, call->input, call->output, call->problem.n, call->count); \
    }                                                                                    \
    const struct algorithm cpu_compact_##op_name = {.name = its_name,                    \
                                                    .op = OP_COMPACT,                    \
                                                    .family = FAMILY_OWN,                \
                                                    .summary = "wrong: " #fault,         \
                                                    .source = "none",                    \
                                                    .supports = only_32_bit_integers,    \
                                                    .run = run_##op_name};

#define WRONG_SORT(op_name, its_name, fault)                                            \
    static void run_##op_name(const struct call *call)                                  \
    {                                                                                   \
        sort_wrongly(fault, call->input, call->output, call->scratch, call->problem.n); \
    }                                                                                   \
    const struct algorithm cpu_sort_##op_name = {.name = its_name,                      \
                                                 .op = OP_SORT,                         \
                                                 .family = FAMILY_OWN,                  \
                                                 .summary = "wrong: " #fault,           \
                                                 .source = "none",                      \
                                                 .supports = only_32_bit_integers,      \
                                                 .scratch_bytes = other_keys_bytes,     \
                                                 .run = run_##op_name};

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
