/* tile_keys.cuh: a block's keys in registers, of a tile or of a leaf, and where the keys of a
 * sample lie. */
#pragma once

#include "../key_order.cuh"

namespace SCANBENCH_BACKEND
{

/* rank[k] of a thread is number k * THREADS + threadIdx.x of `count`, a rank or a key that is not
 * mapped yet. If FULL, all are there. */
template <class Key, unsigned THREADS, unsigned COUNT_, bool FULL = false> struct tile_keys {
    static constexpr unsigned COUNT = COUNT_;
    Key rank[COUNT];
    unsigned count;

    static __device__ __forceinline__ unsigned index(unsigned k)
    {
        return k * THREADS + threadIdx.x;
    }
    __device__ __forceinline__ bool has(unsigned k) const
    {
        return FULL || index(k) < count;
    }
    /* Calls f(k) for each key that is there. */
    template <class Function> __device__ __forceinline__ void for_each(Function f) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (has(k))
                f(k);
    }
    /* Loads keys, so that all are under way before the first is waited for. They may be narrower
     * than Key. */
    template <class Stored> __device__ __forceinline__ void load(const Stored *from)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = has(k) ? Key(from[index(k)]) : Key(0);
    }
    template <class Order> __device__ __forceinline__ void map()
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = Order()(rank[k]);
    }
};

/* The place of key `i` of a sample: anywhere in its part of the array, so that a pattern in the
 * keys cannot match the sample's. */
__device__ __forceinline__ uint64_t sampled_place(unsigned i, unsigned part)
{
    return (uint64_t)i * part + __umulhi((i + 1) * 0x9E3779B9u, part);
}

} // namespace SCANBENCH_BACKEND
