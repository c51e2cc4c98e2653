/* serial_scan.h: the plain loop, as a C programmer writes it. */
#pragma once

#include "segments.h"

#define DEFINE_RUN(NAME, STORED, T, IDENTITY, APPLY)     \
    static void run_##NAME(const struct call *call)      \
    {                                                    \
        const STORED *in = call->input;                  \
        STORED *out = call->output;                      \
        T sum = IDENTITY;                                \
        const uint64_t n = call->problem.n;              \
        if (call->problem.kind == KIND_EXCLUSIVE)        \
            for (uint64_t i = 0; i < n; i++) {           \
                out[i] = narrow_##STORED(sum);           \
                sum = APPLY(sum, widen_##STORED(in[i])); \
            }                                            \
        else                                             \
            for (uint64_t i = 0; i < n; i++) {           \
                sum = APPLY(sum, widen_##STORED(in[i])); \
                out[i] = narrow_##STORED(sum);           \
            }                                            \
    }
#include "of_operand.h"

/* 1u: products of 16 bits would be signed, and overflow. */
#define RECUR(T, SUM, a, h, b) ((SUM)(1u * (SUM)widen_##T(a) * (h) + (SUM)widen_##T(b)))
#define TYPE(NAME, name, T, SUM, ...)                 \
    static void recur_##NAME(const struct call *call) \
    {                                                 \
        const T *a = call->input, *b = call->second;  \
        T *out = call->output;                        \
        SUM h = 0;                                    \
        const uint64_t n = call->problem.n;           \
        if (call->problem.kind == KIND_EXCLUSIVE)     \
            for (uint64_t i = 0; i < n; i++) {        \
                out[i] = narrow_##T(h);               \
                h = RECUR(T, SUM, a[i], h, b[i]);     \
            }                                         \
        else                                          \
            for (uint64_t i = 0; i < n; i++) {        \
                h = RECUR(T, SUM, a[i], h, b[i]);     \
                out[i] = narrow_##T(h);               \
            }                                         \
    }
#include "../bench/types.def"

static void recur(const struct call *call)
{
    static void (*const recur_of_type[TYPE_COUNT])(const struct call *) = {
#define TYPE(NAME, ...) [TYPE_##NAME] = recur_##NAME,
#include "../bench/types.def"
    };
    recur_of_type[call->problem.type](call);
}

static void run_any(const struct call *call)
{
    for_each_segment(call, call->problem.binary_operator == OPERATOR_RECURRENCE ? recur : run);
}
