/* scan_efficient_smem_padded: Blelloch's scan without bank conflicts.
 * Source:  GPU Gems 3, chapter 39, section 39.2.3.
 * Work, depth, DRAM: as efficient-smem.
 * Shared:  tree[block + block/32], one unused word after every 32; total.
 * Relies:  on 32 banks of 4 bytes. The tree's strides are powers of two: without
 *          padding, threads of a warp 2^k leaves apart access the same bank. */
#include "blelloch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned BLOCK> using padded_tile = blelloch_tile<T, BLOCK, padded_layout>;

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_efficient_smem_padded) = {
    .name = "efficient-smem-padded",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 128,
    .summary = "efficient-smem with padding against bank conflicts",
    .source = "GPU Gems 3 ch. 39.2.3",
    .scratch_bytes = SCANBENCH_BACKEND::scan_by_tiles_scratch_bytes<SCANBENCH_BACKEND::padded_tile>,
    .run = SCANBENCH_BACKEND::scan_by_tiles<SCANBENCH_BACKEND::padded_tile>,
};
