/* least_bytes.h: the narrowest elements that operations take, for C and, at compile time, C++. */
#pragma once

#include "algorithm.h"

/* Bytes of the narrowest element that an operation takes. No code is compiled for narrower ones. */
#ifdef __cplusplus
constexpr
#else
static inline
#endif
    size_t
    least_bytes(enum operation op)
{
    switch (op) {
#define OPERATION(NAME, name, PROPERTIES, LEAST_BYTES, ...) \
    case OP_##NAME:                                         \
        return LEAST_BYTES;
#include "operations.def"
    default:
        return 0;
    }
}
