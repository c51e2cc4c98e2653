/* grid_barrier.cuh: a barrier of all blocks of a launch, for sorts whose steps share one launch. */
#pragma once

#include "../launch.cuh"

namespace SCANBENCH_BACKEND
{

/* All blocks arrive before any goes on, and see what the others wrote. All of them must be
 * resident. The counter is never set back. */
__device__ __forceinline__ void grid_barrier(unsigned long long *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned long long ticket = atomicAdd(arrived, 1ull);
        const unsigned long long all = (ticket / gridDim.x + 1) * gridDim.x;
        while (load_word(reinterpret_cast<uint64_t *>(arrived)) < all)
            spin_wait();
        __threadfence();
    }
    __syncthreads();
}

} // namespace SCANBENCH_BACKEND
