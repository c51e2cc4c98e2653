/* msd_count.cuh: step 1 of a level of sort_msd: the keys of each bucket are counted by their digit.
 */
#pragma once

#include "msd_sample.cuh"
#include "../pack.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* A thread's share of the count of a bucket's keys by digit, and of their extremes. */
template <class Order, class Digits, class Key = typename Order::key> struct count_of {
    unsigned *counts;
    Digits digits;
    Key base, lowest = Key(~Key(0)), highest = 0;

    __device__ __forceinline__ unsigned digit_of(Key rank) const
    {
        return digits.of(Key(rank - base));
    }
    __device__ __forceinline__ void single(Key key)
    {
        const Key rank = Order()(key);
        atomicAdd(&counts[digit_of(rank)], 1u);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
    /* Counts a key of each lane of a warp. If all digits agree, they are added at once. */
    __device__ __forceinline__ void row_alike(Key key)
    {
        const Key rank = Order()(key);
        const unsigned digit = digit_of(rank);
        const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
        if (!__all_sync(ALL_LANES, digit == first))
            atomicAdd(&counts[digit], 1u);
        else if (lane_index() == 0)
            atomicAdd(&counts[digit], (unsigned)WARP);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
};

/* Elements begin to end of an array, and the whole packs among them. Indices count from where a
 * pack begins in memory: at the array's start, or less than a pack before it. */
template <class T> struct range_of_packs {
    static constexpr unsigned WIDTH = PACK_WIDTH<T>;
    using whole = pack<std::remove_const_t<T>, WIDTH>;
    T *from;
    uint64_t begin, end;
    uint64_t first_pack, last_pack; /* there is none if first_pack >= last_pack */

    __device__ __forceinline__ range_of_packs(T *array, uint64_t first, uint64_t last)
    {
        const auto skew = (unsigned)(reinterpret_cast<uint64_t>(array) / sizeof(T) % WIDTH);
        from = array - skew, begin = first + skew, end = last + skew;
        first_pack = (begin + WIDTH - 1) / WIDTH, last_pack = end / WIDTH;
    }
    __device__ __forceinline__ auto *packs() const
    {
        return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const whole, whole> *>(from);
    }
    /* Calls f for less than a pack before the packs, and after them: an element per thread. */
    template <class Function> __device__ __forceinline__ void for_ends(Function f) const
    {
        const uint64_t head = begin + threadIdx.x, tail = last_pack * WIDTH + threadIdx.x;
        if (head < min(first_pack * WIDTH, end))
            f(from[head]);
        if (first_pack <= last_pack && tail < end)
            f(from[tail]);
    }
};

/* Counts from[begin..end), whole packs by rows and the rest singly. */
template <class Order, class Digits, class Key>
__device__ __forceinline__ void count_range(count_of<Order, Digits> &count, const Key *from,
                                            uint64_t begin, uint64_t end)
{
    using range_of_packs = range_of_packs<const Key>;
    const range_of_packs range(from, begin, end);
    range.for_ends([&](Key key) { count.single(key); });
    const auto *packs = range.packs();
    uint64_t p = range.first_pack;
    for (; p + LOADS * blockDim.x <= range.last_pack; p += LOADS * blockDim.x) {
        typename range_of_packs::whole loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
            loaded[k] = packs[p + k * blockDim.x + threadIdx.x];
        const auto count_all = [&](auto count_one) {
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
                for (const Key key : loaded[k].at)
                    count_one(key);
        };
        if (are_alike(count.digit_of(Order()(loaded[0].at[0]))))
            count_all([&](Key key) { count.row_alike(key); });
        else
            count_all([&](Key key) { count.single(key); });
    }
    for (p += threadIdx.x; p < range.last_pack; p += blockDim.x) {
        const auto loaded = packs[p];
        for (const Key key : loaded.at)
            count.single(key);
    }
}

/* Adds a block's extremes to the bucket's. */
template <class Key>
__device__ __forceinline__ void add_extremes(shared_layout<Key> *shared, bucket *bucket, Key lowest,
                                             Key highest)
{
    const auto extent = leaf_sort::block_extent<Key>({lowest, highest}, shared->lowest,
                                                     shared->highest, blockDim.x / WARP);
    if (threadIdx.x == 0) {
        atomicMin(&bucket->lowest, (unsigned long long)extent.lowest);
        atomicMax(&bucket->highest, (unsigned long long)extent.highest);
    }
}

/* Counts the bucket that the block works on, from[begin..end), by its digits, in shared memory. It
 * is a function of its own, so that its loop has all registers. */
template <class Order, class Digits, class Key>
__device__ __noinline__ void count_keys(Digits digits, bucket *bucket, const Key *from,
                                        uint64_t begin, uint64_t end)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    count_of<Order, Digits> count = {shared->counts, digits, (Key)shared->current.base};
    count_range(count, from, begin, end);
    add_extremes(shared, bucket, count.lowest, count.highest);
}

/* Adds a block's counts to those of all. */
template <class Count>
__device__ __forceinline__ void add_counts(const unsigned *counts, unsigned digits, Count *sums)
{
    for (unsigned d = threadIdx.x; d < digits; d += blockDim.x)
        if (counts[d] != 0)
            atomicAdd(&sums[d], (Count)counts[d]);
}

} // namespace SCANBENCH_BACKEND::msd
