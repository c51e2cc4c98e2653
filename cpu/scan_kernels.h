/* scan_kernels.h: scan and sum of a part of an array on one thread, for every
 * type and vector path.
 *
 * A carry, the sum of what lies before the part, travels as the bits of an element
 * in a 64-bit word. It is 0 before the first. */
#ifndef SCANBENCH_CPU_SCAN_KERNELS_H
#define SCANBENCH_CPU_SCAN_KERNELS_H

#include "simd.h"

struct scan_kernels {
    /* The inclusive scan of a part; returns the carry of the next. Arrays are
     * aligned as their elements are. `ahead` NULL: it lies in the caches. Else it
     * is stored past them, and as many bytes from `ahead` on are fetched. */
    uint64_t (*scan)(const void *in, void *out, uint64_t n, const void *ahead, uint64_t carry);

    /* The carry and the elements of a part added up. `ahead` as for a scan. */
    uint64_t (*sum)(const void *in, uint64_t n, const void *ahead, uint64_t carry);
};

const struct scan_kernels *scan_kernels(enum element_type type, enum simd_path path);

/* The whole problem, either kind of scan. */
void scan_on_one_thread(const struct call *call);

/* The sum of n elements. */
uint64_t sum_on_one_thread(const struct problem *problem, const void *in, uint64_t n);

/* a + b as elements. */
uint64_t add_elements(enum element_type type, uint64_t a, uint64_t b);

#endif
