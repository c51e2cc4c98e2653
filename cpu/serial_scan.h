/* serial_scan.h: the plain loop, as a C programmer writes it. */
#pragma once

#include "segments.h"

#define DEFINE_RUN(NAME, T, IDENTITY, APPLY)        \
    static void run_##NAME(const struct call *call) \
    {                                               \
        const T *in = call->input;                  \
        T *out = call->output, sum = IDENTITY;      \
        const uint64_t n = call->problem.n;         \
        if (call->problem.kind == KIND_EXCLUSIVE)   \
            for (uint64_t i = 0; i < n; i++) {      \
                out[i] = sum;                       \
                sum = APPLY(sum, in[i]);            \
            }                                       \
        else                                        \
            for (uint64_t i = 0; i < n; i++)        \
                out[i] = sum = APPLY(sum, in[i]);   \
    }
#include "of_operand.h"

#define TYPE(NAME, name, T, SUM, ...)                  \
    static void recur_##NAME(const struct call *call)  \
    {                                                  \
        const SUM *a = call->input, *b = call->second; \
        SUM *out = call->output, h = 0;                \
        const uint64_t n = call->problem.n;            \
        if (call->problem.kind == KIND_EXCLUSIVE)      \
            for (uint64_t i = 0; i < n; i++) {         \
                out[i] = h;                            \
                h = (SUM)(a[i] * h + b[i]);            \
            }                                          \
        else                                           \
            for (uint64_t i = 0; i < n; i++)           \
                out[i] = h = (SUM)(a[i] * h + b[i]);   \
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
