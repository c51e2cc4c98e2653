/* segments.h: works on each segment of an array by itself, one after the other. */
#pragma once

#include "../bench/algorithm.h"

/* Where the segment ends that is number `segment` and begins at element `begin`. */
static inline uint64_t segment_end(const struct call *call, uint64_t segment, uint64_t begin)
{
    const struct problem *p = &call->problem;
    if (p->segments == SEGMENTS_OFFSETS)
        return ((const uint64_t *)call->second)[segment + 1];
    if (p->segments == SEGMENTS_KEYS) {
        const uint32_t *keys = (const uint32_t *)call->second;
        uint64_t end = begin + 1;
        while (end < p->n && keys[end] == keys[begin])
            end++;
        return end;
    }
    return p->n - begin < p->segment_length ? p->n : begin + p->segment_length;
}

/* Calls solve() for each segment as if it were the whole array, or once where there are none. The
 * result of a reduction is one element for each. */
static inline void for_each_segment(const struct call *call, void (*solve)(const struct call *))
{
    const struct problem *p = &call->problem;
    const size_t bytes = element_bytes(p->type);
    if (p->segments == SEGMENTS_NONE) {
        solve(call);
        return;
    }
    struct call part = *call;
    part.problem.segments = SEGMENTS_NONE;
    uint64_t begin = 0;
    for (uint64_t segment = 0; segment < p->segment_count; segment++) {
        const uint64_t end = segment_end(call, segment, begin);
        part.problem.n = end - begin;
        part.input = (const char *)call->input + begin * bytes;
        part.output = (char *)call->output + (p->op == OP_REDUCE ? segment : begin) * bytes;
        solve(&part);
        begin = end;
    }
}
