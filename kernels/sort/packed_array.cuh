/* packed_array.cuh: an array of keys of any alignment, read and written in aligned packs. */
#pragma once

#include "../pack.cuh"

namespace SCANBENCH_BACKEND::counting_sort
{

/* An array that is aligned to its elements only, as one of aligned packs: its elements are
 * at[first] to at[end - 1], where `first` lies in pack 0. */
template <class Key> struct packed_array {
    Key *at;
    uint64_t first, end;

    __host__ __device__ __forceinline__ uint64_t packs() const
    {
        return ceil_div(end, PACK_WIDTH<Key>);
    }
    __device__ __forceinline__ bool has_whole(uint64_t p) const
    {
        return p * PACK_WIDTH<Key> >= first && (p + 1) * PACK_WIDTH<Key> <= end;
    }
    __device__ __forceinline__ bool has(uint64_t i) const
    {
        return first <= i && i < end;
    }
};

template <class Key> static packed_array<Key> packed(Key *array, uint64_t n)
{
    const uint64_t first = (uintptr_t)array % PACK_BYTES / sizeof(Key);
    return {array - first, first, first + n};
}

template <class Key> using key_pack = pack<std::remove_const_t<Key>, PACK_WIDTH<Key>>;

} // namespace SCANBENCH_BACKEND::counting_sort
