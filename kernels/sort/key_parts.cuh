/* key_parts.cuh: what a sort may be told of its input: keys that are partitioned already. */
#pragma once

#include <cstddef>
#include <cstdint>

/* The parts of an array, in device memory. It is in no namespace, because bench/algorithm.h
 * declares it. A part's keys lie side by side, and its ranks between its least and its greatest;
 * parts are in the order of ranks. count is 0 if nothing is known. */
struct key_parts {
    /* The most parts, and the most bytes of the keys of a part that fill its range: one more
     * partition divides it into leaves (msd). */
    enum { MOST = 256, MOST_BYTES = 1 << 26 };
    unsigned count;
    uint64_t first[MOST + 1]; /* the places where they begin, and the array's end */
    uint64_t least[MOST], greatest[MOST];
};
