/* sort_kernels.h: the steps of a radix sort on one thread, for keys of 32 or 64 bits on every
 * vector path. They transform keys into unsigned numbers of the same order. */
#ifndef SCANBENCH_CPU_SORT_KERNELS_H
#define SCANBENCH_CPU_SORT_KERNELS_H

#include "key_order.h"
#include "simd.h"

enum { MOST_BUCKET_BITS = 11, MOST_BUCKETS = 1 << MOST_BUCKET_BITS, SPARE_KEYS = 128 << 10 };

/* The digit that selects a key's bucket: `bits` bits from `shift` up. */
struct digit {
    unsigned shift, bits;
};

/* One thread's share of the distribution into buckets. */
struct share {
    _Alignas(CACHE_LINE_BYTES) char lines[MOST_BUCKETS][CACHE_LINE_BYTES];
    uint32_t start[MOST_BUCKETS]; /* number of keys; then the position of the first */
    uint32_t next[MOST_BUCKETS];  /* position of the next key */
    uint64_t varying;             /* bits in which transformed keys differ from the first */
};

struct sort_kernels {
    /* Transforms n keys, at least one, and returns the bits in which they differ from the first.
     * `out` may be `in`. */
    uint64_t (*transform)(const void *in, void *out, uint64_t n, struct key_order order);

    /* Counts keys by digit, and returns the bits in which transformed keys differ from `first`. */
    uint64_t (*count)(const void *in, uint64_t n, struct key_order order, struct digit digit,
                      uint64_t first, uint32_t *count);

    /* Transforms keys and stores each at `next` of its digit. */
    void (*scatter)(const void *in, void *out, uint64_t n, struct key_order order,
                    struct digit digit, uint32_t *next);

    /* The same at share->next. Lines of `out` are collected in share->lines and stored past the
     * caches. */
    void (*scatter_lines)(const void *in, void *out, uint64_t n, struct key_order order,
                          struct digit digit, struct share *share);

    /* Sorts transformed keys that are equal above their lowest `bits`, in two arrays in turns, and
     * returns the one that has the result. */
    void *(*sort_bucket)(void *keys, void *other, uint64_t n, unsigned bits);

    /* Transforms n keys, at least one, in place, and stores them past the caches. */
    void (*stream_keys)(void *keys, void *out, uint64_t n, struct key_order order);
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

#endif
