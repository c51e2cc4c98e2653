/* msd_count.cuh: step 1 of a level of sort_msd: the keys of each bucket are counted by their digit.
 */
#ifndef SCANBENCH_KERNELS_SORT_MSD_COUNT_CUH
#define SCANBENCH_KERNELS_SORT_MSD_COUNT_CUH

#include "msd_sample.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
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
    __device__ __forceinline__ void single(Key key)
    {
        const Key rank = Order()(key);
        atomicAdd(&counts[digit_of(rank)], 1u);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
};

/* Counts from[begin..end), whole packs by rows and the rest singly. */
template <class Order, class Digits, class Key>
__device__ __forceinline__ void count_range(count_of<Order, Digits> &count, const Key *from,
                                            uint64_t begin, uint64_t end)
{
    constexpr unsigned WIDTH = 16 / sizeof(Key);
    struct alignas(16) pack {
        Key at[WIDTH];
    };
    /* Indices count from where a pack begins in memory: at the array's start, or less than a pack
     * before it. */
    const unsigned skew = (unsigned)(reinterpret_cast<uint64_t>(from) / sizeof(Key) % WIDTH);
    from -= skew, begin += skew, end += skew;
    const uint64_t first_pack = (begin + WIDTH - 1) / WIDTH, last_pack = end / WIDTH;
    const uint64_t head = min(first_pack * WIDTH, end);
    if (begin + threadIdx.x < head)
        count.single(from[begin + threadIdx.x]);
    if (first_pack > last_pack)
        return;
    if (last_pack * WIDTH + threadIdx.x < end)
        count.single(from[last_pack * WIDTH + threadIdx.x]);
    const auto *packs = reinterpret_cast<const pack *>(from);
    uint64_t p = first_pack;
    for (; p + LOADS * blockDim.x <= last_pack; p += LOADS * blockDim.x) {
        pack loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
            loaded[k] = packs[p + k * blockDim.x + threadIdx.x];
        if (are_alike(count.digit_of(Order()(loaded[0].at[0])))) {
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
                for (unsigned i = 0; i < WIDTH; i++)
                    count.row_alike(loaded[k].at[i]);
        } else {
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
                for (unsigned i = 0; i < WIDTH; i++)
                    count.single(loaded[k].at[i]);
        }
    }
    for (p += threadIdx.x; p < last_pack; p += blockDim.x) {
        const pack loaded = packs[p];
        for (unsigned i = 0; i < WIDTH; i++)
            count.single(loaded.at[i]);
    }
}

/* Adds a block's extremes to the bucket's. Ends without a barrier. */
template <class Key>
__device__ __forceinline__ void add_extremes(shared_layout<Key> *shared, bucket *bucket, Key lowest,
                                             Key highest)
{
    const unsigned warp = threadIdx.x / WARP;
    lowest = leaf_sort::warp_min(lowest), highest = leaf_sort::warp_max(highest);
    if (lane_index() == 0) {
        shared->lowest[warp] = lowest;
        shared->highest[warp] = highest;
    }
    __syncthreads();
    if (warp == 0) {
        const bool has_warp = lane_index() < blockDim.x / WARP;
        lowest = leaf_sort::warp_min(has_warp ? Key(shared->lowest[lane_index()]) : Key(~Key(0)));
        highest = leaf_sort::warp_max(has_warp ? Key(shared->highest[lane_index()]) : Key(0));
        if (lane_index() == 0) {
            atomicMin(&bucket->lowest, (unsigned long long)lowest);
            atomicMax(&bucket->highest, (unsigned long long)highest);
        }
    }
}

/* Counts the bucket that the block works on, from[begin..end), by its digits, in shared memory. */
template <class Order, class Digits, class Key>
__device__ __forceinline__ void count_keys(shared_layout<Key> *shared, Digits digits,
                                           bucket *bucket, const Key *from, uint64_t begin,
                                           uint64_t end)
{
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

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
