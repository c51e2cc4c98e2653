/* scan_omp_scan: the compiler's own scan, by OpenMP's inscan reduction.
 * Source:  OpenMP 5.0, section 2.9.6. */
#include "team.h"

/* What gcc makes of such a loop must not run without an iteration; run() sees to it. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* Signed integers are summed as unsigned ones, whose overflow is defined. */
#define DEFINE_SCAN(T)                                                                         \
    static void inclusive_##T(const T *in, T *out, uint64_t n, int threads)                    \
    {                                                                                          \
        T sum = 0;                                                                             \
        _Pragma("omp parallel for simd reduction(inscan, + : sum) num_threads(threads)") for ( \
            uint64_t i = 0; i < n; i++)                                                        \
        {                                                                                      \
            sum += in[i];                                                                      \
            _Pragma("omp scan inclusive(sum)") out[i] = sum;                                   \
        }                                                                                      \
    }                                                                                          \
    static void exclusive_##T(const T *in, T *out, uint64_t n, int threads)                    \
    {                                                                                          \
        T sum = 0;                                                                             \
        _Pragma("omp parallel for simd reduction(inscan, + : sum) num_threads(threads)") for ( \
            uint64_t i = 0; i < n; i++)                                                        \
        {                                                                                      \
            out[i] = sum;                                                                      \
            _Pragma("omp scan exclusive(sum)") sum += in[i];                                   \
        }                                                                                      \
    }                                                                                          \
    static void scan_##T(const struct call *call)                                              \
    {                                                                                          \
        const struct problem *p = &call->problem;                                              \
        if (p->kind == KIND_INCLUSIVE)                                                         \
            inclusive_##T(call->input, call->output, p->n, (int)p->threads);                   \
        else                                                                                   \
            exclusive_##T(call->input, call->output, p->n, (int)p->threads);                   \
    }

DEFINE_SCAN(uint32_t)
DEFINE_SCAN(uint64_t)
DEFINE_SCAN(float)
DEFINE_SCAN(double)

LIBRARY_VERSION("OpenMP %d", _OPENMP)

static void run(const struct call *call)
{
    if (call->problem.n == 0)
        return;
    switch (call->problem.type) {
    case TYPE_F32:
        scan_float(call);
        break;
    case TYPE_F64:
        scan_double(call);
        break;
    case TYPE_I64:
    case TYPE_U64:
        scan_uint64_t(call);
        break;
    default:
        scan_uint32_t(call);
    }
}

const struct algorithm cpu_scan_omp_scan = {
    .name = "omp-scan",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_HAS_THREADS | TRAIT_SYNCHRONISES,
    .summary = "OpenMP: a loop with an inscan reduction",
    .source = "OpenMP 5.0",
    .library_version = library_version,
    .supports = openmp_unsupported,
    .run = run,
};
