/* half.h: elements that are floats of 16 bits, and how every type of elements is read as the type
 * in which it is added, and rounded back.
 *
 * Included by algorithm.h, after HOST_DEVICE. */
#pragma once

#include <stdint.h>
#include <string.h>

/* f16 is binary16 of IEEE 754: 5 bits of exponent, 10 of fraction. bf16 is the upper half of a
 * float: 8 and 7. They are only stored, and have no arithmetic. */
#ifdef __cplusplus
#define HALF(name)                                                    \
    struct name {                                                     \
        uint16_t bits;                                                \
        name() = default;                                             \
        HOST_DEVICE explicit constexpr name(int /* zero */) : bits(0) \
        {                                                             \
        }                                                             \
    };
#else
#define HALF(name)     \
    typedef struct {   \
        uint16_t bits; \
    } name;
#endif
HALF(f16)
HALF(bf16)
#undef HALF

HOST_DEVICE static inline float float_of_word(uint32_t word)
{
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}

HOST_DEVICE static inline uint32_t word_of_float(float x)
{
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

/* ---- Conversions of bits, without branches, so that loops over them become vectors ----
 *
 * To the nearest, and of two as near to the one whose last bit is 0. */

enum {
    FLOAT_SIGN_SHIFT = 16, /* from the sign of a half to that of a float */
    F16_SHIFT = 13,        /* from the fraction of an f16 to that of a float */
    F16_INFINITY = 0x7C00,
    HALF_MAGNITUDE = 0x7FFF
};

/* A float's fraction, moved to where the exponent of f16 is read as one of 127 - 15 = 112 less,
 * makes its numbers, those below the normal ones too, 2^-112 of themselves. */
HOST_DEVICE static inline float f16_bits_to_float(uint16_t bits)
{
    const uint32_t magnitude = bits & HALF_MAGNITUDE;
    const uint32_t sign = (uint32_t)(bits ^ magnitude) << FLOAT_SIGN_SHIFT;
    const uint32_t number = word_of_float(float_of_word(magnitude << F16_SHIFT) * 0x1p112f);
    const uint32_t not_a_number = magnitude << F16_SHIFT | 0x7F800000;
    return float_of_word((magnitude < F16_INFINITY ? number : not_a_number) | sign);
}

HOST_DEVICE static inline uint16_t float_to_f16_bits(float x)
{
    const uint32_t word = word_of_float(x), magnitude = word & 0x7FFFFFFF;
    /* Just below half of the last bit that stays, and that bit: so a tie goes to the even one. */
    const uint32_t rounded = magnitude + 0xFFF + (magnitude >> F16_SHIFT & 1);
    const uint32_t normal = (rounded >> F16_SHIFT) - (112u << 10);
    /* The last bit of 0.5 is that of the numbers below the normal ones: the sum rounds to it. */
    const uint32_t below_normal =
        word_of_float(float_of_word(magnitude) + 0.5f) - word_of_float(0.5f);
    const uint32_t finite = magnitude < 0x38800000 ? below_normal : normal; /* 2^-14 */
    const uint32_t infinity = F16_INFINITY;
    const uint32_t large = magnitude > 0x7F800000 ? infinity | 0x200 : infinity;
    return (uint16_t)((magnitude < 0x477FF000 ? finite : large) | /* 65520, halfway to 2^16 */
                      (word ^ magnitude) >> FLOAT_SIGN_SHIFT);
}

HOST_DEVICE static inline uint16_t float_to_bf16_bits(float x)
{
    const uint32_t word = word_of_float(x), magnitude = word & 0x7FFFFFFF;
    const uint32_t rounded = (word + 0x7FFF + (word >> 16 & 1)) >> 16;
    return (uint16_t)(magnitude > 0x7F800000 ? word >> 16 | 0x40 : rounded);
}

/* ---- widen_T(x): as the type of its sums; narrow_T(sum): rounded, or wrapped, to a T ---- */

HOST_DEVICE static inline float widen_f16(f16 x)
{
#ifdef __CUDA_ARCH__
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
    return wide;
#else
    return f16_bits_to_float(x.bits);
#endif
}

HOST_DEVICE static inline f16 narrow_f16(float sum)
{
    f16 x;
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x.bits) : "f"(sum));
#else
    x.bits = float_to_f16_bits(sum);
#endif
    return x;
}

HOST_DEVICE static inline float widen_bf16(bf16 x)
{
    return float_of_word((uint32_t)x.bits << 16);
}

HOST_DEVICE static inline bf16 narrow_bf16(float sum)
{
    bf16 x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x.bits) : "f"(sum));
#else
    x.bits = float_to_bf16_bits(sum);
#endif
    return x;
}

/* All other types have sums as wide as elements. Macros cost nothing without optimisation. */
#define widen_int8_t(x) (x)
#define narrow_int8_t(sum) (sum)
#define widen_uint8_t(x) (x)
#define narrow_uint8_t(sum) (sum)
#define widen_int16_t(x) (x)
#define narrow_int16_t(sum) (sum)
#define widen_uint16_t(x) (x)
#define narrow_uint16_t(sum) (sum)
#define widen_int32_t(x) (x)
#define narrow_int32_t(sum) (sum)
#define widen_uint32_t(x) (x)
#define narrow_uint32_t(sum) (sum)
#define widen_int64_t(x) (x)
#define narrow_int64_t(sum) (sum)
#define widen_uint64_t(x) (x)
#define narrow_uint64_t(sum) (sum)
#define widen_float(x) (x)
#define narrow_float(sum) (sum)
#define widen_double(x) (x)
#define narrow_double(sum) (sum)
