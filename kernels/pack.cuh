/* pack.cuh: several elements as one access of up to 16 bytes. */
#ifndef SCANBENCH_KERNELS_PACK_CUH
#define SCANBENCH_KERNELS_PACK_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned N> struct alignas(sizeof(T) * N) pack {
    T at[N];
};

/* The widest access a thread has, and the elements of it. */
enum { PACK_BYTES = 16 };
template <class T> constexpr unsigned PACK_WIDTH = PACK_BYTES / sizeof(T);

/* Elements i .. i+N-1 of an array of n, where i is a multiple of N; behind the
 * end, zeros. The array is aligned to the pack. */
template <class T, unsigned N>
__device__ __forceinline__ pack<T, N> load_pack(const T *array, uint64_t i, uint64_t n)
{
    if (i + N <= n)
        return *reinterpret_cast<const pack<T, N> *>(array + i);
    pack<T, N> values;
    for (unsigned k = 0; k < N; k++)
        values.at[k] = i + k < n ? array[i + k] : T(0);
    return values;
}

/* The opposite: what lies behind the end is dropped. */
template <class T, unsigned N>
__device__ __forceinline__ void store_pack(T *array, uint64_t i, uint64_t n,
                                           const pack<T, N> &values)
{
    if (i + N <= n) {
        *reinterpret_cast<pack<T, N> *>(array + i) = values;
        return;
    }
    for (unsigned k = 0; k < N; k++)
        if (i + k < n)
            array[i + k] = values.at[k];
}

/* A store of 4, 8 or 16 bytes that asks the L2 to evict the line last. Results that
 * are written once, from all over the array at a time, gain by it: they are collected
 * longer, and go to DRAM in longer runs (4 % of a scan's time at 2^29 on an H200). */
template <class T> __device__ __forceinline__ void store_evicted_last(T *at, const T &value)
{
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
    constexpr unsigned WORDS = sizeof(T) / 4;
    static_assert(WORDS == 1 || WORDS == 2 || WORDS == 4);
    unsigned word[WORDS];
    memcpy(word, &value, sizeof value);
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    if constexpr (WORDS == 1)
        asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(at), "r"(word[0]),
                     "l"(policy)
                     : "memory");
    else if constexpr (WORDS == 2)
        asm volatile("st.global.L2::cache_hint.v2.u32 [%0], {%1, %2}, %3;" ::"l"(at), "r"(word[0]),
                     "r"(word[1]), "l"(policy)
                     : "memory");
    else
        asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(at),
                     "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "l"(policy)
                     : "memory");
#else
    *at = value;
#endif
}

/* store_pack() by such stores. */
template <class T, unsigned N>
__device__ __forceinline__ void store_pack_evicted_last(T *array, uint64_t i, uint64_t n,
                                                        const pack<T, N> &values)
{
    if (i + N <= n)
        return store_evicted_last(reinterpret_cast<pack<T, N> *>(array + i), values);
    for (unsigned k = 0; k < N; k++)
        if (i + k < n)
            array[i + k] = values.at[k];
}

} // namespace SCANBENCH_BACKEND

#endif
