/* async_copy.cuh: bulk copies from global to shared memory, and the barriers they
 * complete on (mbarrier), from sm_90 on.
 *
 * A barrier goes through phases. One is over when as many threads have arrived as
 * it was made for, and all bytes it was told to expect are there. Who waits names
 * the parity of the phase: 0 for the first. What was written before an arrival,
 * or copied, is seen by who has waited for the phase.
 *
 * Warps wait as a whole, warp_wait(): were one lane to go on and arrive elsewhere
 * while another has not looked yet, the barrier could be two phases further when
 * that one does, and look to it as if nothing had happened. */
#ifndef SCANBENCH_KERNELS_ASYNC_COPY_CUH
#define SCANBENCH_KERNELS_ASYNC_COPY_CUH

#include "block_sync.cuh"

namespace SCANBENCH_BACKEND
{

#ifndef __CUDACC__

using mbarrier = emulated_mbarrier;

inline void mbarrier_init(mbarrier *barrier, unsigned arrivals)
{
    barrier->init(arrivals);
}

inline void mbarrier_publish_init()
{
}

inline void mbarrier_arrive(mbarrier *barrier)
{
    barrier->arrive();
}

inline void mbarrier_arrive_expecting(mbarrier *barrier, unsigned bytes)
{
    barrier->expect(bytes);
    barrier->arrive();
}

inline void mbarrier_wait(mbarrier *barrier, unsigned parity)
{
    barrier->wait(parity);
}

inline void bulk_copy_to_shared(void *to, const void *from, unsigned bytes, mbarrier *barrier)
{
    barrier->copy(to, from, bytes);
}

inline void order_writes_before_bulk_copies()
{
}

#else

struct mbarrier {
    uint64_t state;
};

__device__ __forceinline__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ __forceinline__ void mbarrier_init(mbarrier *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

/* Between the last mbarrier_init() and the __syncthreads() that shows it to others:
 * copies see it too then. */
__device__ __forceinline__ void mbarrier_publish_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::
                     : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(mbarrier *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Arrives, and has the phase wait for so many bytes more. */
__device__ __forceinline__ void mbarrier_arrive_expecting(mbarrier *barrier, unsigned bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

__device__ __forceinline__ void mbarrier_wait(mbarrier *barrier, unsigned parity)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{\n\t"
                     ".reg .pred over;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, over;\n\t"
                     "}"
                     : "=r"(over)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}

/* Both ends and the size are multiples of 16 bytes. */
__device__ __forceinline__ void bulk_copy_to_shared(void *to, const void *from, unsigned bytes,
                                                    mbarrier *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* By each thread that wrote to shared memory by ordinary stores, before it lets
 * others know that a bulk copy may go to the same place. */
__device__ __forceinline__ void order_writes_before_bulk_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ __forceinline__ void warp_wait(mbarrier *barrier, unsigned parity)
{
    mbarrier_wait(barrier, parity);
    __syncwarp();
}
#endif

} // namespace SCANBENCH_BACKEND

#endif
