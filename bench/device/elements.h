/* elements.h: operations on single elements, the same on host and device.
 *
 * An element is passed as its bits in the low bytes of a 64-bit word, whatever its type, so
 * that adding and comparing elements is written once. The checks (verify.h) are built on these
 * functions and share nothing with the algorithms they judge. */
#pragma once

#include "../types.h"

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

/* A whole number as an element; of what does not fit, the low bits. */
HOST_DEVICE static inline uint64_t value_to_bits(enum element_type type, uint64_t value)
{
    if (is_float(type))
        return float_to_bits(type, (double)value);
    return value & (sign_bit(type) | (sign_bit(type) - 1));
}
