/* pack.cuh: several elements as one access of up to 16 bytes. */
#pragma once

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

template <class T, unsigned N> __device__ __forceinline__ sum_of<T> pack_sum(const pack<T, N> &x)
{
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(unsigned) &&
                  sizeof x > sizeof(unsigned)) {
        unsigned word[sizeof x / sizeof(unsigned)], sum = 0;
        memcpy(word, &x, sizeof x);
        for (unsigned part : word)
            sum = add_parts<sizeof(T)>(part, sum);
        return T(sum);
    } else {
        sum_of<T> sum = widen(x.at[0]);
        for (unsigned k = 1; k < N; k++)
            sum += widen(x.at[k]);
        return sum;
    }
}

/* Sums as elements. Those of 16 bits are rounded two at a time. */
template <class T, unsigned N>
__device__ __forceinline__ pack<T, N> narrow_pack(const sum_of<T> (&sums)[N])
{
    pack<T, N> elements;
    if constexpr (std::is_same_v<sum_of<T>, T>) {
        for (unsigned k = 0; k < N; k++)
            elements.at[k] = sums[k];
    } else {
        unsigned word[N / 2];
        for (unsigned k = 0; k < N; k += 2)
            word[k / 2] = two_halves<T>(sums[k], sums[k + 1]);
        memcpy(&elements, word, sizeof elements);
    }
    return elements;
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
