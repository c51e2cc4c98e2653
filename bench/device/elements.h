/* elements.h: operations on single elements, the same on host and device.
 *
 * An element is passed as its bits in the low bytes of a 64-bit word, whatever its type, so
 * that making, adding and comparing elements is written once. The checks (verify.h) are built
 * on these functions and share nothing with the algorithms they judge. */
#pragma once

#include "../types.h"
#include "input.h"

#include <string.h>

/* Converts a sum to its bits and back; little-endian, like every platform of CUDA. */
#define BITS_OF(value, bits) memcpy(&(bits), &(value), sizeof(value))
#define VALUE_OF(bits, value) memcpy(&(value), &(bits), sizeof(value))

HOST_DEVICE static inline uint64_t element_load(enum element_type type, const void *array,
                                                uint64_t i)
{
    switch (element_bytes(type)) {
    case 1:
        return ((const uint8_t *)array)[i];
    case 2:
        return ((const uint16_t *)array)[i];
    case 4:
        return ((const uint32_t *)array)[i];
    default:
        return ((const uint64_t *)array)[i];
    }
}

HOST_DEVICE static inline void element_store(enum element_type type, void *array, uint64_t i,
                                             uint64_t bits)
{
    switch (element_bytes(type)) {
    case 1:
        ((uint8_t *)array)[i] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)array)[i] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)array)[i] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)array)[i] = bits;
    }
}

/* A floating-point element as a number. */
HOST_DEVICE static inline double bits_to_float(enum element_type type, uint64_t bits)
{
    switch (type) {
#define TYPE(NAME, name, T, SUM, CLASS, ...) \
    case TYPE_##NAME: {                      \
        T value;                             \
        VALUE_OF(bits, value);               \
        return (double)widen_##T(value);     \
    }
#include "../types.def"
    default:
        return 0;
    }
}

HOST_DEVICE static inline uint64_t float_to_bits(enum element_type type, double number)
{
    uint64_t bits = 0;
    switch (type) {
#define TYPE(NAME, name, T, SUM, CLASS, ...)     \
    case TYPE_##NAME: {                          \
        const T value = narrow_##T((SUM)number); \
        BITS_OF(value, bits);                    \
        break;                                   \
    }
#include "../types.def"
    default:
        break;
    }
    return bits;
}

/* An element as one of sum_type(), and back, rounded. */
HOST_DEVICE static inline uint64_t element_widen(enum element_type type, uint64_t bits)
{
    return sum_type(type) == type ? bits : float_to_bits(sum_type(type), bits_to_float(type, bits));
}

HOST_DEVICE static inline uint64_t element_narrow(enum element_type type, uint64_t bits)
{
    return sum_type(type) == type ? bits : float_to_bits(type, bits_to_float(sum_type(type), bits));
}

/* Integers wrap, as unsigned arithmetic does. */
HOST_DEVICE static inline uint64_t element_add(enum element_type type, uint64_t a, uint64_t b)
{
    uint64_t bits = 0;
    switch (type) {
#define TYPE(NAME, name, T, SUM, CLASS, ...)                          \
    case TYPE_##NAME: {                                               \
        T x, y;                                                       \
        VALUE_OF(a, x);                                               \
        VALUE_OF(b, y);                                               \
        x = narrow_##T((SUM)((SUM)widen_##T(x) + (SUM)widen_##T(y))); \
        BITS_OF(x, bits);                                             \
        break;                                                        \
    }
#include "../types.def"
    default:
        break;
    }
    return bits;
}

/* One step of a recurrence: a h + b. 1u: products of 16 bits would be signed, and overflow. */
HOST_DEVICE static inline uint64_t element_recur(enum element_type type, uint64_t a, uint64_t h,
                                                 uint64_t b)
{
    uint64_t bits = 0;
    switch (type) {
#define TYPE(NAME, name, T, SUM, CLASS, ...)                                                   \
    case TYPE_##NAME: {                                                                        \
        T x, y, z;                                                                             \
        VALUE_OF(a, x);                                                                        \
        VALUE_OF(h, y);                                                                        \
        VALUE_OF(b, z);                                                                        \
        x = narrow_##T((SUM)(1u * (SUM)widen_##T(x) * (SUM)widen_##T(y) + (SUM)widen_##T(z))); \
        BITS_OF(x, bits);                                                                      \
        break;                                                                                 \
    }
#include "../types.def"
    default:
        break;
    }
    return bits;
}

HOST_DEVICE static inline bool is_float(enum element_type type)
{
    return type_class(type) == TYPE_FLOAT;
}

HOST_DEVICE static inline uint64_t sign_bit(enum element_type type)
{
    return (uint64_t)1 << (8 * element_bytes(type) - 1);
}

/* Equality of sums: the same bits, except that 0 and -0 are equal. */
HOST_DEVICE static inline bool element_equal(enum element_type type, uint64_t a, uint64_t b)
{
    if (is_float(type))
        return a == b || bits_to_float(type, a) == bits_to_float(type, b);
    return a == b;
}

/* Compaction keeps elements that are not zero. -0 is zero, NaN is not. */
HOST_DEVICE static inline bool element_is_kept(enum element_type type, uint64_t bits)
{
    return !element_equal(type, bits, 0);
}

/* Maps an element to an unsigned number in the order of the elements. Floats are ordered by
 * their bits: NaN comes after the positive or before the negative infinity, by its sign, and -0
 * before 0. */
HOST_DEVICE static inline uint64_t element_rank(enum element_type type, uint64_t bits)
{
    const uint64_t sign = sign_bit(type);
    switch (type_class(type)) {
    case TYPE_FLOAT:
        return bits & sign ? (sign - 1) - (bits - sign) : sign + bits;
    case TYPE_SIGNED:
        return bits ^ sign;
    default:
        return bits;
    }
}

/* What an operator makes of a, then b. */
HOST_DEVICE static inline uint64_t element_apply(enum binary_operator id, enum element_type type,
                                                 uint64_t a, uint64_t b)
{
    switch (id) {
#define OPERATOR(NAME, name, PROPERTIES, BITS, ...) \
    case OPERATOR_##NAME:                           \
        return BITS;
#include "../operators.def"
    default:
        return 0;
    }
}

/* The ends of the order of a type: of floats, the infinities. */
HOST_DEVICE static inline uint64_t element_highest(enum element_type type)
{
    const uint64_t sign = sign_bit(type), fraction = (uint64_t)1 << fraction_bits(type);
    switch (type_class(type)) {
    case TYPE_FLOAT:
        return (sign - 1) / fraction * fraction;
    case TYPE_SIGNED:
        return sign - 1;
    default:
        return sign | (sign - 1);
    }
}

HOST_DEVICE static inline uint64_t element_lowest(enum element_type type)
{
    switch (type_class(type)) {
    case TYPE_FLOAT:
        return sign_bit(type) | element_highest(type);
    case TYPE_SIGNED:
        return sign_bit(type);
    default:
        return 0;
    }
}

/* The identity of an operator: combined with it, an element stays as it is. */
HOST_DEVICE static inline uint64_t element_identity(enum binary_operator id, enum element_type type)
{
    switch (id) {
#define OPERATOR(NAME, name, PROPERTIES, BITS, IDENTITY, ...) \
    case OPERATOR_##NAME:                                     \
        return IDENTITY;
#include "../operators.def"
    default:
        return 0;
    }
}

/* A counter passed through a 64-bit mixing function (the finaliser of SplitMix64: Steele, Lea
 * and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): random access, and
 * the same on every device. */
HOST_DEVICE static inline uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1342543DE82EF95u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The high word of a 64x64-bit product: random bits scaled to 0..range-1. */
HOST_DEVICE static inline uint64_t scale_random(uint64_t bits, uint64_t range)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(bits, range);
#else
    return (uint64_t)(((unsigned __int128)bits * range) >> 64);
#endif
}

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

/* The walk whose steps are the elements of a scan or a sum of floats. Where sums are wider than
 * elements, the walk also rises and falls by TIDE per step, like a tide. Then its positions, and
 * with them the sums, are whole numbers that a float holds, but most elements hold only the
 * nearest. TIDE_TURN, the steps of a rise, is prime, so that the sum of every k-th element rises
 * and falls, too. */
enum { TIDE = 8, TIDE_TURN = 2039 };

HOST_DEVICE static inline double walk_position(const struct input *input, uint64_t i)
{
    const uint64_t since = i % (2 * TIDE_TURN);
    const uint64_t tide = TIDE * (since < TIDE_TURN ? since : 2 * TIDE_TURN - since);
    return (double)drawn_value(input, i, input->max) + (double)(input->tides ? tide : 0);
}

HOST_DEVICE static inline uint64_t value_to_bits(enum element_type type, uint64_t value)
{
    if (is_float(type))
        return float_to_bits(type, (double)value);
    return value & (sign_bit(type) | (sign_bit(type) - 1));
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

/* ---- Segments ---- */

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
HOST_DEVICE static inline uint64_t sum_of_walk(const struct input *input, uint64_t begin,
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
HOST_DEVICE static inline uint64_t input_element(const struct input *input, uint64_t i)
{
    i += input->before;
    i += i + 1 == input->nudged;
    const uint64_t bits = shaped_element(input, i);
    if (!input->fractions || !is_float(input->type))
        return bits;
    return float_to_bits(input->type, bits_to_float(input->type, bits) / ((double)input->max + 1));
}
