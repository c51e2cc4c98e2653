/* chunk_reduction.h: what the operator makes of one chunk of the input (check.h), on host and
 * device alike.
 *
 * The sum of a segment, which may reach over many chunks, is checked where it ends, once the sums
 * of the chunks before are known. */
#pragma once

#include "check.h"

/* Sums, here and below, are elements of sum_type(). */
HOST_DEVICE static inline uint64_t apply_to(const struct input *input, uint64_t sum, uint64_t i)
{
    return element_apply(input->binary_operator, sum_type(input->type), sum,
                         element_widen(input->type, input_element(input, i)));
}

HOST_DEVICE static inline uint64_t sum_of_none(const struct input *input)
{
    return element_identity(input->binary_operator, sum_type(input->type));
}

/* Without segments of all elements of the chunk; else of those in the segment of its last. */
HOST_DEVICE static inline uint64_t chunk_reduction(const struct input *input, uint64_t chunk)
{
    const uint64_t identity = sum_of_none(input);
    uint64_t sum = identity;
    for (uint64_t i = chunk * CHUNK; i < chunk_end(input, chunk); i++)
        sum = apply_to(input, begins_segment(input, i) ? identity : sum, i);
    return sum;
}

/* Does a segment begin in the chunk? */
static inline bool chunk_begins_segment(const struct input *input, uint64_t chunk)
{
    const uint64_t start = chunk * CHUNK, last = chunk_end(input, chunk) - 1;
    return chunk == 0 || segment_of(input, last) != segment_of(input, start - 1);
}

/* The sum of the segment that the chunk ends in, up to its end, given that of the chunk before. */
static inline uint64_t sum_at_end(const struct input *input, uint64_t chunk, uint64_t before,
                                  uint64_t reduction)
{
    return chunk_begins_segment(input, chunk)
               ? reduction
               : element_apply(input->binary_operator, sum_type(input->type), before, reduction);
}

/* Checks the sums of the segments that end in a chunk; `sum` is of the elements that the first of
 * them has in earlier chunks. Returns the first wrong index, or NO_INDEX. */
HOST_DEVICE static inline int64_t first_wrong_sum_of_chunk(const struct check *check,
                                                           uint64_t chunk, uint64_t sum)
{
    const struct input *input = &check->input;
    const uint64_t identity = sum_of_none(input);
    for (uint64_t i = chunk * CHUNK; i < chunk_end(input, chunk); i++) {
        sum = apply_to(input, begins_segment(input, i) ? identity : sum, i);
        if (i + 1 < input->n && !begins_segment(input, i + 1))
            continue;
        const uint64_t segment = segment_of(input, i);
        if (!element_equal(input->type, element_load(input->type, check->array, segment),
                           element_narrow(input->type, sum)))
            return (int64_t)segment;
    }
    return NO_INDEX;
}
