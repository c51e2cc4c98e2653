/* scan_warp_shuffle: registers and shuffles instead of shared memory.
 * Source:  Harris and Garland, "Optimizing parallel prefix operations for the
 *          Fermi architecture", GPU Computing Gems Jade, 2011.
 * Work:    O(n). Depth: two warp scans per tile, log_tile(n) levels.
 * DRAM:    4n elements: tiles read and written, then once more for uniform add.
 * Shared:  totals[warps], all that the warps of a block exchange.
 * Relies:  on shuffles, which exchange registers within a warp without a barrier. */
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

ALGORITHM_DESCRIPTOR(scan_warp_shuffle) = {
    .name = "warp-shuffle",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 256,
    .summary = "registers and warp shuffles within a block, divide and conquer above",
    .source = "Harris and Garland 2011",
    .scratch_bytes =
        SCANBENCH_BACKEND::scan_by_tiles_scratch_bytes<SCANBENCH_BACKEND::shuffle_tile>,
    .run = SCANBENCH_BACKEND::scan_by_tiles<SCANBENCH_BACKEND::shuffle_tile>,
};
