/* serial_scan.h: the plain loop, as a C programmer writes it. */
#ifndef SCANBENCH_CPU_SERIAL_SCAN_H
#define SCANBENCH_CPU_SERIAL_SCAN_H

#include "../bench/algorithm.h"

/* Signed integers are summed as unsigned ones, whose overflow is defined. */
#define DEFINE_SERIAL_SCAN(T)                                                  \
    static void scan_##T(const T *in, T *out, uint64_t n, enum scan_kind kind) \
    {                                                                          \
        T sum = 0;                                                             \
        if (kind == KIND_EXCLUSIVE)                                            \
            for (uint64_t i = 0; i < n; i++) {                                 \
                out[i] = sum;                                                  \
                sum += in[i];                                                  \
            }                                                                  \
        else                                                                   \
            for (uint64_t i = 0; i < n; i++)                                   \
                out[i] = sum += in[i];                                         \
    }

DEFINE_SERIAL_SCAN(uint32_t)
DEFINE_SERIAL_SCAN(uint64_t)
DEFINE_SERIAL_SCAN(float)
DEFINE_SERIAL_SCAN(double)

static void serial_scan(const struct call *call)
{
    const struct problem *p = &call->problem;
    switch (p->type) {
    case TYPE_F32:
        scan_float(call->input, call->output, p->n, p->kind);
        break;
    case TYPE_F64:
        scan_double(call->input, call->output, p->n, p->kind);
        break;
    case TYPE_I64:
    case TYPE_U64:
        scan_uint64_t(call->input, call->output, p->n, p->kind);
        break;
    default:
        scan_uint32_t(call->input, call->output, p->n, p->kind);
    }
}

#endif
