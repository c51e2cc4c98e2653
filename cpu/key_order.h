/* key_order.h: keys of any type, sorted as unsigned numbers.
 *
 * A key's bits are XORed with one of two masks, one for keys whose top bit is set and one for
 * the others. Signed integers have their sign bit inverted. Floats are ordered by their bits:
 * the order of negative floats is opposite to that of their magnitudes, so all their bits are
 * inverted. */
#pragma once

#include "../bench/algorithm.h"

struct key_order {
    uint64_t positive, negative; /* masks; the second is for keys whose top bit is set */
};

static inline struct key_order key_order(enum element_type type)
{
    const uint64_t sign = (uint64_t)1 << (8 * element_bytes(type) - 1);
    switch (type_class(type)) {
    case TYPE_SIGNED:
        return (struct key_order){sign, sign};
    case TYPE_FLOAT:
        return (struct key_order){sign, sign | (sign - 1)};
    default:
        return (struct key_order){0, 0};
    }
}
