/* narrow_leaf.cuh: one block sorts some thousand keys of 16 bits, as leaf_sort sorts their ranks in
 * words. */
#pragma once

#include "leaf_sort.cuh"

namespace SCANBENCH_BACKEND::leaf_sort
{

/* What `result` is for keys of words. */
struct narrow_result {
    uint16_t *aligned;
    unsigned first, end;
    unsigned lowest; /* ranks are counted from it */
    key_order<uint16_t> order;
};

template <class Order>
__device__ __forceinline__ uint16_t key_at(const narrow_result &result, uint32_t rank)
{
    return result.order.inverse(uint16_t(rank + result.lowest));
}

/* The block's agent for it, in shared memory. MOST: the most keys per thread. */
template <unsigned THREADS, unsigned MOST> struct narrow_agent {
    using Order = unsigned_order<uint32_t>;
    using words = agent<uint32_t, THREADS, MOST>;
    words of_ranks;

    template <unsigned COUNT>
    __device__ __forceinline__ void sort_held(const uint16_t *from, unsigned count, uint16_t *out,
                                              const key_order<uint16_t> &order)
    {
        tile_keys<uint32_t, THREADS, COUNT> ranks;
        ranks.count = count;
        ranks.load(from);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            ranks.rank[k] = order(uint16_t(ranks.rank[k]));
        of_ranks.clear_bins();
        const extent<uint32_t> range = of_ranks.extent_of(ranks);
        const auto at = result_at(out, count);
        const narrow_result result = {at.aligned, at.first, at.end, range.lowest, order};
        if (range.lowest == range.highest) {
            ranks.for_each([&](unsigned k) { out[ranks.index(k)] = key_at<Order>(result, 0); });
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            ranks.rank[k] -= range.lowest;
        const unsigned bits = bit_length(range.highest - range.lowest);
        const unsigned shift = bits > words::LOG2_BINS ? bits - words::LOG2_BINS : 0;
        const rank_bins<uint32_t> bins = {shift};
        const bool bin_is_value = shift == 0;
        if (bin_is_value || !of_ranks.seem_skewed(ranks, bins)) {
            const unsigned most = of_ranks.template place_by_bins<Order>(ranks, bins, result);
            if (bin_is_value)
                return of_ranks.template write_ranks<Order>(result);
            if (of_ranks.template finish<Order>(result, most))
                return;
        }
        /* Skewed keys. Two digits take less time than to merge. */
        uint32_t *all = of_ranks.ranks;
        ranks.for_each([&](unsigned k) { all[ranks.index(k)] = ranks.rank[k]; });
        __syncthreads();
        of_ranks.template sort_by_digits<COUNT, Order>(all, count, all);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count; i += THREADS)
            out[i] = key_at<Order>(result, all[i]);
    }

    /* Sorts from[0..count), of at least one key, into out, which may be the same place. */
    __device__ __forceinline__ void sort(const uint16_t *from, unsigned count, uint16_t *out,
                                         const key_order<uint16_t> &order)
    {
        if (count <= MOST / 2 * THREADS)
            sort_held<MOST / 2>(from, count, out, order);
        else
            sort_held<MOST>(from, count, out, order);
    }
};

} // namespace SCANBENCH_BACKEND::leaf_sort
