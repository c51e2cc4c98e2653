/* recurrence_kernels: the loops of a linear recurrence, for types as wide as their sums. Those of
 * f16 and bf16 are compiled, but no algorithm calls them. 1u: products of 16 bits would be signed,
 * and overflow. */
#include "recurrence_kernels.h"

#include <string.h>

#define TYPE(NAME, name, T, SUM, ...)                                                              \
    static uint64_t bits_##NAME(SUM x)                                                             \
    {                                                                                              \
        uint64_t bits = 0;                                                                         \
        memcpy(&bits, &x, sizeof x);                                                               \
        return bits;                                                                               \
    }                                                                                              \
    static SUM element_##NAME(uint64_t bits)                                                       \
    {                                                                                              \
        SUM x;                                                                                     \
        memcpy(&x, &bits, sizeof x);                                                               \
        return x;                                                                                  \
    }                                                                                              \
    static uint64_t solve_##NAME(const struct call *call, uint64_t first, uint64_t n,              \
                                 uint64_t before)                                                  \
    {                                                                                              \
        const bool inclusive = call->problem.kind == KIND_INCLUSIVE;                               \
        const SUM *a = (const SUM *)call->input + first, *b = (const SUM *)call->second + first;   \
        SUM *out = (SUM *)call->output + first, h = element_##NAME(before);                        \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            const SUM next = (SUM)(1u * a[i] * h + b[i]);                                          \
            out[i] = inclusive ? next : h;                                                         \
            h = next;                                                                              \
        }                                                                                          \
        return bits_##NAME(h);                                                                     \
    }                                                                                              \
    static struct affine_map compose_##NAME(const struct call *call, uint64_t first, uint64_t n) { \
        const SUM *a = (const SUM *)call->input + first, *b = (const SUM *)call->second + first;   \
        SUM product = 1, h = 0;                                                                    \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            product = (SUM)(1u * a[i] * product);                                                  \
            h = (SUM)(1u * a[i] * h + b[i]);                                                       \
        }                                                                                          \
        return (struct affine_map){bits_##NAME(product), bits_##NAME(h)};                          \
    } static uint64_t apply_##NAME(struct affine_map map, uint64_t h)                              \
    {                                                                                              \
        return bits_##NAME(                                                                        \
            (SUM)(1u * element_##NAME(map.a) * element_##NAME(h) + element_##NAME(map.b)));        \
    }
#include "../bench/types.def"

const struct recurrence_kernels *recurrence_kernels(enum element_type type)
{
    static const struct recurrence_kernels kernels[TYPE_COUNT] = {
#define TYPE(NAME, ...) [TYPE_##NAME] = {solve_##NAME, compose_##NAME, apply_##NAME},
#include "../bench/types.def"
    };
    return &kernels[type];
}
