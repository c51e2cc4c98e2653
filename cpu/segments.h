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

/* The number of the first segment that begins at element `at` or after it, and where it begins: at
 * n if there is none. A segment by keys has the number 0, which nobody needs. */
struct segment_place {
    uint64_t segment, begin;
};

static inline struct segment_place first_segment_from(const struct call *call, uint64_t at)
{
    const struct problem *p = &call->problem;
    struct segment_place place = {0, at};
    if (p->segments == SEGMENTS_KEYS) {
        const uint32_t *keys = (const uint32_t *)call->second;
        while (place.begin > 0 && place.begin < p->n && keys[place.begin] == keys[place.begin - 1])
            place.begin++;
    } else if (p->segments == SEGMENTS_OFFSETS) {
        const uint64_t *offsets = (const uint64_t *)call->second;
        for (uint64_t count = p->segment_count; count > 0;) {
            const uint64_t half = count / 2;
            const bool before = offsets[place.segment + half] < at;
            place.segment += before ? half + 1 : 0;
            count = before ? count - half - 1 : half;
        }
        place.begin = offsets[place.segment];
    } else {
        place.segment = at / p->segment_length + (at % p->segment_length != 0);
        place.begin = place.segment < p->segment_count ? place.segment * p->segment_length : p->n;
    }
    return place;
}

/* The second input of a recurrence has elements, as the first. */
static inline const void *second_from(const struct call *call, uint64_t begin)
{
    const struct problem *p = &call->problem;
    return p->binary_operator == OPERATOR_RECURRENCE
               ? (const char *)call->second + begin * element_bytes(p->type)
               : NULL;
}

/* Calls solve() for each segment that begins at one of the elements `from` to `to` - 1, as if it
 * were the whole array. The result of a reduction is one element for each. */
static inline void for_segments_from(const struct call *call, uint64_t from, uint64_t to,
                                     void (*solve)(const struct call *))
{
    const struct problem *p = &call->problem;
    const size_t bytes = element_bytes(p->type);
    struct call part = *call;
    part.problem.segments = SEGMENTS_NONE;
    struct segment_place place = first_segment_from(call, from);
    while (place.begin < to) {
        const uint64_t end = segment_end(call, place.segment, place.begin);
        const uint64_t result = p->op == OP_REDUCE ? place.segment : place.begin;
        part.problem.n = end - place.begin;
        part.input = (const char *)call->input + place.begin * bytes;
        part.second = second_from(call, place.begin);
        part.output = (char *)call->output + result * bytes;
        solve(&part);
        place.segment++;
        place.begin = end;
    }
}

/* The same for all segments, or for the whole array where there are none. */
static inline void for_each_segment(const struct call *call, void (*solve)(const struct call *))
{
    if (call->problem.segments == SEGMENTS_NONE)
        solve(call);
    else
        for_segments_from(call, 0, call->problem.n, solve);
}
