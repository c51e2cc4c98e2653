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

#define DEFINE_RADIX_SORT(T, PASSES)                                                              \
    static inline unsigned digit_##T(T key, struct key_order order, int pass)                     \
    {                                                                                             \
        key ^= (T)(key >> (8 * sizeof(T) - 1) ? order.negative : order.positive);                 \
        return key >> (pass * DIGIT_BITS) & (DIGITS - 1);                                         \
    }                                                                                             \
                                                                                                  \
    static void count_##T(const T *in, uint64_t n, struct key_order order,                        \
                          uint64_t count[PASSES][DIGITS])                                         \
    {                                                                                             \
        memset(count, 0, sizeof(uint64_t[PASSES][DIGITS]));                                       \
        for (uint64_t i = 0; i < n; i++)                                                          \
            for (int pass = 0; pass < PASSES; pass++)                                             \
                count[pass][digit_##T(in[i], order, pass)]++;                                     \
    }                                                                                             \
                                                                                                  \
    static void pass_##T(const T *in, T *out, uint64_t n, struct key_order order, int pass,       \
                         const uint64_t count[DIGITS])                                            \
    {                                                                                             \
        uint64_t next[DIGITS], before = 0;                                                        \
        for (int d = 0; d < DIGITS; d++) {                                                        \
            next[d] = before;                                                                     \
            before += count[d];                                                                   \
        }                                                                                         \
        for (uint64_t i = 0; i < n; i++)                                                          \
            out[next[digit_##T(in[i], order, pass)]++] = in[i];                                   \
    }                                                                                             \
                                                                                                  \
    static void radix_sort_##T(const T *in, T *out, T *other, uint64_t n, struct key_order order) \
    {                                                                                             \
        uint64_t count[PASSES][DIGITS];                                                           \
        bool needed[PASSES];                                                                      \
        int passes = 0;                                                                           \
        count_##T(in, n, order, count);                                                           \
        for (int pass = 0; pass < PASSES; pass++) {                                               \
            needed[pass] = n > 0 && count[pass][digit_##T(in[0], order, pass)] != n;              \
            passes += needed[pass];                                                               \
        }                                                                                         \
        if (passes == 0)                                                                          \
            memcpy(out, in, n * sizeof *out);                                                     \
        /* The last pass must end in the output. */                                               \
        T *to = passes % 2 == 1 ? out : other;                                                    \
        for (int pass = 0; pass < PASSES; pass++) {                                               \
            if (!needed[pass])                                                                    \
                continue;                                                                         \
            pass_##T(in, to, n, order, pass, count[pass]);                                        \
            in = to;                                                                              \
            to = to == out ? other : out;                                                         \
        }                                                                                         \
    }

DEFINE_RADIX_SORT(uint32_t, 4)
DEFINE_RADIX_SORT(uint64_t, 8)

static void run(const struct call *call)
{
    const enum element_type type = call->problem.type;
    const struct key_order order = key_order(type);
    if (element_bytes(type) == sizeof(uint64_t))
        radix_sort_uint64_t(call->input, call->output, call->scratch, call->problem.n, order);
    else
        radix_sort_uint32_t(call->input, call->output, call->scratch, call->problem.n, order);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return problem->n * element_bytes(problem->type);
}

const struct algorithm cpu_sort_radix = {
    .name = "radix",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .summary = "least significant digit first, 8 bits per pass, on one CPU thread",
    .source = "Knuth 1973",
    .scratch_bytes = scratch_bytes,
    .run = run,
};
