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

#include "pack.cuh"
#include "warp.cuh"

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

inline void mbarrier_expect(mbarrier *barrier, unsigned bytes)
{
    barrier->expect(bytes);
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

/* Has the phase wait for so many bytes more; by who has yet to arrive in it. */
__device__ __forceinline__ void mbarrier_expect(mbarrier *barrier, unsigned bytes)
{
    asm volatile("mbarrier.expect_tx.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
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

/* Both ends and the size are multiples of 16 bytes.
 *
 * The L2 is asked to evict what was read last, though nobody wants it again: results
 * then leave it in place of the input, early and in longer runs, and DRAM turns less
 * often between reading and writing (4 % of a scan's time at 2^29 on an H200). */
__device__ __forceinline__ void bulk_copy_to_shared(void *to, const void *from, unsigned bytes,
                                                    mbarrier *barrier)
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)),
                 "l"(policy)
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

/* By one warp: `size` elements from number `first` of an array of n on, and zeros
 * behind its end, to shared memory; aligned to 16 bytes, all of it. They are there
 * when the phase is over, for which all lanes arrive. */
template <class T>
__device__ __forceinline__ void bulk_load(T *to, unsigned size, const T *array, uint64_t first,
                                          uint64_t n, mbarrier *barrier)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const unsigned there = first >= n ? 0 : n - first < size ? (unsigned)(n - first) : size;
    const unsigned copied = there / WIDTH * WIDTH;
    if (lane_index() == 0 && copied > 0) {
        mbarrier_expect(barrier, copied * sizeof(T));
        bulk_copy_to_shared(to, array + first, copied * sizeof(T), barrier);
    }
    const unsigned behind = copied + lane_index() * WIDTH;
    if (behind < size) {
        /* Of a pack that the end cuts, what is there: on its way while zeros are stored. */
        const pack<T, WIDTH> cut = load_pack<T, WIDTH>(array, first + behind, n);
        for (unsigned i = behind + WARP * WIDTH; i < size; i += WARP * WIDTH)
            *reinterpret_cast<pack<T, WIDTH> *>(to + i) = {};
        *reinterpret_cast<pack<T, WIDTH> *>(to + behind) = cut;
    }
    mbarrier_arrive(barrier);
}
#else
/* For kernels that have a branch they do not take there. */
__device__ __forceinline__ void warp_wait(mbarrier *, unsigned)
{
}
#endif

} // namespace SCANBENCH_BACKEND

#endif
