/* block_parts.h: cuts an array into blocks that fit the second-level cache, and blocks into
 * pieces. */
#pragma once

#include "threads.h"

/* Blocks are small where an array has fewer than BLOCKS_PER_THREAD large ones per thread: some
 * threads would have no block, or wait for those that have one more. */
enum { LARGE_BLOCK_BYTES = 256 << 10, SMALL_BLOCK_BYTES = 64 << 10, BLOCKS_PER_THREAD = 4 };

struct part {
    const char *in;
    uint64_t n;
};

static inline size_t block_bytes(const struct problem *p)
{
    const size_t bytes = p->n * element_bytes(p->type);
    const size_t many = (size_t)BLOCKS_PER_THREAD * threads_for(p) * LARGE_BLOCK_BYTES;
    return bytes < many ? SMALL_BLOCK_BYTES : LARGE_BLOCK_BYTES;
}

static inline uint64_t block_count(const struct problem *p)
{
    const size_t block = block_bytes(p);
    return (p->n * element_bytes(p->type) + block - 1) / block;
}

/* A block of the call's input. All blocks after the last are empty. */
static inline struct part block_part(const struct call *call, uint64_t block)
{
    const struct problem *p = &call->problem;
    const size_t bytes = element_bytes(p->type);
    const uint64_t n = p->n, whole = block_bytes(p) / bytes, start = block * whole;
    if (start >= n)
        return (struct part){.in = call->input};
    return (struct part){.in = (const char *)call->input + start * bytes,
                         .n = n - start < whole ? n - start : whole};
}

/* Cuts up to n elements from the beginning of a part. */
static inline struct part cut_off(struct part *part, uint64_t n, size_t bytes)
{
    const struct part piece = {.in = part->in, .n = n < part->n ? n : part->n};
    part->in += piece.n * bytes;
    part->n -= piece.n;
    return piece;
}
