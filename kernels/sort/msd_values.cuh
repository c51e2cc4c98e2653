/* msd_values.cuh: keys of few values, which sort_msd counts by value: one read, one write.
 *
 * Where the sample has few values, they are listed. The digit of a key is the place of its value in
 * the list, so that the result is written from the counts (msd_levels.cuh). Keys whose value is not
 * listed, because the sample missed it, have the last digit. If there are any, the count was in
 * vain: the next level counts the keys by other digits, or another sort gets them. */
#pragma once

#include "msd_count.cuh"

namespace SCANBENCH_BACKEND::msd
{

enum {
    /* The fewest warps of the sample in which the first key recurs if values are few. */
    AGREEING_WARPS = 10,
    /* The values are collected in a hash table. A slot has the number of a thread with the value.
     */
    LOG2_SLOTS = 7,
    SLOTS = 1 << LOG2_SLOTS,
    MOST_PROBES = 16
};
static_assert(SLOTS >= 4 * MOST_VALUES);

/* Does the sample seem to have few values? All its threads call it. It is cheap, and wrong now and
 * then. */
template <class Key> __device__ __forceinline__ bool seem_few(Key rank)
{
    const unsigned alike = __ballot_sync(ALL_LANES, rank == shuffle_from(rank, 0));
    return __syncthreads_count(lane_index() == 0 && (alike & (alike - 1)) != 0) >= AGREEING_WARPS;
}

/* The upper bits depend on all bits of the rank. */
__device__ __forceinline__ unsigned hash(uint32_t rank)
{
    return rank * 0x9E3779B1u;
}
__device__ __forceinline__ unsigned hash(uint64_t rank)
{
    return (unsigned)(rank * 0x9E3779B97F4A7C15u >> 32);
}

/* Lists the sample's values in ascending order, and the highest rank in all places that are left,
 * if there are more than one and at most MOST_VALUES. Returns how many there are, or else 0. */
template <class Key>
__device__ __noinline__ unsigned list_values(sampling_layout<Key> *shared, Key rank,
                                             unsigned long long *values)
{
    constexpr unsigned NOBODY = ~0u, SHIFT = 32 - LOG2_SLOTS;
    const unsigned me = threadIdx.x;
    shared->ranks[me] = rank;
    if (me < SLOTS)
        shared->seen[me] = NOBODY;
    __syncthreads();
    bool is_first = false, is_known = false;
    unsigned slot = hash(rank);
    for (unsigned probe = 0; probe < MOST_PROBES && !is_known; probe++, slot += 1u << SHIFT) {
        const unsigned holder = atomicCAS(&shared->seen[slot >> SHIFT], NOBODY, me);
        is_first = holder == NOBODY;
        is_known = is_first || shared->ranks[holder] == rank;
    }
    if (__syncthreads_or(!is_known))
        return 0;
    const auto count = (unsigned)__syncthreads_count(is_first);
    if (count < 2 || count > MOST_VALUES)
        return 0;
    if (me < WARP)
        values[me] = Key(~Key(0));
    __syncthreads();
    if (is_first) {
        unsigned place = 0;
        for (unsigned s = 0; s < SLOTS; s++) {
            const unsigned holder = shared->seen[s];
            place += holder != NOBODY && shared->ranks[holder] < rank;
        }
        values[place] = rank;
    }
    return count;
}

/* The digits of a list of fewer than 2^bits values. The highest rank may have a digit after them,
 * because the list goes on with it. */
template <class Key> struct places_in_list {
    /* Each lane has counters of its own, in a bank of its own: equal keys do not meet. */
    static constexpr bool COUNTS_BY_LANE = true;
    const Key *values;
    unsigned bits;

    __device__ __forceinline__ unsigned place_of(Key rank) const
    {
        unsigned place = 0;
        for (unsigned step = 1u << bits >> 1; step > 0; step >>= 1)
            if (values[place + step - 1] < rank)
                place += step;
        return values[place] == rank ? place : (1u << bits) - 1;
    }
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return place_of(rank) * WARP + lane_index();
    }
};

/* Counts from[begin..end), of the bucket that the block works on, by value, and adds the counts to
 * `sums`. */
template <class Order, class Key>
__device__ __forceinline__ void count_by_value(const control *control, bucket *bucket,
                                               const Key *from, uint64_t begin, uint64_t end,
                                               unsigned long long *sums)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const unsigned bits = shared->current.bits, digits = 1u << bits;
    unsigned *counts = shared->by_value.counts;
    Key *values = shared->by_value.values;
    for (unsigned d = threadIdx.x; d < digits * WARP; d += blockDim.x)
        counts[d] = 0;
    if (threadIdx.x < WARP)
        values[threadIdx.x] = (Key)__ldcg(&control->values[threadIdx.x]);
    __syncthreads();
    count_keys<Order>(places_in_list<Key>{values, bits}, bucket, from, begin, end);
    for (unsigned d = threadIdx.x / WARP; d < digits; d += blockDim.x / WARP) {
        const unsigned sum = warp_sum(counts[d * WARP + lane_index()]);
        if (lane_index() == 0 && sum > 0)
            atomicAdd(&sums[d], (unsigned long long)sum);
    }
}

/* Returns what becomes of a bucket whose keys were counted by value. */
__device__ __forceinline__ unsigned action_for_values(const bucket &bucket,
                                                      const unsigned long long *counts)
{
    const unsigned unlisted = (1u << bucket.bits) - 1;
    return __ldcg(&counts[unlisted]) > 0 ? NO_MORE : WRITE_COUNTS;
}

} // namespace SCANBENCH_BACKEND::msd
