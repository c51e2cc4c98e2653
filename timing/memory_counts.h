/* memory_counts.h: what the threads of a kernel did to memory and to elements, counted per launch
 * and per line. The emulator counts all of it, a GPU some.
 *
 * A request is one access by a warp: what its lanes access together by one instruction. A sector
 * is 32 aligned bytes of global memory, the least that is moved. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { SECTOR_BYTES = 32 };

/* In place of a count. */
#define UNKNOWN_COUNT UINT64_MAX

/* Numbers of one type, the last of them `depth`: add_memory_counts() walks through the others as an
 * array. */
struct memory_counts {
    uint64_t blocks;
    uint64_t barriers;         /* __syncthreads() and its like, each block's summed */
    uint64_t warp_collectives; /* shuffles, votes, reductions and __syncwarp() of a warp */

    /* Global memory, atomics excluded. The bytes are those that lanes ask for: within a request,
     * bytes that several lanes ask for count once. A bulk copy has sectors and no request. */
    uint64_t load_requests, load_sectors, load_bytes;
    uint64_t store_requests, store_sectors, store_bytes;

    /* Shared memory, atomics included. A conflict is one more pass over the banks than the size
     * of the access takes anyway. */
    uint64_t shared_requests, bank_conflicts;

    uint64_t atomics; /* of single threads, on global and shared memory */

    /* Requests of all kinds, and the sum of their lanes. */
    uint64_t requests, lanes;

    /* How often the operator of a scan or a reduction was applied, and the longest chain of
     * applications, each of which needs the result of the one before: its last is one of these. */
    uint64_t applications, depth;
};

static_assert(offsetof(struct memory_counts, depth) + sizeof(uint64_t) ==
                      sizeof(struct memory_counts) &&
                  sizeof(struct memory_counts) % sizeof(uint64_t) == 0,
              "add_memory_counts() needs numbers of one type, with depth at the end");

/* What is unknown of one is unknown of both. Counts add up, except for the last: the chain of both
 * is the longer one, and UNKNOWN_COUNT longer than any. */
static inline void add_memory_counts(struct memory_counts *sum, const struct memory_counts *counts)
{
    uint64_t *const to = (uint64_t *)sum;
    const uint64_t *const from = (const uint64_t *)counts;
    for (size_t c = 0; c < offsetof(struct memory_counts, depth) / sizeof *to; c++)
        to[c] =
            to[c] == UNKNOWN_COUNT || from[c] == UNKNOWN_COUNT ? UNKNOWN_COUNT : to[c] + from[c];
    if (sum->depth < counts->depth)
        sum->depth = counts->depth;
}

/* What a line of a kernel's source did, in all launches of the kernel. Blocks, barriers,
 * collectives and applications are not counted by line. */
struct line_counts {
    char kernel[64];
    char line[128]; /* scan.cu:12; "unknown" if nobody knows */
    struct memory_counts counts;
};
