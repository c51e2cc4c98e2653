/* block_parts.h: cuts an array into blocks that fit the second-level cache, and blocks into
 * pieces. */
#pragma once

#include "../bench/algorithm.h"

enum { BLOCK_BYTES = 256 << 10 };

struct part {
    const char *in;
    uint64_t n;
};

static inline uint64_t block_count(const struct problem *p)
{
    return (p->n * element_bytes(p->type) + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

/* A block of the call's input. All blocks after the last are empty. */
static inline struct part block_part(const struct call *call, uint64_t block)
{
    const size_t bytes = element_bytes(call->problem.type);
    const uint64_t n = call->problem.n, whole = BLOCK_BYTES / bytes, start = block * whole;
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
