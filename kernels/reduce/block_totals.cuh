/* block_totals.cuh: the sum of what several blocks have, by the last of them to finish. No block
 * waits for another.
 *
 * Relies: on a fence between a block's total and its ticket: the block with the last ticket sees
 * all totals. */
#pragma once

#include "../pack.cuh"
#include "../warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* Loads in flight per thread. */
constexpr unsigned PACKS = 4;

template <class T> struct shared_layout {
    T warp_totals[1024 / WARP];
    bool last; /* this block is the last of the call to store its total */
};

/* Counts finished blocks over all calls since prepare(); never reset. */
using ticket_counter = unsigned;

/* A block among those that share a sum. */
template <class T> struct block_share {
    T *totals; /* one per block, in global memory */
    ticket_counter *tickets;
    unsigned blocks, index;
    unsigned last_ticket;
};

/* Every thread gets the sum over the block. One barrier. */
template <class T> __device__ __forceinline__ T block_sum(T sum, T *warp_totals)
{
    sum = warp_sum(sum);
    if (lane_index() == 0)
        warp_totals[threadIdx.x / WARP] = sum;
    __syncthreads();
    return sum_of_first(blockDim.x / WARP, warp_totals);
}

/* A total's bits, for accesses that are to bypass the L1. */
template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 8, unsigned long long,
    std::conditional_t<sizeof(T) == 4, unsigned,
                       std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;

template <class T> __device__ __forceinline__ void store_to_l2(T *place, T total)
{
    bits_of<T> bits;
    memcpy(&bits, &total, sizeof bits);
    __stcg(reinterpret_cast<bits_of<T> *>(place), bits);
}

template <class T> __device__ __forceinline__ T load_from_l2(const T *place)
{
    const bits_of<T> bits = __ldcg(reinterpret_cast<const bits_of<T> *>(place));
    T total;
    memcpy(&total, &bits, sizeof total);
    return total;
}

/* Stores the block's total. Returns true in the last block to do so. */
template <class T>
__device__ __forceinline__ bool publish_total(T total, const block_share<T> &share, bool *last)
{
    if (threadIdx.x == 0) {
        store_to_l2(&share.totals[share.index], total);
        __threadfence();
        *last = atomicAdd(share.tickets, 1u) == share.last_ticket;
        __threadfence();
    }
    __syncthreads();
    return *last;
}

/* Called by every block of a share with its total, the same in all threads: stores their sum as an
 * Element. */
template <class T, class Element>
__device__ __forceinline__ void sum_of_blocks(T total, const block_share<T> &share,
                                              shared_layout<T> *shared, Element *result)
{
    if (share.blocks > 1) {
        if (!publish_total(total, share, &shared->last))
            return;
        T sum = T(0);
        for (unsigned b = threadIdx.x; b < share.blocks; b += blockDim.x)
            sum += load_from_l2(&share.totals[b]);
        total = block_sum(sum, shared->warp_totals);
    }
    if (threadIdx.x == 0)
        *result = narrow<Element>(total);
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
