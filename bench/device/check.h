/* check.h: what each element of a result should be, on host and device alike.
 *
 * Scan is checked without a reference array and for any n: the first element of each segment must
 * be right, and each other one must be what the operator makes of its predecessor and the input
 * between them, for a sum differ from it by exactly that. By induction the whole is then right, and
 * the first wrong index is found whatever the rest holds.
 *
 * Where sums are wider than elements, and rounded to them, a result does not follow from its
 * predecessor. There the sum is known from the walk (input_elements.h), a float holds it exactly
 * in any order of additions, and the result must be the element nearest to it, which only a sum
 * that was rounded once always is.
 *
 * A recurrence of floats is not exact in any order of its steps. Its a and b are drawn between -1
 * and 1, independently of each other. A result is a sum of terms b a a ..., each of which is
 * rounded once per factor and once per addition that it can still change. The magnitudes of the
 * terms sum up to a number that, all but surely, stays below 12 in 2^40 elements. If the terms of
 * such a sum shrink by a twelfth from one to the next, their roundings are less than 2 * 12^2
 * halves of an epsilon together. A step takes the errors of two results. So whatever is within
 * RECURRENCE_EPSILONS passes. In 2^26 elements the sums were below 6, and the steps of three orders
 * off by 24 epsilons at most. A lost or swapped element passes once in about 2^13 times in f32, and
 * never in practice in f64.
 *
 * Compaction is checked in chunks of the input: once the number of elements that earlier chunks
 * keep is known, each chunk is compared with its part of the result, element by element.
 *
 * A sorted array must be in order, and hold the elements of the input, each as often as there.
 * Order is checked element by element, the multiset by a digest.
 *
 * A pair's value is the index of its key in the input. So each value must be the index of a key
 * like the one that it is with, and no index may be there twice; where equal keys follow each
 * other, a stable sort has ascending indices. */
#pragma once

#include "backend.h"
#include "input_elements.h"

#include <math.h>

enum { RECURRENCE_EPSILONS = 512 };

/* The scanned element at index i, which is not the first of a segment, given its predecessor. */
HOST_DEVICE static inline uint64_t next_wanted(const struct check *check, uint64_t i,
                                               uint64_t before)
{
    const struct input *input = &check->input;
    const uint64_t between = check->scan == KIND_INCLUSIVE ? i : i - 1;
    if (input->tides)
        return sum_of_walk(input, first_of_segment(input, input->before + i),
                           input->before + between + 1);
    if (input->binary_operator == OPERATOR_RECURRENCE)
        return element_recur(input->type, input_element(input, between), before,
                             input_element(&check->second, between));
    return element_apply(input->binary_operator, input->type, before,
                         input_element(input, between));
}

/* Is there nothing before element i of a scan, as in no earlier slice and no earlier element of its
 * segment? */
HOST_DEVICE static inline bool is_first(const struct check *check, uint64_t i)
{
    return check->input.segments.form != SEGMENTS_NONE ? begins_segment(&check->input, i)
                                                       : i == 0 && !check->follows;
}

/* What element i of the checked array should hold, given its predecessor. */
HOST_DEVICE static inline uint64_t check_wanted(const struct check *check, uint64_t i,
                                                uint64_t before)
{
    if (check->kind == CHECK_INPUT)
        return input_element(&check->input, i);
    if (check->kind == CHECK_ORDER)
        return before;
    if (check->kind == CHECK_POISON)
        return POISON_BYTE * (UINT64_MAX / 0xFF >> (64 - 8 * element_bytes(check->input.type)));

    if (!is_first(check, i))
        return next_wanted(check, i, before);
    if (check->scan == KIND_EXCLUSIVE)
        return element_identity(check->input.binary_operator, check->input.type);
    return input_element(
        check->input.binary_operator == OPERATOR_RECURRENCE ? &check->second : &check->input, i);
}

/* Is the step of a recurrence of floats, from the element before, within what rounding explains? */
HOST_DEVICE static inline bool is_near_step(const struct check *check, uint64_t i, uint64_t got,
                                            uint64_t before)
{
    const struct input *input = &check->input;
    const enum element_type type = input->type;
    const uint64_t between = check->scan == KIND_INCLUSIVE ? i : i - 1;
    const double a = bits_to_float(type, input_element(input, between));
    const double b = bits_to_float(type, input_element(&check->second, between));
    const double wanted = a * bits_to_float(type, before) + b;
    const double difference = bits_to_float(type, got) - wanted;
    const double limit = ldexp((double)RECURRENCE_EPSILONS, -fraction_bits(type));
    return -limit <= difference && difference <= limit;
}

/* Does the scanned element continue its predecessor, or begin its segment? */
HOST_DEVICE static inline bool scan_passes(const struct check *check, uint64_t i, uint64_t got,
                                           uint64_t before)
{
    const struct input *input = &check->input;
    if (input->fractions && is_float(input->type) && !is_first(check, i))
        return is_near_step(check, i, got, before);
    return element_equal(input->type, got, check_wanted(check, i, before));
}

HOST_DEVICE static inline uint64_t pair_value(const struct check *check, uint64_t i)
{
    return value_bytes(check->value_type) == sizeof(uint64_t)
               ? ((const uint64_t *)check->values)[i]
               : ((const uint32_t *)check->values)[i];
}

/* Do pairs i-1 and i have the same key, in the wrong order? */
HOST_DEVICE static inline bool is_unstable(const struct check *check, uint64_t i)
{
    const enum element_type type = check->input.type;
    return i > 0 &&
           element_load(type, check->array, i - 1) == element_load(type, check->array, i) &&
           pair_value(check, i - 1) >= pair_value(check, i);
}

HOST_DEVICE static inline bool pair_passes(const struct check *check, uint64_t i)
{
    const uint64_t value = pair_value(check, i);
    return value < check->input.n &&
           element_load(check->input.type, check->array, i) ==
               input_element(&check->input, value) &&
           !(check->stable && is_unstable(check, i));
}

HOST_DEVICE static inline bool check_passes(const struct check *check, uint64_t i)
{
    if (check->kind == CHECK_PAIRS)
        return pair_passes(check, i);
    const enum element_type type = check->input.type;
    const uint64_t before = i > 0 ? element_load(type, check->array, i - 1) : check->before;
    const uint64_t got = element_load(type, check->array, i);
    if (check->kind == CHECK_SCAN)
        return scan_passes(check, i, got, before);
    const uint64_t wanted = check_wanted(check, i, before);
    if (check->kind == CHECK_ORDER)
        return (i == 0 && !check->follows) ||
               element_rank(type, got) >= element_rank(type, wanted) ||
               (check->zeros_equal && element_equal(type, got, wanted));
    return got == wanted;
}

enum { CHUNK = 512 }; /* elements of the input per thread */

HOST_DEVICE static inline uint64_t chunk_count(const struct input *input)
{
    return input->n / CHUNK + (input->n % CHUNK != 0);
}

HOST_DEVICE static inline uint64_t chunk_end(const struct input *input, uint64_t chunk)
{
    const uint64_t end = (chunk + 1) * CHUNK;
    return end < input->n ? end : input->n;
}

/* Counts the elements of one chunk that compaction keeps. */
HOST_DEVICE static inline uint64_t kept_in_chunk(const struct input *input, uint64_t chunk)
{
    uint64_t kept = 0;
    for (uint64_t i = chunk * CHUNK; i < chunk_end(input, chunk); i++)
        kept += element_is_kept(input->type, input_element(input, i));
    return kept;
}

/* Compares the kept elements of a chunk with the array from index `at` on, and moves `at` past
 * them. Returns the first wrong index, or NO_INDEX. */
HOST_DEVICE static inline int64_t first_wrong_of_chunk(const struct check *check, uint64_t chunk,
                                                       uint64_t *at)
{
    const enum element_type type = check->input.type;
    for (uint64_t i = chunk * CHUNK; i < chunk_end(&check->input, chunk); i++) {
        const uint64_t element = input_element(&check->input, i);
        if (!element_is_kept(type, element))
            continue;
        if (element_load(type, check->array, *at) != element)
            return (int64_t)*at;
        ++*at;
    }
    return NO_INDEX;
}

HOST_DEVICE static inline void digest_element(struct digest *digest, uint64_t bits)
{
    digest->sum += random_bits(0x5343414E, bits);
    digest->parity ^= random_bits(0x42454E43, bits);
}
