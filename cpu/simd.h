/* simd.h: vector instructions, chosen at run time.
 *
 * One binary holds every path: TARGET_AVX2 or TARGET_AVX512 sets the instructions a function is
 * compiled for, and it is called only if the CPU has them. Platforms other than x86-64 have
 * only the portable path. */
#pragma once

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
    /* Results of this size and above are stored past the caches. Measured: up to half of a
     * second-level cache of 2 MiB plain stores are faster, above that non-temporal ones. */
    STREAM_BYTES = 3 << 19,
};

/* Returns NULL, or why this CPU cannot run the problem's vector path. */
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
