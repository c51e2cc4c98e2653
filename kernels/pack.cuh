/* pack.cuh: several elements as one access of up to 16 bytes. */
#ifndef SCANBENCH_KERNELS_PACK_CUH
#define SCANBENCH_KERNELS_PACK_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned N> struct alignas(sizeof(T) * N) pack {
    T at[N];
};

/* The widest access of a thread, and the elements in it. */
enum { PACK_BYTES = 16 };
template <class T> constexpr unsigned PACK_WIDTH = PACK_BYTES / sizeof(T);

/* Loads elements i .. i+N-1 of an array of n, where i is a multiple of N, with zeros past the
 * end. The array is aligned to the pack or, if ANYWHERE, to its elements. */
template <class T, unsigned N, bool ANYWHERE = false>
__device__ __forceinline__ pack<T, N> load_pack(const T *array, uint64_t i, uint64_t n)
{
    if (!ANYWHERE && i + N <= n)
        return *reinterpret_cast<const pack<T, N> *>(array + i);
    pack<T, N> values;
    for (unsigned k = 0; k < N; k++)
        values.at[k] = i + k < n ? array[i + k] : T(0);
    return values;
}

template <class T, unsigned N> __device__ __forceinline__ T pack_sum(const pack<T, N> &x)
{
    T sum = x.at[0];
    for (unsigned k = 1; k < N; k++)
        sum += x.at[k];
    return sum;
}

/* Stores 8 or 16 bytes at a time. Left to itself, the compiler splits a pack where control flow
 * merges, and stores its elements one by one: 12 % of a scan's time on an H200. */
template <class Pack> __device__ __forceinline__ void store_whole(Pack *at, const Pack &values)
{
#ifdef __CUDACC__
    constexpr unsigned WORDS = sizeof(Pack) / 4;
    static_assert(WORDS <= 2 || WORDS % 4 == 0);
    unsigned word[WORDS < 2 ? 1 : WORDS];
    memcpy(word, &values, sizeof values);
    if constexpr (WORDS < 2) /* packs of single bytes */
        *at = values;
    else if constexpr (WORDS == 2)
        asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(word[0]), "r"(word[1])
                     : "memory");
    else
        for (unsigned w = 0; w < WORDS; w += 4)
            asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"((char *)at + 4 * w),
                         "r"(word[w]), "r"(word[w + 1]), "r"(word[w + 2]), "r"(word[w + 3])
                         : "memory");
#else
    *at = values;
#endif
}

/* Stores 16 bytes that the L2 should evict first. */
template <class Pack> __device__ __forceinline__ void store_passing(Pack *at, const Pack &values)
{
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
    static_assert(sizeof(Pack) == 16);
    unsigned word[4];
    memcpy(word, &values, sizeof values);
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(at),
                 "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "l"(policy)
                 : "memory");
#else
    *at = values;
#endif
}

/* Stores elements i .. i+N-1, and drops those past the end. */
template <bool PASSING = false, bool ANYWHERE = false, class T, unsigned N>
__device__ __forceinline__ void store_pack(T *array, uint64_t i, uint64_t n,
                                           const pack<T, N> &values)
{
    if (!ANYWHERE && i + N <= n) {
        auto *at = reinterpret_cast<pack<T, N> *>(array + i);
        if constexpr (PASSING)
            return store_passing(at, values);
        else
            return store_whole(at, values);
    }
    for (unsigned k = 0; k < N; k++)
        if (i + k < n)
            array[i + k] = values.at[k];
}

} // namespace SCANBENCH_BACKEND

#endif
