/* memory_counts.h: what the threads of a kernel did to memory, counted per launch.
 *
 * A request is one access by a warp: what its lanes access together by one instruction. A sector
 * is 32 aligned bytes of global memory, the least that is moved. */
#pragma once

#include <stdint.h>

enum { SECTOR_BYTES = 32 };

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
};
