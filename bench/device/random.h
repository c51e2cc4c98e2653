/* random.h: random numbers by their place in a sequence, the same on host and device. */
#pragma once

#include "../types.h"

/* A counter passed through a 64-bit mixing function (the finaliser of SplitMix64: Steele, Lea
 * and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): random access, and
 * the same on every device. */
HOST_DEVICE static inline uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1342543DE82EF95u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The high word of a 64x64-bit product: random bits scaled to 0..range-1. */
HOST_DEVICE static inline uint64_t scale_random(uint64_t bits, uint64_t range)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(bits, range);
#else
    return (uint64_t)(((unsigned __int128)bits * range) >> 64);
#endif
}
