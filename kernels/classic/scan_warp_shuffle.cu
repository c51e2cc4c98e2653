/* scan_warp_shuffle: registers and shuffles instead of shared memory.
 * Source:  Harris and Garland, "Optimizing parallel prefix operations for the
 *          Fermi architecture", GPU Computing Gems Jade, 2011.
 * Work:    O(n). Depth: two warp scans per tile, log_tile(n) levels.
 * DRAM:    4n elements: tiles read and written, then once more for uniform add.
 * Shared:  totals[warps], all that the warps of a block exchange.
 * Relies:  on shuffles, which exchange registers within a warp without a barrier. */
#include "shuffle_tile.cuh"

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
