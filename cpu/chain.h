/* chain.h: blocks of an array that threads take in turns, where each block needs the sum of all
 * earlier blocks.
 *
 * A thread sums a block when it takes it and publishes the sum here. When it comes to process
 * the block, it adds up the sums that the other threads have published since. A block is taken
 * only after all earlier blocks, and its sum waits for nothing, so there is no deadlock,
 * however many threads there are. */
#ifndef SCANBENCH_CPU_CHAIN_H
#define SCANBENCH_CPU_CHAIN_H

#include "simd.h"
#include "team.h"

#include <stdatomic.h>

struct block_sum {
    uint64_t sum;            /* bits of an element, or a count */
    _Atomic uint32_t is_for; /* epoch of the call that wrote the sum */
};

struct chain {
    _Atomic uint64_t next; /* the next block to take */
    struct block_sum blocks[];
};

/* Returns NULL, or why such an algorithm cannot solve the problem. */
static inline const char *chain_unsupported(const struct problem *problem)
{
    const char *why = simd_unsupported(problem);
    return why != NULL ? why : openmp_unsupported(problem);
}

static inline size_t chain_bytes(uint64_t block_count)
{
    return sizeof(struct chain) + block_count * sizeof(struct block_sum);
}

static inline uint64_t take_block(struct chain *chain)
{
    return atomic_fetch_add_explicit(&chain->next, 1, memory_order_relaxed);
}

static inline void publish_sum(struct chain *chain, uint64_t block, uint64_t sum, uint32_t epoch)
{
    chain->blocks[block].sum = sum;
    atomic_store_explicit(&chain->blocks[block].is_for, epoch, memory_order_release);
}

static inline uint64_t await_sum(struct chain *chain, uint64_t block, uint32_t epoch)
{
    unsigned spins = 0;
    while (atomic_load_explicit(&chain->blocks[block].is_for, memory_order_acquire) != epoch)
        spin_wait(&spins);
    return chain->blocks[block].sum;
}

#endif
