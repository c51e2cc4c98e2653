/* scan_omp_scan: the compiler's own scan, through OpenMP's inscan reduction.
 * Source:  OpenMP 5.0, section 2.9.6. */

/* clang says of some types that it does not vectorise the loop. It says so of a line of
 * bench/types.def, hence the place. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "openmp.h"

/* gcc's code for such a loop must not run with zero iterations; run_TYPE() ensures that. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define DEFINE_RUN(TYPE, STORED, T)                                                            \
    static void inclusive_##TYPE(const STORED *in, STORED *out, uint64_t n, int threads)       \
    {                                                                                          \
        T sum = 0;                                                                             \
        _Pragma("omp parallel for simd reduction(inscan, + : sum) num_threads(threads)") for ( \
            uint64_t i = 0; i < n; i++)                                                        \
        {                                                                                      \
            sum += (T)widen_##STORED(in[i]);                                                   \
            _Pragma("omp scan inclusive(sum)") out[i] = narrow_##STORED(sum);                  \
        }                                                                                      \
    }                                                                                          \
    static void exclusive_##TYPE(const STORED *in, STORED *out, uint64_t n, int threads)       \
    {                                                                                          \
        T sum = 0;                                                                             \
        _Pragma("omp parallel for simd reduction(inscan, + : sum) num_threads(threads)") for ( \
            uint64_t i = 0; i < n; i++)                                                        \
        {                                                                                      \
            out[i] = narrow_##STORED(sum);                                                     \
            _Pragma("omp scan exclusive(sum)") sum += (T)widen_##STORED(in[i]);                \
        }                                                                                      \
    }                                                                                          \
    static void run_##TYPE(const struct call *call)                                            \
    {                                                                                          \
        const struct problem *p = &call->problem;                                              \
        if (p->n == 0)                                                                         \
            return;                                                                            \
        if (p->kind == KIND_INCLUSIVE)                                                         \
            inclusive_##TYPE(call->input, call->output, p->n, (int)p->threads);                \
        else                                                                                   \
            exclusive_##TYPE(call->input, call->output, p->n, (int)p->threads);                \
    }
#include "of_type.h"

LIBRARY_VERSION("OpenMP %d", _OPENMP)

const struct algorithm cpu_scan_omp_scan = {
    .name = "omp-scan",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .traits = TRAIT_HAS_THREADS | TRAIT_OPENMP | TRAIT_SYNCHRONISES | TRAIT_ALLOCATES(1),
    .summary = "OpenMP: a loop with an inscan reduction",
    .source = "OpenMP 5.0",
    .library_version = library_version,
    .supports = openmp_unsupported,
    .run = run,
};
