/* shuffle_tile.cuh: the scan of a tile in registers, for scan_by_tiles(). The order is kept, so
 * that operands need not commute. */
#pragma once

#include "divide_and_conquer.cuh"
#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned BLOCK> struct shuffle_tile {
    static constexpr unsigned PER_THREAD = PACK_WIDTH<T>;

    struct shared {
        T totals[BLOCK / WARP];
    };
    static constexpr size_t SHARED_BYTES = sizeof(shared);

    static __device__ __forceinline__ pack<T, PER_THREAD> prefixes(pack<T, PER_THREAD> x,
                                                                   bool inclusive, T *total)
    {
        T mine = x.at[0];
        for (unsigned k = 1; k < PER_THREAD; k++)
            mine += x.at[k];
        const T through = warp_inclusive_sum(mine);
        const T warp_total = shuffle_from(through, WARP - 1);
        const T left = shuffle_up(through, 1);
        T sum = block_exclusive_sum<T>(warp_total, shared_memory<shared>()->totals, total);
        if (lane_index() > 0)
            sum += left;

        pack<T, PER_THREAD> sums;
        for (unsigned k = 0; k < PER_THREAD; k++) {
            const T before = sum;
            sum += x.at[k];
            sums.at[k] = inclusive ? sum : before;
        }
        return sums;
    }
};

} // namespace SCANBENCH_BACKEND
