/* bins.cuh: a range of ranks, cut into bins of equal width: a power of two of ranks, any number of
 * ranks, or, for floats, a difference of values. */
#pragma once

#include "../key_order.cuh"

#include <cmath>

namespace SCANBENCH_BACKEND
{

template <class Key> __device__ __forceinline__ unsigned bit_length(Key x)
{
    if constexpr (sizeof(Key) == 8)
        return 64 - __clzll((long long)x);
    else
        return 32 - __clz((int)x);
}

/* The highest number of so many bits. */
template <class Key> __device__ __forceinline__ Key highest_of(unsigned bits)
{
    return bits == 0 ? 0 : Key(~Key(0)) >> (8 * sizeof(Key) - bits);
}

/* Bins of 2^shift ranks, which are counted from the lowest. */
template <class Key> struct rank_bins {
    unsigned shift;

    __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (unsigned)(relative >> shift);
    }
};

/* A width that is no power of two makes as many bins as wanted of any range that has more ranks. A
 * multiplication takes the place of the shift, so that width is rounded, and the last bin may be
 * the smallest. */
template <class Key> struct even_bins {
    Key lowest, highest;
    unsigned scale, narrowing; /* bin = scale * (rank - lowest >> narrowing) / 2^32 */

    even_bins() = default;
    __device__ __forceinline__ even_bins(Key least, Key most, unsigned bins)
        : lowest(least), highest(most)
    {
        constexpr unsigned WIDE = 8 * sizeof(Key) - 32;
        const auto last = Key(highest - lowest);
        const unsigned bits = bit_length(last);
        narrowing = WIDE > 0 && bits > 32 ? bits - 32 : 0;
        scale = (unsigned)(((uint64_t)bins << 32) / ((uint64_t)(last >> narrowing) + 1));
    }
    /* The bin of any rank. Ranks outside are in the first bin or the last. */
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        const auto relative = Key(min(max(rank, lowest), highest) - lowest);
        return __umulhi((unsigned)(relative >> narrowing), scale);
    }
    /* The first rank of a bin, and the last. */
    __device__ __forceinline__ Key first_of(unsigned bin) const
    {
        return Key(lowest + (Key((((uint64_t)bin << 32) + scale - 1) / scale) << narrowing));
    }
    __device__ __forceinline__ Key last_of(unsigned bin) const
    {
        return Key(first_of(bin + 1) - 1);
    }
};

template <class Order>
constexpr bool IS_FLOAT = std::is_same_v<Order, float_order<typename Order::key>>;

/* The number that has these bits, and the other way round. */
template <class To, class From> __device__ __forceinline__ To same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

template <class Key> using value_of_width = std::conditional_t<sizeof(Key) == 8, double, float>;
template <class Value>
using bits_of_width = std::conditional_t<sizeof(Value) == 8, uint64_t, uint32_t>;

template <class Key> __device__ __forceinline__ auto value_of(Key rank)
{
    return same_bits<value_of_width<Key>>(float_order<Key>().inverse(rank));
}

template <class Value> __device__ __forceinline__ auto rank_of(Value value)
{
    using bits = bits_of_width<Value>;
    return float_order<bits>()(same_bits<bits>(value));
}

/* Bins of ranks, of equal width in value. Uniform floats are skewed in bins of equal width in rank:
 * half of them share an exponent. Here the number of a float's bin is computed with floats. Each
 * step rounds, but never out of order, so that bins are in the order of ranks. A number is rounded
 * by adding one that leaves no bits for fractions, because a conversion takes four times as long.
 */
template <class Key> struct value_bins {
    static constexpr bool IS_WIDE = sizeof(Key) == 8;
    using value = value_of_width<Key>;
    /* The bits of half of the largest power of two. Differences up to it are finite. */
    static constexpr Key LIMIT = IS_WIDE ? Key(0x7FDull << 52) : Key(0xFDu << 23);
    static constexpr Key LEAST = ~LIMIT & ~float_order<Key>::SIGN;
    static constexpr Key MOST = LIMIT | float_order<Key>::SIGN;
    static constexpr auto NO_FRACTIONS = value(1ull << (IS_WIDE ? 52 : 23));

    Key lowest, highest; /* ranks */
    value low, per_value;

    value_bins() = default;
    __device__ __forceinline__ value_bins(Key least, Key most, unsigned bins)
    {
        lowest = min(max(least, LEAST), MOST);
        highest = min(max(most, LEAST), MOST);
        low = value_of(lowest);
        per_value = min(value(bins - 1) / (value_of(highest) - low), value_of(MOST));
    }
    /* The bin of a number between the lowest and the highest. */
    __device__ __forceinline__ unsigned of_number(value number) const
    {
        const value bin = std::fma(number - low, per_value, NO_FRACTIONS); /* rounded once */
        return (unsigned)same_bits<Key>(bin) & ((1u << 23) - 1);
    }
    /* The bin of any rank. Ranks outside, NaN too, are in the first bin or the last. */
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return of_number(value_of(min(max(rank, lowest), highest)));
    }
    /* A rank before all of a bin, or the first, and one after them, or the last: a quarter of a bin
     * beyond the ends, because numbers are rounded. */
    __device__ __forceinline__ Key first_of(unsigned bin) const
    {
        return rank_of(low + (value(bin) - value(.75)) / per_value);
    }
    __device__ __forceinline__ Key last_of(unsigned bin) const
    {
        return rank_of(low + (value(bin) + value(.75)) / per_value);
    }
};

/* Are these finite, and all differences between them? */
template <class Key> __device__ __forceinline__ bool have_bins(Key lowest, Key highest)
{
    return lowest >= value_bins<Key>::LEAST && highest <= value_bins<Key>::MOST;
}

} // namespace SCANBENCH_BACKEND
