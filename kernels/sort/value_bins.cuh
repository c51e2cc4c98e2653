/* value_bins.cuh: a range of floats, cut into bins of equal width in value.
 *
 * Uniform floats are skewed in bins of equal width in rank: half of them share an exponent. Here
 * the number of a float's bin is computed with floats. Each step rounds, but never out of order, so
 * that bins are in the order of ranks. */
#pragma once

#include "../key_order.cuh"

#include <cmath>

namespace SCANBENCH_BACKEND
{

template <class Order>
constexpr bool IS_FLOAT = std::is_same_v<Order, float_order<typename Order::key>>;

__device__ __forceinline__ float number_of_bits(uint32_t bits)
{
    return __uint_as_float(bits);
}

__device__ __forceinline__ double number_of_bits(uint64_t bits)
{
    return __longlong_as_double((long long)bits);
}

template <class Key> __device__ __forceinline__ auto value_of(Key rank)
{
    return number_of_bits(float_order<Key>().inverse(rank));
}

__device__ __forceinline__ uint32_t bits_of(float value)
{
    return __float_as_uint(value);
}

__device__ __forceinline__ uint64_t bits_of(double value)
{
    return (uint64_t)__double_as_longlong(value);
}

template <class Value> __device__ __forceinline__ auto rank_of(Value value)
{
    const auto bits = bits_of(value);
    return float_order<std::remove_const_t<decltype(bits)>>()(bits);
}

/* Returns a * b + c, rounded once. */
__device__ __forceinline__ float multiply_add(float a, float b, float c)
{
    return fmaf(a, b, c);
}

__device__ __forceinline__ double multiply_add(double a, double b, double c)
{
    return fma(a, b, c);
}

/* Bins of ranks, of equal width in value. A number is rounded by adding one that leaves no bits for
 * fractions, because a conversion takes four times as long. */
template <class Key> struct value_bins {
    static constexpr bool IS_WIDE = sizeof(Key) == 8;
    using value = std::conditional_t<IS_WIDE, double, float>;
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
        const value bin = multiply_add(number - low, per_value, NO_FRACTIONS);
        return (unsigned)bits_of(bin) & ((1u << 23) - 1);
    }
    /* The bin of any rank. Ranks outside, NaN too, are in the first bin or the last. */
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return of_number(value_of(min(max(rank, lowest), highest)));
    }
    /* The first rank of a bin, or of a fraction between bins, rounded. */
    __device__ __forceinline__ Key start_of(value bin) const
    {
        return rank_of(low + (bin - value(.5)) / per_value);
    }
};

/* Are these finite, and all differences between them? */
template <class Key> __device__ __forceinline__ bool have_bins(Key lowest, Key highest)
{
    return lowest >= value_bins<Key>::LEAST && highest <= value_bins<Key>::MOST;
}

} // namespace SCANBENCH_BACKEND
