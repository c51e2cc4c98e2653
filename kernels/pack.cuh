/* pack.cuh: several elements as one access of up to 16 bytes. */
#ifndef SCANBENCH_KERNELS_PACK_CUH
#define SCANBENCH_KERNELS_PACK_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned N> struct alignas(sizeof(T) * N) pack {
    T at[N];
};

/* Elements of 16 bytes, the widest access a thread has. */
template <class T> constexpr unsigned PACK_WIDTH = 16 / sizeof(T);

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

} // namespace SCANBENCH_BACKEND

#endif
