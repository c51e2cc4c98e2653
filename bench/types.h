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
    return element_bytes(type) == sizeof(float) ? 23 : 52;
}
