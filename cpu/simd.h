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

enum { CACHE_LINE_BYTES = 64 };

/* Bytes from an address to the next cache line. */
static inline size_t bytes_to_line(const void *address)
{
    return -(uintptr_t)address % CACHE_LINE_BYTES;
}

#endif
