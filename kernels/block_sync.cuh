/* block_sync.cuh: barriers between the levels of a tree or a Hillis-Steele scan in one block. */
#pragma once

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

constexpr unsigned WARP = 32; /* threads */

/* A barrier among the first THREADS threads of the block, called by every thread. If those are
 * one warp, each warp synchronises only its own lanes. */
template <unsigned THREADS> __device__ __forceinline__ void sync_threads()
{
    if constexpr (THREADS > WARP)
        __syncthreads();
    else
        __syncwarp();
}

} // namespace SCANBENCH_BACKEND
