/* sort_radix: radix sort from the least significant digit, 8 bits per pass.
 * Source:  Knuth, The Art of Computer Programming 3, section 5.2.5.
 * Work:    O(n) per pass, one pass per digit in which any two keys differ.
 * DRAM:    n read once for the histograms of all digits; 2n per pass.
 * Relies:  on the histograms staying valid: a pass moves keys but does not change
 *          them. */
#include "key_order.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Rounds up the length of the first of two arrays, so that the second is aligned. */
static size_t align(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Keys, and the values that move with them if there are any. */
struct items {
    void *keys, *values;
};

static inline void move_value(void *to, uint64_t at, const void *from, uint64_t i,
                              enum value_type values)
{
    if (values == VALUES_U32)
        ((uint32_t *)to)[at] = ((const uint32_t *)from)[i];
    else if (values == VALUES_U64)
        ((uint64_t *)to)[at] = ((const uint64_t *)from)[i];
}

static void copy_items(const struct problem *problem, struct items from, struct items to)
{
    memcpy(to.keys, from.keys, problem->n * element_bytes(problem->type));
    if (problem->values != VALUES_NONE)
        memcpy(to.values, from.values, problem->n * value_bytes(problem->values));
}

#define DEFINE_RADIX_SORT(T, PASSES)                                                             \
    static inline unsigned digit_##T(T key, struct key_order order, int pass)                    \
    {                                                                                            \
        key ^= (T)(key >> (8 * sizeof(T) - 1) ? order.negative : order.positive);                \
        return key >> (pass * DIGIT_BITS) & (DIGITS - 1);                                        \
    }                                                                                            \
                                                                                                 \
    static void count_##T(const T *in, uint64_t n, struct key_order order,                       \
                          uint64_t count[PASSES][DIGITS])                                        \
    {                                                                                            \
        memset(count, 0, sizeof(uint64_t[PASSES][DIGITS]));                                      \
        for (uint64_t i = 0; i < n; i++)                                                         \
            for (int pass = 0; pass < PASSES; pass++)                                            \
                count[pass][digit_##T(in[i], order, pass)]++;                                    \
    }                                                                                            \
                                                                                                 \
    static void pass_##T(struct items from, struct items to, const struct problem *problem,      \
                         struct key_order order, int pass, const uint64_t count[DIGITS])         \
    {                                                                                            \
        const T *in = from.keys;                                                                 \
        T *out = to.keys;                                                                        \
        uint64_t next[DIGITS], before = 0;                                                       \
        for (int d = 0; d < DIGITS; d++) {                                                       \
            next[d] = before;                                                                    \
            before += count[d];                                                                  \
        }                                                                                        \
        for (uint64_t i = 0; i < problem->n; i++) {                                              \
            const uint64_t at = next[digit_##T(in[i], order, pass)]++;                           \
            out[at] = in[i];                                                                     \
            move_value(to.values, at, from.values, i, problem->values);                          \
        }                                                                                        \
    }                                                                                            \
                                                                                                 \
    static void radix_sort_##T(const struct problem *problem, struct items in, struct items out, \
                               struct items other)                                               \
    {                                                                                            \
        const struct key_order order = key_order(problem->type);                                 \
        const uint64_t n = problem->n;                                                           \
        const T *keys = in.keys;                                                                 \
        uint64_t count[PASSES][DIGITS];                                                          \
        bool needed[PASSES];                                                                     \
        int passes = 0;                                                                          \
        count_##T(keys, n, order, count);                                                        \
        for (int pass = 0; pass < PASSES; pass++) {                                              \
            needed[pass] = n > 0 && count[pass][digit_##T(keys[0], order, pass)] != n;           \
            passes += needed[pass];                                                              \
        }                                                                                        \
        if (passes == 0 && n > 0)                                                                \
            copy_items(problem, in, out);                                                        \
        /* The last pass must end in the output. */                                              \
        struct items to = passes % 2 == 1 ? out : other;                                         \
        for (int pass = 0; pass < PASSES; pass++) {                                              \
            if (!needed[pass])                                                                   \
                continue;                                                                        \
            pass_##T(in, to, problem, order, pass, count[pass]);                                 \
            in = to;                                                                             \
            to = to.keys == out.keys ? other : out;                                              \
        }                                                                                        \
    }

DEFINE_RADIX_SORT(uint8_t, 1)
DEFINE_RADIX_SORT(uint16_t, 2)
DEFINE_RADIX_SORT(uint32_t, 4)
DEFINE_RADIX_SORT(uint64_t, 8)

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const struct items in = {(void *)call->input, (void *)call->input_values};
    const struct items out = {call->output, call->output_values};
    const struct items other = {
        (char *)call->scratch + align(problem->n * value_bytes(problem->values)), call->scratch};
    switch (element_bytes(problem->type)) {
    case sizeof(uint8_t):
        return radix_sort_uint8_t(problem, in, out, other);
    case sizeof(uint16_t):
        return radix_sort_uint16_t(problem, in, out, other);
    case sizeof(uint32_t):
        return radix_sort_uint32_t(problem, in, out, other);
    default:
        return radix_sort_uint64_t(problem, in, out, other);
    }
}

static size_t scratch_bytes(const struct problem *problem)
{
    return align(problem->n * value_bytes(problem->values)) +
           problem->n * element_bytes(problem->type);
}

const struct algorithm cpu_sort_radix = {
    .name = "radix",
    .op = OP_SORT,
    .traits = TRAIT_PAIRS | TRAIT_STABLE | TRAIT_UNALIGNED,
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "least significant digit first, 8 bits per pass, on one CPU thread",
    .source = "Knuth 1973",
    .scratch_bytes = scratch_bytes,
    .run = run,
};
