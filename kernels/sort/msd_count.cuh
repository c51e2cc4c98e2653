/* msd_count.cuh: step 1 of a level of sort_msd: the keys of each bucket are counted by their digit.
 */
#pragma once

#include "msd_sample.cuh"
#include "packed_array.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* A thread's share of the count of a bucket's keys by digit, and of their extremes. */
template <class Order, class Digits, class Key = typename Order::key> struct count_of {
    unsigned *counts;
    Digits digits;
    Key lowest = Key(~Key(0)), highest = 0;

    __device__ __forceinline__ void single(Key key)
    {
        const Key rank = Order()(key);
        atomicAdd(&counts[digits.of(rank)], 1u);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
    /* Counts a key of each lane of a warp. If all digits agree, they are added at once. */
    __device__ __forceinline__ void row_alike(Key key)
    {
        const Key rank = Order()(key);
        const unsigned digit = digits.of(rank);
        const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
        if (!__all_sync(ALL_LANES, digit == first))
            atomicAdd(&counts[digit], 1u);
        else if (lane_index() == 0)
            atomicAdd(&counts[digit], (unsigned)WARP);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
};

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

/* Counts the bucket that the block works on, from[begin..end), by its digits, in shared memory:
 * whole packs by rows and the rest singly. It is a function of its own, so that its loop has all
 * registers. */
template <class Order, class Digits, class Key>
__device__ __noinline__ void count_keys(Digits digits, bucket *bucket, const Key *from,
                                        uint64_t begin, uint64_t end)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    count_of<Order, Digits> count = {shared->counts, digits};
    const packed_array<const Key> keys(from, begin, end);
    const auto *packs = keys.packs();
    uint64_t p = keys.first_whole();
    const uint64_t stop = keys.end_of_whole();
    keys.for_ends([&](Key key) { count.single(key); });
    for (; p + LOADS * blockDim.x <= stop; p += LOADS * blockDim.x) {
        key_pack<Key> loaded[LOADS];
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
        if constexpr (requires { Digits::COUNTS_BY_LANE; })
            count_all([&](Key key) { count.single(key); });
        else if (are_alike(digits.of(Order()(loaded[0].at[0]))))
            count_all([&](Key key) { count.row_alike(key); });
        else
            count_all([&](Key key) { count.single(key); });
    }
    for (p += threadIdx.x; p < stop; p += blockDim.x) {
        const auto loaded = packs[p];
        for (const Key key : loaded.at)
            count.single(key);
    }
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
