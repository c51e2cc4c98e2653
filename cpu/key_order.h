/* key_order.h: keys of any type, sorted as unsigned numbers.
 *
 * A key's bits are xored with a mask, one for keys whose uppermost bit is set and one for
 * the others. Signed integers turn their sign around. Floats go by their bits: a negative
 * one, whose order is that of its magnitude turned around, has all its bits turned. */
#ifndef SCANBENCH_CPU_KEY_ORDER_H
#define SCANBENCH_CPU_KEY_ORDER_H

#include "../bench/algorithm.h"

struct key_order {
    uint64_t positive, negative; /* masks, the second for keys whose uppermost bit is set */
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

#endif
