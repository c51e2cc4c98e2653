/* sort_serial: the C library's sort.
 * Source:  C library, qsort.
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

#define DEFINE_RUN(TYPE, T)                                               \
    static int compare_##TYPE(const void *left, const void *right)        \
    {                                                                     \
        const uint64_t a = rank_of(TYPE, left), b = rank_of(TYPE, right); \
        return (a > b) - (a < b);                                         \
    }                                                                     \
    static void run_##TYPE(const struct call *call)                       \
    {                                                                     \
        memcpy(call->output, call->input, call->problem.n * sizeof(T));   \
        qsort(call->output, call->problem.n, sizeof(T), compare_##TYPE);  \
    }
#include "of_type.h"

const struct algorithm cpu_sort_serial = {
    .name = "serial",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .summary = "a copy, then the C library's qsort on one CPU thread",
    .source = "C library",
    .run = run,
};
