/* input_elements.h: the elements of each input (inputs.def), the same on host and device. */
#pragma once

#include "elements.h"
#include "segment_bounds.h"

/* Marks functions that the kernels which fill or check arrays call, some in ten places. With all
 * shapes and types inlined in each of them, ptxas took ten times as long. */
#ifdef __CUDA_ARCH__
#define INLINE_ON_HOST __noinline__
#else
#define INLINE_ON_HOST inline
#endif

/* ---- Values from 0 to `most`, drawn for element i ---- */

enum { FEW_VALUES = 16, MOST_DRAWS = 64 };

/* The bitwise and of uniform values has fewer bits set and lower entropy: Thearling and Smith,
 * "An improved supercomputer sorting benchmark", 1992. */
HOST_DEVICE static inline uint64_t and_of_uniform(uint64_t seed, uint64_t i, uint64_t most,
                                                  unsigned words)
{
    uint64_t value = UINT64_MAX;
    for (uint64_t w = 0; w < words; w++) {
        const uint64_t bits = random_bits(seed ^ w << 56, i);
        value &= most == UINT64_MAX ? bits : scale_random(bits, most + 1);
    }
    return value;
}

/* The mean of four uniform numbers, scaled: its standard deviation is `most` / sqrt(48). */
HOST_DEVICE static inline uint64_t normal_value(uint64_t seed, uint64_t i, uint64_t most)
{
    uint64_t mean = 0;
    for (uint64_t w = 0; w < 4; w++)
        mean += random_bits(seed ^ w << 56, i) / 4;
    return most == UINT64_MAX ? mean : scale_random(mean, most + 1);
}

HOST_DEVICE static inline uint64_t few_value(uint64_t seed, uint64_t i, uint64_t most)
{
    const uint64_t pick = scale_random(random_bits(seed, i), FEW_VALUES), last = FEW_VALUES - 1;
    return most / last * pick + most % last * pick / last;
}

HOST_DEVICE static inline unsigned highest_bit(uint64_t x)
{
#ifdef __CUDA_ARCH__
    return 63 - (unsigned)__clzll((long long)x);
#else
    return 63 - (unsigned)__builtin_clzll(x);
#endif
}

/* Rank r = value + 1 has a probability in proportion to 1/r: it is drawn from a random octave,
 * 2^k .. 2^(k+1)-1, and accepted with probability 2^k/r. Whole numbers only, so that every device
 * draws the same. */
HOST_DEVICE static inline uint64_t zipf_value(uint64_t seed, uint64_t i, uint64_t most)
{
    const uint64_t ranks = most == UINT64_MAX ? most : most + 1;
    const unsigned octaves = highest_bit(ranks) + 1;
    for (uint64_t draw = 0; draw < MOST_DRAWS; draw++) {
        const uint64_t own = random_bits(seed, i) + 3 * draw;
        const uint64_t start = (uint64_t)1 << scale_random(random_bits(own, 0), octaves);
        const uint64_t rank = start + scale_random(random_bits(own, 1), start);
        if (rank <= ranks && scale_random(random_bits(own, 2), rank) < start)
            return rank - 1;
    }
    return 0; /* not once in 2^64 */
}

HOST_DEVICE static inline uint64_t drawn_value(const struct input *input, uint64_t i, uint64_t most)
{
    const uint64_t seed = input->seed;
    switch (input->shape) {
#define INPUT(...)
#define DRAWN_INPUT(NAME, name, VALUE, meaning) \
    case INPUT_##NAME:                          \
        return VALUE;
#include "../inputs.def"
    default:
        return 0;
    }
}

/* ---- Elements ---- */

/* The walk whose steps are the elements where floats are summed. Where sums are wider than
 * elements, the walk also rises and falls by TIDE per step, like a tide. Then its positions, and
 * with them the sums, are whole numbers that a float holds, but most elements hold only the
 * nearest. TIDE_TURN, the steps of a rise, is prime, so that the sum of every k-th element rises
 * and falls, too. */
enum { TIDE = 8, TIDE_TURN = 2039 };

HOST_DEVICE static INLINE_ON_HOST double walk_position(const struct input *input, uint64_t i)
{
    const uint64_t since = i % (2 * TIDE_TURN);
    const uint64_t tide = TIDE * (since < TIDE_TURN ? since : 2 * TIDE_TURN - since);
    return (double)drawn_value(input, i, input->max) + (double)(input->tides ? tide : 0);
}

HOST_DEVICE static inline uint64_t drawn_element(const struct input *input, uint64_t i)
{
    const enum element_type type = input->type;
    if (input->sparse) {
        const double u = (double)(random_bits(~input->seed, i) >> 11) * 0x1p-53;
        if (!(u < input->keep))
            return 0;
        return value_to_bits(type, 1 + drawn_value(input, i, input->max - 1));
    }
    /* Every sum of neighbouring steps of a walk is an integer of magnitude max or less, and
     * exact. */
    if (is_float(type) && !input->plain)
        return float_to_bits(type, walk_position(input, i + 1) - walk_position(input, i));
    return value_to_bits(type, drawn_value(input, i, input->max));
}

/* The extreme values of each type, in random order. */
HOST_DEVICE static inline uint64_t special_element(const struct input *input, uint64_t i)
{
    const uint64_t pick = random_bits(input->seed, i) >> 61;
    const uint64_t top = sign_bit(input->type), all = top | (top - 1);
    if (is_float(input->type)) {
        /* NaN, the infinities, -0, 0, the largest, the least above 0, -1 */
        const int fraction = fraction_bits(input->type);
        const uint64_t infinity = (top - 1) >> fraction << fraction;
        const uint64_t special[8] = {infinity | (uint64_t)1 << (fraction - 1),
                                     infinity,
                                     top | infinity,
                                     top,
                                     0,
                                     infinity - 1,
                                     1,
                                     float_to_bits(input->type, -1)};
        return special[pick];
    }
    const uint64_t special[8] = {0, 1, 2, top, top - 1, top + 1, all, all - 1};
    return special[pick];
}

/* The length of the whole array, of which the input may be a slice. */
HOST_DEVICE static inline uint64_t whole_length(const struct input *input)
{
    return input->before + input->n + input->after;
}

/* Element i of a ramp from 0 to max. Doubles keep it monotone and, being rounded alike
 * everywhere, the same on host and device. */
HOST_DEVICE static inline uint64_t ramp_value(const struct input *input, uint64_t i)
{
    const double span = (double)input->max + 1.0;
    const double value = (double)i / (double)whole_length(input) * span;
    return value >= (double)input->max ? input->max : (uint64_t)value;
}

/* A ramp in which one element of a hundred is out of place. */
HOST_DEVICE static inline uint64_t nearly_sorted_value(const struct input *input, uint64_t i)
{
    const bool displaced = scale_random(random_bits(~input->seed, i), 100) == 0;
    return displaced ? and_of_uniform(input->seed, i, input->max, 1) : ramp_value(input, i);
}

HOST_DEVICE static inline bool is_odd_one(const struct input *input, uint64_t i)
{
    return i == scale_random(random_bits(input->seed, 0), whole_length(input));
}

/* Value `above` of those from the least to max, or -max to max if there are negative ones. */
HOST_DEVICE static inline uint64_t element_above_least(const struct input *input, uint64_t above)
{
    if (is_float(input->type))
        return float_to_bits(input->type, (double)above - (double)input->max);
    const uint64_t least = type_class(input->type) == TYPE_SIGNED ? input->max : 0;
    return value_to_bits(input->type, above - least);
}

/* A ramp under noise of as much as some steps climb. */
HOST_DEVICE static inline uint64_t noisy_ramp_element(const struct input *input, uint64_t i)
{
    const unsigned noisy = 64; /* steps */
    const bool negative = type_class(input->type) != TYPE_UNSIGNED;
    const uint64_t span = negative ? 2 * input->max : input->max;
    const double steps = (double)whole_length(input) + noisy;
    const double climbed = (double)i / steps * (double)span;
    const double noise = noisy / steps * (double)span;
    const uint64_t least = climbed >= (double)span ? span : (uint64_t)climbed;
    const uint64_t most = noise >= (double)(span - least) ? span - least : (uint64_t)noise;
    const uint64_t bits = random_bits(input->seed, i);
    return element_above_least(input,
                               least + (most == UINT64_MAX ? bits : scale_random(bits, most + 1)));
}

/* Uniform in -max..max. */
HOST_DEVICE static inline uint64_t signed_element(const struct input *input, uint64_t i)
{
    return element_above_least(input,
                               scale_random(random_bits(input->seed, i), 2 * input->max + 1));
}

/* ---- The input ---- */

/* Element i of the whole array, as the shape of the input has it. */
HOST_DEVICE static inline uint64_t shaped_element(const struct input *input, uint64_t i)
{
    switch (input->shape) {
#define INPUT(NAME, name, ELEMENT, ...) \
    case INPUT_##NAME:                  \
        return ELEMENT;
#include "../inputs.def"
    case INPUT_INDICES:
        return i;
    case INPUT_OFFSETS:
        return segment_begin(input, i);
    case INPUT_KEYS:
        return segment_key(input, segment_of(input, i));
    default:
        return 0;
    }
}

/* The sum of the elements of a walk from `begin` to `end` - 1 of the whole array, rounded once. */
HOST_DEVICE static INLINE_ON_HOST uint64_t sum_of_walk(const struct input *input, uint64_t begin,
                                                       uint64_t end)
{
    double sum = walk_position(input, end) - walk_position(input, begin);
    const uint64_t changed = input->nudged - 1;
    if (input->nudged > 0 && begin <= changed && changed < end)
        sum += bits_to_float(input->type, drawn_element(input, changed + 1)) -
               bits_to_float(input->type, drawn_element(input, changed));
    return float_to_bits(input->type, sum);
}

/* The i-th element of the input; of a slice, -1 is the element before it. */
HOST_DEVICE static INLINE_ON_HOST uint64_t input_element(const struct input *input, uint64_t i)
{
    i += input->before;
    i += i + 1 == input->nudged;
    const uint64_t bits = shaped_element(input, i);
    if (!input->fractions || !is_float(input->type))
        return bits;
    return float_to_bits(input->type, bits_to_float(input->type, bits) / ((double)input->max + 1));
}
