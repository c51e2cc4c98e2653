/* recurrence_kernels.h: linear recurrences h = a h + b of a part of two arrays, on one thread.
 *
 * h and the two numbers of a map are the bits of an element in a 64-bit word each. */
#pragma once

#include "../bench/algorithm.h"

/* h -> a h + b: what several steps do together. */
struct affine_map {
    uint64_t a, b;
};

struct recurrence_kernels {
    /* Solves n steps from element `first` on, given the h before it; returns the last h. For
     * inclusive scans the output may be either input. */
    uint64_t (*solve)(const struct call *call, uint64_t first, uint64_t n, uint64_t h);

    /* The map of these steps. The product of their a is a part of it. */
    struct affine_map (*compose)(const struct call *call, uint64_t first, uint64_t n);

    uint64_t (*apply)(struct affine_map map, uint64_t h);
};

const struct recurrence_kernels *recurrence_kernels(enum element_type type);
