/* msd_values.cuh: keys of few values, which sort_msd counts by value: one read, one write.
 *
 * Where the sample has few values, they are listed. The digit of a key is its number in the list,
 * so that the result is written from the counts (msd_levels.cuh). Keys that are not listed, because
 * the sample missed their value, share the last digit. If there are any, the count was in vain: the
 * next level counts the keys by other digits, or another sort gets them. */
#pragma once

#include "msd_sample.cuh"

namespace SCANBENCH_BACKEND::msd
{

enum {
    /* Warps of the sample whose first key is found in the warp again, if values are few. */
    AGREEING_WARPS = 10,
    /* Where values are collected: a hash table of threads that have them. */
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

/* Lists the sample's values in ascending order, followed by the highest rank, if there are more
 * than one and at most MOST_VALUES. Returns how many there are, or else 0. */
template <class Key>
__device__ __noinline__ unsigned list_values(sampling_layout<Key> *shared, Key rank,
                                             unsigned long long *values)
{
    constexpr unsigned NOBODY = ~0u;
    const unsigned me = threadIdx.x;
    shared->ranks[me] = rank;
    if (me < SLOTS)
        shared->seen[me] = NOBODY;
    __syncthreads();
    bool is_first = false, is_known = false;
    auto slot = (unsigned)(rank ^ rank >> 4 * sizeof rank) * 0x9E3779B1u;
    for (unsigned probe = 0; probe < MOST_PROBES && !is_known;
         probe++, slot += 1u << (32 - LOG2_SLOTS)) {
        const unsigned holder = atomicCAS(&shared->seen[slot >> (32 - LOG2_SLOTS)], NOBODY, me);
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

/* The number of a key's value in the list, or the last digit if it is not there. A list of d bits
 * has fewer than 2^d values; all that follow are the highest rank, of which a key may be. */
template <class Key> struct listed_values {
    const Key *values;
    unsigned bits;

    __device__ __forceinline__ unsigned number_of(Key rank) const
    {
        unsigned number = 0;
        for (unsigned step = 1u << bits >> 1; step > 0; step >>= 1)
            if (values[number + step - 1] < rank)
                number += step;
        return values[number] == rank ? number : (1u << bits) - 1;
    }
    /* Each lane has counters of its own, in a bank of its own: equal keys do not meet. */
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return number_of(rank) * WARP + lane_index();
    }
};

/* Copies the list to shared memory. */
template <class Key>
__device__ __forceinline__ void fetch_values(shared_layout<Key> *shared, const control *control)
{
    if (threadIdx.x < WARP)
        shared->by_value.values[threadIdx.x] = (Key)__ldcg(&control->values[threadIdx.x]);
}

/* Adds the counts of a block's lanes to those of all. */
template <class Key>
__device__ __forceinline__ void add_counts_of_lanes(const shared_layout<Key> *shared,
                                                    unsigned digits, unsigned long long *sums)
{
    for (unsigned d = threadIdx.x / WARP; d < digits; d += blockDim.x / WARP) {
        const unsigned sum = warp_sum(shared->by_value.counts[d * WARP + lane_index()]);
        if (lane_index() == 0 && sum > 0)
            atomicAdd(&sums[d], (unsigned long long)sum);
    }
}

} // namespace SCANBENCH_BACKEND::msd
