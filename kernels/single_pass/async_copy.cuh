/* async_copy.cuh: bulk copies from global to shared memory, and the barriers they complete on
 * (mbarrier); sm_90 or newer.
 *
 * A barrier goes through phases. A phase completes when as many threads have arrived as the
 * barrier was initialised for, and all expected bytes have arrived. A waiting thread names the
 * parity of the phase, 0 for the first. Everything written or copied before an arrival is
 * visible to threads that have waited for the phase.
 *
 * A warp waits as a whole, in warp_wait(). If one lane went on and arrived elsewhere before
 * another lane had checked the barrier, the barrier could be two phases further by then, and
 * would look unchanged to that lane. */
#ifndef SCANBENCH_KERNELS_SINGLE_PASS_ASYNC_COPY_CUH
#define SCANBENCH_KERNELS_SINGLE_PASS_ASYNC_COPY_CUH

#include "../pack.cuh"
#include "../warp.cuh"

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

/* Call it after the last mbarrier_init() and before the __syncthreads() that shows the barriers
 * to other threads. It makes them visible to copies as well. */
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

/* Makes the phase wait for `bytes` more bytes. The caller must not have arrived in it yet. */
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

/* Both addresses and the size are multiples of 16 bytes.
 *
 * The L2 is asked to evict the last read lines last, although nobody reads them again: results
 * then leave the L2 in place of the input, early and in longer runs, and DRAM switches less
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

/* Called by each thread that wrote to shared memory with ordinary stores, before it signals
 * that a bulk copy may overwrite the same place. */
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

/* Called by one warp: copies `size` elements from index `first` of an array of n to shared
 * memory, with zeros past its end. Both sides are aligned to 16 bytes. The elements are there
 * when the phase completes, for which all lanes arrive. */
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
        /* The partial pack at the end of the array is loaded while zeros are stored. */
        const pack<T, WIDTH> cut = load_pack<T, WIDTH>(array, first + behind, n);
        for (unsigned i = behind + WARP * WIDTH; i < size; i += WARP * WIDTH)
            *reinterpret_cast<pack<T, WIDTH> *>(to + i) = {};
        *reinterpret_cast<pack<T, WIDTH> *>(to + behind) = cut;
    }
    mbarrier_arrive(barrier);
}
#else
/* Stub for branches that such kernels never take. */
__device__ __forceinline__ void warp_wait(mbarrier *, unsigned)
{
}
#endif

} // namespace SCANBENCH_BACKEND

#endif
