/* radix_rank.cuh: stable ranks of keys among those with the same digit.
 *
 * No order of atomics is relied on: lanes with the same digit find each other by
 * ballots, and one of them counts for all. (match.any would say the same in one
 * instruction, which takes longer than eight ballots.) */
#ifndef SCANBENCH_KERNELS_RADIX_RANK_CUH
#define SCANBENCH_KERNELS_RADIX_RANK_CUH

#include "warp.cuh"

namespace SCANBENCH_BACKEND
{

__device__ __forceinline__ unsigned lanes_below()
{
    return (1u << lane_index()) - 1;
}

/* The lanes with the same digit of BITS bits. */
template <unsigned BITS> __device__ __forceinline__ unsigned peers_of(unsigned digit)
{
    unsigned peers = ALL_LANES;
#pragma unroll
    for (unsigned b = 0; b < BITS; b++) {
        const bool is_set = (digit >> b & 1) != 0;
        const unsigned set = __ballot_sync(ALL_LANES, is_set);
        peers &= is_set ? set : ~set;
    }
    return peers;
}

/* Counts a row of digits, one per lane, in the warp's own counters. Returns the number of
 * earlier keys of this warp with the same digit: of earlier rows, and of lower lanes. */
template <unsigned BITS>
__device__ __forceinline__ unsigned rank_in_warp(unsigned digit, unsigned *counts)
{
    const unsigned peers = peers_of<BITS>(digit);
    const unsigned leader = __ffs((int)peers) - 1;
    unsigned before = 0;
    if (lane_index() == leader)
        before = atomicAdd(&counts[digit], (unsigned)__popc(peers));
    before = __shfl_sync(ALL_LANES, before, (int)leader);
    __syncwarp(); /* the next row's leader may be another lane */
    return before + __popc(peers & lanes_below());
}

/* Counters for the digits of each warp, and then the places where they start. */
template <unsigned WARPS, unsigned DIGITS> struct warp_counts {
    unsigned of_warp[WARPS][DIGITS];
};

/* Turns counts into starts: of_warp[w][d] becomes the number of keys with a lower digit, or
 * with this digit in a lower warp. The block has WARPS warps, at least DIGITS threads, and has
 * passed a barrier since it counted. Returns to thread d < DIGITS the count of digit d; its
 * start is of_warp[0][d]. One barrier is needed before they are read. */
template <unsigned WARPS, unsigned DIGITS>
__device__ __forceinline__ unsigned starts_of_digits(warp_counts<WARPS, DIGITS> *counts,
                                                     unsigned *warp_totals)
{
    static_assert(DIGITS % WARP == 0 && DIGITS <= WARPS * WARP);
    const unsigned digit = threadIdx.x;
    unsigned count = 0;
    if (digit < DIGITS)
        for (unsigned w = 0; w < WARPS; w++) {
            const unsigned here = counts->of_warp[w][digit];
            counts->of_warp[w][digit] = count;
            count += here;
        }
    const unsigned inclusive = warp_inclusive_sum(count);
    if (lane_index() == WARP - 1)
        warp_totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    const unsigned start = sum_of_first(threadIdx.x / WARP, warp_totals) + inclusive - count;
    if (digit < DIGITS)
        for (unsigned w = 0; w < WARPS; w++)
            counts->of_warp[w][digit] += start;
    return count;
}

} // namespace SCANBENCH_BACKEND

#endif
