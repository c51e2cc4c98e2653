/* cpu_features: what the CPU can do. */
#include "cpu_features.h"

enum simd_path best_simd_path(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return SIMD_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return SIMD_AVX2;
#endif
    return SIMD_PORTABLE;
}
