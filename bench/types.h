/* types.h: the properties in types.def, on host and device. */
#pragma once

#include "algorithm.h"

/* The largest --max for which every result can be checked exactly. */
static inline uint64_t largest_value(enum element_type type)
{
    static const uint64_t largest[TYPE_COUNT] = {
#define TYPE(NAME, name, T, SUM, CLASS, LARGEST, ...) LARGEST,
#include "types.def"
    };
    return largest[type];
}

/* Bits of a float's stored fraction, which set its precision. */
HOST_DEVICE static inline int fraction_bits(enum element_type type)
{
    switch (type) {
    case TYPE_F16:
        return 10;
    case TYPE_BF16:
        return 7;
    case TYPE_F32:
        return 23;
    default:
        return 52;
    }
}

/* The type whose elements are like the sums of this one: f32 where sums are wider than elements. */
HOST_DEVICE static inline enum element_type sum_type(enum element_type type)
{
    return TYPES_OF_WIDE_SUMS >> type & 1 ? TYPE_F32 : type;
}
