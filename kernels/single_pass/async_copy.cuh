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
#pragma once

#include "../pack.cuh"
#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

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
    const auto there = span_of(array, first, n, size);
    const unsigned copied = there.count / WIDTH * WIDTH;
    if (lane_index() == 0 && copied > 0) {
        mbarrier_expect(barrier, copied * sizeof(T));
        bulk_copy_to_shared(to, there.data, copied * sizeof(T), barrier);
    }
    const unsigned past = copied + lane_index() * WIDTH;
    if (past < size) {
        /* The partial pack at the end of the array is loaded while zeros are stored. */
        const pack<T, WIDTH> cut = load_pack<T, WIDTH>(there.data, past, there.count);
#pragma unroll 1 /* seldom executed */
        for (unsigned i = past + WARP * WIDTH; i < size; i += WARP * WIDTH)
            *reinterpret_cast<pack<T, WIDTH> *>(to + i) = {};
        *reinterpret_cast<pack<T, WIDTH> *>(to + past) = cut;
    }
    mbarrier_arrive(barrier);
}

} // namespace SCANBENCH_BACKEND
