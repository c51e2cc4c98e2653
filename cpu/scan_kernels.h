/* scan_kernels.h: scan and sum of a part of an array on one thread, for every operator, type and
 * vector path. A sum is what the operator makes of elements in their order.
 *
 * A sum, as is the carry, which is that of everything before the part, is the bits of the type that
 * elements are added in, in a 64-bit word. The carry is the identity at the start. */
#pragma once

#include "simd.h"

/* Computes the inclusive scan of a part; returns the carry for the next. Arrays have the
 * alignment of their elements. If `streaming`, the output, except a line or two at its ends, is
 * stored past the caches. `ahead` NULL: nothing is prefetched. Otherwise as many bytes as are
 * stored so are prefetched from there.
 *
 * The order in which floats are added depends on n and the vector path, not on where arrays lie. */
typedef uint64_t scan_kernel(const void *in, void *out, uint64_t n, bool streaming,
                             const void *ahead, uint64_t carry);

struct scan_kernels {
    scan_kernel *scan;

    /* Returns the carry plus the elements of a part, added in such an order, too. */
    uint64_t (*sum)(const void *in, uint64_t n, uint64_t carry);
};

/* What a problem adds: the operator and the type of its elements. */
const struct scan_kernels *scan_kernels(const struct problem *problem);

/* What is left of a scan: its input, the output, how many elements, and the carry. */
struct scan_rest {
    const char *in;
    char *out;
    uint64_t n;
    uint64_t carry;
};

/* Begins either kind of scan; an inclusive one does the rest. An exclusive scan is the inclusive
 * one, written one element further. If `streaming`, it begins with as many results as fill a cache
 * line, so that the rest begins at the same place in a line as the whole. */
void begin_scan(const struct problem *problem, struct scan_rest *rest, bool streaming);

/* Does either kind of scan of a part. */
void scan_part(const struct problem *problem, struct scan_rest part, bool streaming);

/* Solves the whole problem, for either kind of scan. */
void scan_on_one_thread(const struct call *call);

/* The sum of n elements. */
uint64_t sum_on_one_thread(const struct problem *problem, const void *in, uint64_t n);

uint64_t identity_sum(const struct problem *problem);

/* What the operator makes of a, then b. */
uint64_t add_sums(const struct problem *problem, uint64_t a, uint64_t b);

/* Stores a sum as an element. */
void store_sum(const struct problem *problem, void *place, uint64_t sum);
