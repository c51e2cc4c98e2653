/* sort_serial: the C library's sort.
 * Source:  C library, qsort.
 * Work:    about n log2 n comparisons, each by a call.
 * Relies:  on a total order. NaN is neither less nor greater than any number, for
 *          which qsort is undefined, so floats are compared by their bits. */
#include "key_order.h"

#include <stdlib.h>
#include <string.h>

/* Maps a key to an unsigned number of the same order. */
static inline uint64_t rank_of(enum element_type type, const void *key)
{
    const struct key_order order = key_order(type);
    uint64_t bits = 0;
    memcpy(&bits, key, element_bytes(type));
    return bits ^ (bits >> (8 * element_bytes(type) - 1) ? order.negative : order.positive);
}

static size_t pair_bytes(const struct problem *problem)
{
    return element_bytes(problem->type) + value_bytes(problem->values);
}

/* Sorts pairs, each a key and its value after it, in scratch. */
static void sort_pairs(const struct call *call, int (*compare)(const void *, const void *))
{
    const struct problem *p = &call->problem;
    const size_t key = element_bytes(p->type), value = value_bytes(p->values), both = key + value;
    char *pairs = call->scratch;
    for (uint64_t i = 0; i < p->n; i++) {
        memcpy(pairs + i * both, (const char *)call->input + i * key, key);
        memcpy(pairs + i * both + key, (const char *)call->input_values + i * value, value);
    }
    if (p->n > 0)
        qsort(pairs, p->n, both, compare);
    for (uint64_t i = 0; i < p->n; i++) {
        memcpy((char *)call->output + i * key, pairs + i * both, key);
        memcpy((char *)call->output_values + i * value, pairs + i * both + key, value);
    }
}

static size_t scratch_bytes(const struct problem *problem)
{
    return problem->values != VALUES_NONE ? problem->n * pair_bytes(problem) : 0;
}

#define DEFINE_RUN(TYPE, STORED, T)                                           \
    static int compare_##TYPE(const void *left, const void *right)            \
    {                                                                         \
        const uint64_t a = rank_of(TYPE, left), b = rank_of(TYPE, right);     \
        return (a > b) - (a < b);                                             \
    }                                                                         \
    static void run_##TYPE(const struct call *call)                           \
    {                                                                         \
        if (call->problem.values != VALUES_NONE) {                            \
            sort_pairs(call, compare_##TYPE);                                 \
            return;                                                           \
        }                                                                     \
        memcpy(call->output, call->input, call->problem.n * sizeof(STORED));  \
        qsort(call->output, call->problem.n, sizeof(STORED), compare_##TYPE); \
    }
#include "of_type.h"

const struct algorithm cpu_sort_serial = {
    .name = "serial",
    .op = OP_SORT,
    .traits = TRAIT_PAIRS | TRAIT_ALLOCATES(1),
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "a copy, then the C library's qsort on one CPU thread",
    .source = "C library",
    .scratch_bytes = scratch_bytes,
    .run = run,
};
