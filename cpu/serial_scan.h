/* serial_scan.h: the plain loop, as a C programmer writes it. */
#pragma once

#include "../bench/algorithm.h"

#define DEFINE_RUN(TYPE, T)                         \
    static void run_##TYPE(const struct call *call) \
    {                                               \
        const T *in = call->input;                  \
        T *out = call->output, sum = 0;             \
        const uint64_t n = call->problem.n;         \
        if (call->problem.kind == KIND_EXCLUSIVE)   \
            for (uint64_t i = 0; i < n; i++) {      \
                out[i] = sum;                       \
                sum += in[i];                       \
            }                                       \
        else                                        \
            for (uint64_t i = 0; i < n; i++)        \
                out[i] = sum += in[i];              \
    }
#include "of_type.h"
