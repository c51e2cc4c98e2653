/* segment_bounds.h: where the segments of an array begin, and their keys, the same on host and
 * device. */
#pragma once

#include "input.h"
#include "random.h"

enum { SEGMENT_SEED = 0x5E6 };

/* Up to SKEWED_GROUP skewed segments, and the elements that they divide. The first `before` and the
 * last of them have one element, and one between has the others. */
struct skewed_group {
    uint64_t first, segments; /* number of its first segment; how many there are */
    uint64_t start, n;        /* its first element; how many there are */
    uint64_t before, long_n;
};

HOST_DEVICE static inline struct skewed_group skewed_group(const struct input *input, uint64_t g)
{
    const uint64_t length = input->segments.length, most = SKEWED_GROUP * length;
    struct skewed_group group = {.first = g * SKEWED_GROUP, .start = g * most};
    const uint64_t rest = input->segmented_n - group.start;
    group.n = rest < most ? rest : most;
    group.segments = group.n / length + (group.n % length != 0);
    group.before = scale_random(random_bits(input->seed + SEGMENT_SEED, g), group.segments);
    group.long_n = group.n - group.segments + 1;
    return group;
}

HOST_DEVICE static inline uint64_t skewed_begin(const struct input *input, uint64_t segment)
{
    const struct skewed_group group = skewed_group(input, segment / SKEWED_GROUP);
    const uint64_t s = segment - group.first;
    return group.start + s + (s > group.before ? group.long_n - 1 : 0);
}

HOST_DEVICE static inline uint64_t skewed_segment(const struct input *input, uint64_t i)
{
    const struct skewed_group group =
        skewed_group(input, i / (SKEWED_GROUP * input->segments.length));
    const uint64_t at = i - group.start;
    if (at < group.before)
        return group.first + at;
    return group.first + (at < group.before + group.long_n ? group.before : at - group.long_n + 1);
}

/* The first element of a segment; past the last one, n. Segments that are not skewed each begin
 * where the row of their number would, or up to one less than a row later. */
HOST_DEVICE static inline uint64_t segment_begin(const struct input *input, uint64_t segment)
{
    const uint64_t length = input->segments.length, n = input->segmented_n;
    if (segment == 0)
        return 0;
    if (segment > (n - 1) / length)
        return n;
    if (input->segments.form == SEGMENTS_ROWS)
        return segment * length;
    if (input->segments.lengths == LENGTHS_SKEWED)
        return skewed_begin(input, segment);
    const uint64_t rest = n - segment * length;
    return segment * length + scale_random(random_bits(input->seed + SEGMENT_SEED, segment),
                                           rest < length ? rest : length);
}

/* The segment that an element of the whole array belongs to. */
HOST_DEVICE static inline uint64_t segment_of(const struct input *input, uint64_t i)
{
    if (input->segments.form != SEGMENTS_ROWS && input->segments.lengths == LENGTHS_SKEWED)
        return skewed_segment(input, i);
    const uint64_t segment = i / input->segments.length;
    return segment_begin(input, segment) <= i ? segment : segment - 1;
}

/* The first element of the segment that element i belongs to; both are of the whole array. */
HOST_DEVICE static inline uint64_t first_of_segment(const struct input *input, uint64_t i)
{
    return input->segments.form == SEGMENTS_NONE ? 0 : segment_begin(input, segment_of(input, i));
}

/* Is it the first of its segment? The first of the array is, with or without segments. */
HOST_DEVICE static inline bool begins_segment(const struct input *input, uint64_t i)
{
    i += input->before;
    if (input->segments.form == SEGMENTS_NONE || i == 0)
        return i == 0;
    return segment_begin(input, segment_of(input, i)) == i;
}

/* Bits whose number of ones is even. */
HOST_DEVICE static inline uint32_t with_even_parity(uint32_t bits)
{
    uint32_t parity = bits;
    for (int width = 16; width > 0; width /= 2)
        parity ^= parity >> width;
    return bits ^ (parity & 1);
}

/* Segments 2k and 2k + 1 have keys that differ in one bit, so that whoever compares some of the
 * bits only is wrong. Then neighbours always differ, because one key has an odd number of ones and
 * the other an even one. */
HOST_DEVICE static inline uint32_t segment_key(const struct input *input, uint64_t segment)
{
    const uint64_t bits = random_bits(input->seed + 2 * SEGMENT_SEED, segment / 2);
    const uint32_t key = with_even_parity((uint32_t)bits);
    return segment % 2 == 0 ? key : key ^ (uint32_t)1 << (bits >> 59);
}
