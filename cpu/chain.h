/* chain.h: blocks of an array that threads take in turns, where each block needs the sum of all
 * earlier blocks.
 *
 * A thread sums a block when it takes it and publishes the sum here. When it comes to process
 * the block, it adds up the sums that the other threads have published since. A block is taken
 * only after all earlier blocks, and its sum waits for nothing, so there is no deadlock,
 * however many threads there are: one part of the job may take all blocks. */
#pragma once

#include "block_parts.h"
#include "threads.h"

#include <stdatomic.h>
#include <string.h>

struct block_sum {
    uint64_t sum;            /* bits of an element, or a count */
    _Atomic uint32_t is_for; /* epoch of the call that wrote the sum */
};

struct chain {
    _Atomic uint64_t next; /* the next block to take */
    struct block_sum blocks[];
};

static inline size_t chain_bytes(uint64_t sums)
{
    return sizeof(struct chain) + sums * sizeof(struct block_sum);
}

static inline size_t chain_scratch_bytes(const struct problem *problem)
{
    return chain_bytes(block_count(problem));
}

static inline void prepare_chain(const struct call *call)
{
    memset(call->scratch, 0, call->scratch_bytes);
}

static inline void run_chain(const struct call *call, part_job *job)
{
    struct chain *chain = call->scratch;
    atomic_store(&chain->next, 0);
    run_on_threads(call->problem.device, threads_for(&call->problem), job, (void *)call);
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
        spin_or_yield(&spins);
    return chain->blocks[block].sum;
}
