/* scan_efficient_smem: Blelloch's work-efficient scan in shared memory.
 * Source:  Blelloch 1990; GPU Gems 3, chapter 39, example 39-2.
 * Work:    O(n). Depth: 2 log2(tile) steps per tile, log_tile(n) levels.
 * DRAM:    4n elements: tiles read and written, then once more for uniform add.
 * Shared:  tree[block], one leaf per thread, two elements per leaf; total.
 * Relies:  on nothing. Its bank conflicts are left in on purpose;
 *          efficient-smem-padded removes them. */
#include "blelloch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned BLOCK> using dense_tile = blelloch_tile<T, BLOCK, dense_layout>;

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_efficient_smem) = {
    .name = "efficient-smem",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 128,
    .summary = "Blelloch in shared memory, two elements per thread, divide and conquer",
    .source = "Blelloch 1990; GPU Gems 3 ch. 39",
    .scratch_bytes = SCANBENCH_BACKEND::scan_by_tiles_scratch_bytes<SCANBENCH_BACKEND::dense_tile>,
    .run = SCANBENCH_BACKEND::scan_by_tiles<SCANBENCH_BACKEND::dense_tile>,
};
