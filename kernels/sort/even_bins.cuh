/* even_bins.cuh: a range of ranks, cut into bins of equal width.
 *
 * A width that is no power of two makes as many bins as wanted of any range. A multiplication takes
 * the place of the shift, so that width is rounded, and the last bin may be the smallest. */
#pragma once

#include "leaf_sort.cuh"

namespace SCANBENCH_BACKEND
{

/* The range has more ranks than bins. Ranks are counted from its lowest. */
template <class Key> struct even_bins {
    unsigned scale, narrowing; /* bin = scale * (rank >> narrowing) / 2^32 */

    even_bins() = default;
    __device__ __forceinline__ even_bins(Key lowest, Key highest, unsigned bins)
    {
        constexpr unsigned WIDE = 8 * sizeof(Key) - 32;
        const auto last = Key(highest - lowest);
        const unsigned bits = leaf_sort::bit_length(last);
        narrowing = WIDE > 0 && bits > 32 ? bits - 32 : 0;
        scale = (unsigned)(((uint64_t)bins << 32) / ((uint64_t)(last >> narrowing) + 1));
    }
    __device__ __forceinline__ unsigned of(Key relative) const
    {
        return __umulhi((unsigned)(relative >> narrowing), scale);
    }
    /* The first rank of a bin. */
    __device__ __forceinline__ Key start_of(unsigned bin) const
    {
        return Key((((uint64_t)bin << 32) + scale - 1) / scale) << narrowing;
    }
};

} // namespace SCANBENCH_BACKEND
