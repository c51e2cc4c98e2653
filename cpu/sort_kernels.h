/* sort_kernels.h: the steps of a radix sort on one thread, for keys of 32 or 64 bits on every
 * vector path. They transform keys into unsigned numbers of the same order. */
#pragma once

#include "key_order.h"
#include "simd.h"

#include <stdbool.h>

enum {
    MOST_BUCKET_BITS = 11,
    MOST_BUCKETS = 1 << MOST_BUCKET_BITS,
    /* Measured: keys are moved to more buckets at half the speed, because lines leave the cache. */
    FAST_BUCKET_BITS = 8,
};

/* The digit that selects a key's bucket: `bits` bits from `shift` up. */
struct digit {
    unsigned shift, bits;
};

/* Selects the topmost of `bits` bits: as many as leave at most `few` of n evenly spread keys per
 * bucket, but no more than `most_bits`. */
static inline struct digit top_digit(uint64_t n, unsigned bits, uint64_t few, unsigned most_bits)
{
    struct digit digit = {.bits = 0};
    while (digit.bits < most_bits && digit.bits < bits && n >> digit.bits > few)
        digit.bits++;
    digit.shift = bits - digit.bits;
    return digit;
}

/* The number of bits up to the topmost one that varies. */
static inline unsigned bits_up_to(uint64_t varying)
{
    return varying == 0 ? 0 : 64 - (unsigned)__builtin_clzll(varying);
}

enum { SPARE_BYTES = 1 << 20, SLOTS_BYTES = 864 << 10 };

/* What a thread sorts a bucket in. */
struct bucket_memory {
    _Alignas(CACHE_LINE_BYTES) char slots[SLOTS_BYTES];
    char spare[SPARE_BYTES]; /* another array for the keys of a bucket, if it is not longer */
};

struct sort_kernels {
    /* Buckets of up to few_keys are sorted fastest. One of up to many_keys needs no further
     * buckets. */
    uint64_t few_keys, many_keys;

    /* Transforms n keys, at least one, and returns the bits in which they differ from the first.
     * `out` may be `in`. */
    uint64_t (*transform)(const void *in, void *out, uint64_t n, struct key_order order);

    /* Counts keys by digit, and returns the bits in which transformed keys differ from `first`. */
    uint64_t (*count)(const void *in, uint64_t n, struct key_order order, struct digit digit,
                      uint64_t first, uint32_t *count);

    /* Transforms keys, stores each at `next` of its digit, and returns the bits in which they
     * differ from `first`. */
    uint64_t (*scatter)(const void *in, void *out, uint64_t n, struct key_order order,
                        struct digit digit, uint64_t first, uint32_t *next);

    /* Sorts transformed keys that are equal above their lowest `bits` into `out`, which may be
     * `keys`. `other` is an array for n keys. */
    void (*sort_bucket)(void *keys, void *other, void *out, uint64_t n, unsigned bits,
                        struct bucket_memory *memory);
};

const struct sort_kernels *sort_kernels(enum element_type type, enum simd_path path);

/* Returns NULL, or why the problem cannot be sorted here. */
static inline const char *radix_sort_unsupported(const struct problem *problem)
{
    if (problem->values != VALUES_NONE &&
        (element_bytes(problem->type) != sizeof(uint32_t) || problem->values != VALUES_U32))
        return "it sorts pairs of a key and a value of 32 bits only";
    if (problem->n > UINT32_MAX)
        return "it counts the keys of a bucket in 32 bits";
    return simd_unsupported(problem);
}

/* Sorts the keys of the whole input with `threads` threads. */
void radix_sort_keys(const struct call *call, unsigned threads);
size_t radix_sort_keys_scratch_bytes(const struct problem *problem, unsigned threads);

/* The same or, where there are values, sorts pairs as words of 64 bits, the key in the upper half
 * (sort_words.c). */
void radix_sort(const struct call *call, unsigned threads);
size_t radix_sort_scratch_bytes(const struct problem *problem, unsigned threads);
