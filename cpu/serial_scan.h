/* serial_scan.h: the plain loop, as a C programmer writes it. */
#pragma once

#include "../bench/algorithm.h"

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
