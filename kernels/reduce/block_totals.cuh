/* block_totals.cuh: adds up the totals of several blocks.
 *
 * Unsigned numbers of up to 4 bytes have the same sum in any order. Each block adds its total to a
 * word by one atomic, which also counts the block; the block that completes the count has the sum.
 * That takes one trip to the L2. Other totals are added in a fixed order, by the last block to
 * begin.
 *
 * Relies: on tickets, which tell that block that all others have begun. It waits for their totals;
 * they wait for nobody. So blocks need not be resident together. */
#pragma once

#include "../pack.cuh"
#include "../tile_status.cuh"
#include "../warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* Loads in flight per thread. */
constexpr unsigned PACKS = 4;

template <class T> struct shared_layout {
    T warp_totals[1024 / WARP];
    bool last; /* this block was the last of the call to begin */
};

/* Every thread gets the sum over the block. One barrier. */
template <class T> __device__ __forceinline__ T block_sum(T sum, T *warp_totals)
{
    return sum_of_warps(warp_sum(sum), warp_totals);
}

/* The sum so far in the upper half; in the lower, how many blocks have added to it. 0 between
 * calls. */
using sum_and_count = unsigned long long;

/* Can blocks add their totals by atomics? */
template <class T>
constexpr bool ADDS_BY_ATOMICS = std::is_unsigned_v<T> && sizeof(T) <= sizeof(uint32_t);

/* The most atomics on one word in a call: more take longer than loading what they add up. */
enum { MOST_ATOMICS = 8192 };

/* Sums that at least two blocks share each. The memory is zero before the first call, and serves
 * calls of one shape only. */
template <class T> struct block_sums {
    static constexpr bool ADDS = ADDS_BY_ATOMICS<T>;
    using state = std::conditional_t<ADDS, sum_and_count, tile_status<T>>;
    state *states;     /* one per sum, or one per block of each sum */
    unsigned *tickets; /* one per sum, drawn over all calls since prepare(); not if ADDS */
    unsigned blocks;   /* of each sum */
    uint32_t epoch;    /* of the call */
};

template <class T>
__device__ __forceinline__ typename block_sums<T>::state *state_of(const block_sums<T> &sums,
                                                                   unsigned which, unsigned block)
{
    return &sums.states[block_sums<T>::ADDS ? which : (uint64_t)which * sums.blocks + block];
}

/* Adds the block's total to its sum. In the first thread of the last block to do so, returns true
 * and leaves the sum at *total. */
template <class T>
__device__ __forceinline__ bool add_to_others(T *total, sum_and_count *state, unsigned blocks)
{
    if (threadIdx.x > 0)
        return false;
    const sum_and_count before = atomicAdd(state, (sum_and_count)*total << 32 | 1);
    if ((uint32_t)before + 1 < blocks)
        return false;
    *total += T(before >> 32);
    store_word(reinterpret_cast<uint64_t *>(state), 0); /* others accessed it by atomics */
    return true;
}

/* Publishes the block's total. In all threads of the last block to begin, returns true and leaves
 * the sum at *total. */
template <class T>
__device__ __forceinline__ bool collect_if_last(T *total, const block_sums<T> &sums, unsigned which,
                                                unsigned block, shared_layout<T> *shared)
{
    if (threadIdx.x == 0)
        publish(state_of(sums, which, block), *total, sums.epoch);
    if (!shared->last)
        return false;
    __syncthreads(); /* all have read the warps' totals */
    const T share = share_of_values<2>(state_of(sums, which, 0), 0u, sums.blocks, threadIdx.x,
                                       blockDim.x, sums.epoch, [] { spin_wait(); });
    *total = block_sum(share, shared->warp_totals);
    return true;
}

/* Called by all blocks of a sum, which is number `which`; `block` is the block's index among them.
 * Adds up what thread_sum() returns in their threads, and stores it as an Element. */
template <class T, class ThreadSum, class Element>
__device__ __forceinline__ void sum_of_blocks(const block_sums<T> &sums, unsigned which,
                                              unsigned block, ThreadSum thread_sum, Element *result)
{
    constexpr bool ADDS = ADDS_BY_ATOMICS<T>;
    auto *shared = shared_memory<shared_layout<T>>();
    const bool draws = !ADDS && threadIdx.x == 0;
    /* The ticket arrives while the elements are loaded. */
    const unsigned ticket = draws ? atomicAdd(&sums.tickets[which], 1u) : 0;
    T total = thread_sum();
    if (draws)
        shared->last = ticket + 1 == sums.blocks * sums.epoch;
    total = block_sum(total, shared->warp_totals);
    bool has_sum;
    if constexpr (ADDS)
        has_sum = add_to_others(&total, state_of(sums, which, block), sums.blocks);
    else
        has_sum = collect_if_last(&total, sums, which, block, shared);
    if (has_sum && threadIdx.x == 0)
        *result = narrow<Element>(total);
}

/* ---- host side ---- */

template <class T> size_t tickets_bytes(uint64_t sums)
{
    return block_sums<T>::ADDS ? 0 : next_place(sums * sizeof(unsigned));
}

template <class T> size_t block_sums_bytes(uint64_t sums, unsigned blocks)
{
    if (blocks == 1)
        return 0;
    return tickets_bytes<T>(sums) +
           sums * (block_sums<T>::ADDS ? 1 : blocks) * sizeof(typename block_sums<T>::state);
}

template <class T>
block_sums<T> block_sums_in(const struct call *call, uint64_t sums, unsigned blocks)
{
    auto *scratch = static_cast<char *>(call->scratch);
    using state = typename block_sums<T>::state;
    return {reinterpret_cast<state *>(scratch + tickets_bytes<T>(sums)),
            reinterpret_cast<unsigned *>(scratch), blocks, (uint32_t)call->epoch};
}

inline unsigned resident_threads(const struct device_limits *device)
{
    return (unsigned)device->multiprocessors * (unsigned)device->threads_per_multiprocessor;
}

/* Blocks of so many threads that the device holds at a time; at least one. */
inline unsigned resident_blocks(const struct device_limits *device, unsigned threads)
{
    const unsigned of_one = std::min((unsigned)device->blocks_per_multiprocessor,
                                     (unsigned)device->threads_per_multiprocessor / threads);
    return std::max((unsigned)device->multiprocessors * of_one, 1u);
}

} // namespace SCANBENCH_BACKEND
