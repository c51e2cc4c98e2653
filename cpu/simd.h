/* simd.h: vector instructions, chosen at run time.
 *
 * One binary holds every path: a function says by TARGET_AVX2 or TARGET_AVX512
 * which instructions it is compiled for, and is called only where the CPU has
 * them. Without x86-64 only the portable path is there. */
#ifndef SCANBENCH_CPU_SIMD_H
#define SCANBENCH_CPU_SIMD_H

#include "../bench/algorithm.h"

#ifdef __x86_64__
#include <immintrin.h>
#define SIMD_X86 1
#define TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define TARGET_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,popcnt")))
#endif

enum {
    CACHE_LINE_BYTES = 64,
    /* Results from here on are stored past the caches. Measured: up to half of a
     * second-level cache of 2 MiB plain stores are faster, above others. */
    STREAM_BYTES = 3 << 19,
};

/* NULL, or why the problem's vector path cannot be run here. */
static inline const char *simd_unsupported(const struct problem *problem)
{
    if (problem->simd <= problem->device->best_simd)
        return NULL;
    return problem->simd == SIMD_AVX512 ? "this CPU has no AVX-512" : "this CPU has no AVX2";
}

/* Bytes from an address to the next cache line. */
static inline size_t bytes_to_line(const void *address)
{
    return -(uintptr_t)address % CACHE_LINE_BYTES;
}

#endif
