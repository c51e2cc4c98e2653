/* pair_leaf.cuh: one block sorts some thousand pairs stably, in registers and shared memory.
 *
 * What the keys of a leaf do not share and a key's index in the leaf are one number, the index
 * below: these numbers are all different, and in order they are the pairs in their stable order. So
 * leaf_sort, which is not stable, sorts them. The key comes back from the number's upper bits, and
 * its value, which waits in shared memory, by the index. Keys of a partition share their high bits,
 * so that numbers are as wide as keys. */
#pragma once

#include "leaf_sort.cuh"

namespace SCANBENCH_BACKEND::leaf_sort
{

/* Where a leaf of pairs goes, and what its numbers mean. */
template <class Key, class Value, class Number> struct pair_result {
    Key *keys; /* place 0, as of a result of keys */
    Value *values;
    unsigned first, end;
    Number base;         /* the key of number 0, as a rank */
    unsigned index_bits; /* of a number */
    bool are_aligned;    /* values are aligned to packs wherever keys are */
    const Value *held;   /* values by index, in shared memory */
    key_order<Key> order;

    __device__ __forceinline__ Key key_of(Number number) const
    {
        return order.inverse(Key(base + (number >> index_bits)));
    }
    __device__ __forceinline__ Value value_of(Number number) const
    {
        return held[(unsigned)number & ((1u << index_bits) - 1)];
    }
    __device__ __forceinline__ void write(unsigned at, Number number) const
    {
        keys[at] = key_of(number);
        values[at] = value_of(number);
    }
};

/* Values that a thread writes at once. */
template <class Value, class Number>
constexpr unsigned VALUES_AT_ONCE = std::min(PACK_WIDTH<Number>, PACK_WIDTH<Value>);

/* Writes the pairs of a unit of numbers. */
template <class Order, class Key, class Value, class Number>
__device__ __forceinline__ void write_unit(const pair_result<Key, Value, Number> &result,
                                           unsigned at, const unit<Number> &numbers)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Number>;
    constexpr unsigned VALUES = VALUES_AT_ONCE<Value, Number>;
    if (at < result.first || at + WIDTH > result.end || !result.are_aligned) {
#pragma unroll
        for (unsigned k = 0; k < WIDTH; k++)
            if (at + k >= result.first && at + k < result.end)
                result.write(at + k, numbers.at[k]);
        return;
    }
    pack<Key, WIDTH> keys;
#pragma unroll
    for (unsigned k = 0; k < WIDTH; k++)
        keys.at[k] = result.key_of(numbers.at[k]);
    *reinterpret_cast<pack<Key, WIDTH> *>(result.keys + at) = keys;
#pragma unroll
    for (unsigned k = 0; k < WIDTH; k += VALUES) {
        pack<Value, VALUES> values;
#pragma unroll
        for (unsigned v = 0; v < VALUES; v++)
            values.at[v] = result.value_of(numbers.at[k + v]);
        *reinterpret_cast<pack<Value, VALUES> *>(result.values + at + k) = values;
    }
}

/* A leaf of pairs: its keys, whose ranks differ in no more than the lowest bits, and its values. It
 * may be sorted in its place. */
template <class Key, class Value> struct pair_leaf {
    const Key *keys;
    const Value *values;
    Key *sorted_keys;
    Value *sorted_values;
    unsigned count;
    unsigned range_bits;
    key_order<Key> order; /* none if these are ranks */
};

/* Bins of equal width, of which a power of two would not do: many numbers of a warp have indices
 * side by side, and counters a power of two apart lie in the same bank. Other than even_bins, they
 * take no division of 64 bits, and ranges with fewer numbers than bins. Rounding may leave the last
 * bins empty. */
template <class Key> struct number_bins {
    Key lowest;
    unsigned scale, narrowing; /* bin = scale * ((number - lowest) >> narrowing) / 2^32 */

    __device__ __forceinline__ number_bins(const extent<Key> &range, unsigned bins)
    {
        constexpr float ALL = 4294967296.f, ROUNDED = 1.f - 1.f / (1 << 20);
        const auto last = Key(range.highest - range.lowest);
        const unsigned bits = bit_length(last);
        lowest = range.lowest;
        narrowing = bits > 32 ? bits - 32 : 0;
        const float numbers = (float)(unsigned)(last >> narrowing) + 1.f;
        scale = (unsigned)(ROUNDED * ALL * min((float)bins / numbers, 1.f));
    }
    __device__ __forceinline__ unsigned of(Key number) const
    {
        return __umulhi((unsigned)(Key(number - lowest) >> narrowing), scale);
    }
};

/* The block's agent for leaves of pairs, in shared memory. MOST: the most pairs per thread. Number
 * holds what is left of a key and an index. */
template <class Key, class Value, unsigned THREADS, unsigned MOST, class Number = Key>
struct pair_agent {
    using result = pair_result<Key, Value, Number>;
    using numbers_order = unsigned_order<Number>;
    agent<Number, THREADS, MOST> of_numbers;
    alignas(16) Value values[MOST * THREADS];

    /* Sorts numbers that fill too few bins, and writes the pairs. */
    template <class Held>
    __device__ __forceinline__ void sort_skewed(const Held &numbers, const result &result)
    {
        Number *all = of_numbers.ranks;
        __syncthreads(); /* bins, and what lies in their order, are given up */
        numbers.for_each([&](unsigned k) { all[numbers.index(k)] = numbers.rank[k]; });
        __syncthreads(); /* the sort looks at another thread's number */
        /* If numbers are wider than keys, digits of keys are fewer, and enough: this is stable. */
        if constexpr (sizeof(Number) > sizeof(Key))
            of_numbers.template sort_by_digits<Held::COUNT, numbers_order>(all, numbers.count, all,
                                                                           result.index_bits);
        else
            of_numbers.template sort_skewed<numbers_order>(all, numbers.count, all);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < numbers.count; i += THREADS)
            result.write(result.first + i, all[i]);
    }

    template <unsigned COUNT>
    __device__ __forceinline__ void sort_held(const pair_leaf<Key, Value> &leaf,
                                              const key_order<Key> &order, bool looks)
    {
        tile_keys<Number, THREADS, COUNT> numbers;
        numbers.count = leaf.count;
        const Number base = Number(leaf.order(leaf.keys[0])) >> leaf.range_bits << leaf.range_bits;
        numbers.load(leaf.keys);
        numbers.for_each(
            [&](unsigned k) { values[numbers.index(k)] = leaf.values[numbers.index(k)]; });
        of_numbers.clear_bins();
        const auto at = result_at(leaf.sorted_keys, leaf.count);
        Value *const its_values = leaf.sorted_values - at.first;
        const result result = {
            .keys = at.aligned,
            .values = its_values,
            .first = at.first,
            .end = at.end,
            .base = base,
            .index_bits = bit_length((uint32_t)(leaf.count - 1)),
            .are_aligned =
                (uint64_t)its_values % sizeof(pack<Value, VALUES_AT_ONCE<Value, Number>>) == 0,
            .held = values,
            .order = order};
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            numbers.rank[k] = Number(leaf.order(Key(numbers.rank[k])) - base) << result.index_bits |
                              numbers.index(k);
        /* Their extent is found because keys may fill a small part of their range. */
        const extent<Number> range = of_numbers.extent_of(numbers);
        const number_bins<Number> bins(range, agent<Number, THREADS, MOST>::BINS);
        if (looks && of_numbers.seem_skewed(numbers, bins))
            return sort_skewed(numbers, result);
        const unsigned fullest =
            of_numbers.template place_by_bins<numbers_order>(numbers, bins, result);
        if (fullest > FRONT)
            return sort_skewed(numbers, result);
        write_windows<numbers_order, THREADS>(of_numbers.ranks, result, fullest);
    }

    /* Sorts a leaf of at least one pair. looks: as in agent::sort_by_bins(). Ends with a barrier.
     */
    __device__ __forceinline__ void sort(const pair_leaf<Key, Value> &leaf,
                                         const key_order<Key> &order, bool looks = false)
    {
        constexpr unsigned SOME = (MOST + 1) / 2;
        if (leaf.count <= SOME * THREADS)
            sort_held<SOME>(leaf, order, looks);
        else
            sort_held<MOST>(leaf, order, looks);
        __syncthreads();
    }
};

} // namespace SCANBENCH_BACKEND::leaf_sort
