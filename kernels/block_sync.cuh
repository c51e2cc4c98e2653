/* block_sync.cuh: barriers between the levels of a tree or a ladder in one block. */
#ifndef SCANBENCH_KERNELS_BLOCK_SYNC_CUH
#define SCANBENCH_KERNELS_BLOCK_SYNC_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

constexpr unsigned WARP = 32; /* threads */

/* A barrier among the first THREADS threads' warps' block: where those are one
 * warp, that warp alone need wait. Called by every thread of the block. */
template <unsigned THREADS> __device__ __forceinline__ void sync_threads()
{
    if constexpr (THREADS > WARP)
        __syncthreads();
    else
        __syncwarp();
}

} // namespace SCANBENCH_BACKEND

#endif
