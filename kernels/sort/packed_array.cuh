/* packed_array.cuh: an array of keys of any alignment, read and written in aligned packs. */
#pragma once

#include "../pack.cuh"

namespace SCANBENCH_BACKEND
{

template <class Key> using key_pack = pack<std::remove_const_t<Key>, PACK_WIDTH<Key>>;

template <class Key> __device__ __forceinline__ key_pack<Key> pack_of(Key key)
{
    key_pack<Key> keys;
#pragma unroll
    for (Key &each : keys.at)
        each = key;
    return keys;
}

/* A part of an array that is aligned to its elements only, as one of aligned packs: the elements
 * at[first] to at[end - 1]. Pack 0 begins with the array, or less than a pack before it. */
template <class Key> struct packed_array {
    static constexpr unsigned WIDTH = PACK_WIDTH<Key>;
    Key *at;
    uint64_t first, end;

    __host__ __device__ __forceinline__ packed_array(Key *array, uint64_t begin, uint64_t stop)
    {
        const auto skew = (unsigned)(reinterpret_cast<uint64_t>(array) / sizeof(Key) % WIDTH);
        at = array - skew, first = begin + skew, end = stop + skew;
    }
    __device__ __forceinline__ auto *packs() const
    {
        using whole = key_pack<Key>;
        return reinterpret_cast<std::conditional_t<std::is_const_v<Key>, const whole, whole> *>(at);
    }
    __host__ __device__ __forceinline__ uint64_t pack_count() const
    {
        return ceil_div(end, WIDTH);
    }
    __device__ __forceinline__ bool has_whole(uint64_t p) const
    {
        return p * WIDTH >= first && (p + 1) * WIDTH <= end;
    }
    __device__ __forceinline__ bool has(uint64_t i) const
    {
        return first <= i && i < end;
    }
    /* The first whole pack, and the one after the last. There is none unless the first is less. */
    __device__ __forceinline__ uint64_t first_whole() const
    {
        return (first + WIDTH - 1) / WIDTH;
    }
    __device__ __forceinline__ uint64_t end_of_whole() const
    {
        return end / WIDTH;
    }
    /* Calls f for less than a pack before the whole packs, and after them: an element per thread.
     */
    template <class Function> __device__ __forceinline__ void for_ends(Function f) const
    {
        const uint64_t head = first + threadIdx.x, tail = end_of_whole() * WIDTH + threadIdx.x;
        if (head < min(first_whole() * WIDTH, end))
            f(at[head]);
        if (first_whole() <= end_of_whole() && tail < end)
            f(at[tail]);
    }
};

} // namespace SCANBENCH_BACKEND
