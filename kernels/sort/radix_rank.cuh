/* radix_rank.cuh: stable ranks of keys among those with the same digit.
 *
 * No order of atomics is relied on: lanes with the same digit find each other by
 * ballots, and the highest of them counts for all. (match.any would say the same in one
 * instruction, which takes longer than eight ballots.) */
#pragma once

#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

__device__ __forceinline__ unsigned lanes_below()
{
    return (1u << lane_index()) - 1;
}

__device__ __forceinline__ unsigned lanes_above()
{
    return ~1u << lane_index();
}

/* The digit that a pass sorts by. Passes begin with the lowest BITS bits. */
template <unsigned BITS, class Key>
__device__ __forceinline__ unsigned digit_of(Key rank, unsigned pass)
{
#ifdef __CUDACC__
    if constexpr (BITS == 8 && sizeof(Key) == 4) /* this is one instruction */
        return __byte_perm(rank, 0, 0x4440 + pass);
#endif
    return (unsigned)(rank >> (BITS * pass)) & ((1u << BITS) - 1);
}

/* The lanes whose digit has the same value of the masked bit as this lane's. */
__device__ __forceinline__ unsigned lanes_alike(unsigned digit, unsigned mask)
{
#ifdef __CUDACC__
    /* The compiler makes twice as many instructions of the lines below. */
    unsigned alike;
    asm volatile("{ .reg .pred is_set;\n"
                 "and.b32 %0, %1, %2;\n"
                 "setp.ne.u32 is_set, %0, 0;\n"
                 "vote.sync.ballot.b32 %0, is_set, 0xFFFFFFFF;\n"
                 "@!is_set not.b32 %0, %0; }"
                 : "=r"(alike)
                 : "r"(digit), "r"(mask));
    return alike;
#else
    const bool is_set = (digit & mask) != 0;
    const unsigned set = __ballot_sync(ALL_LANES, is_set);
    return is_set ? set : ~set;
#endif
}

/* The lanes with the same digit of BITS bits. */
template <unsigned BITS> __device__ __forceinline__ unsigned peers_of(unsigned digit)
{
    unsigned peers = ALL_LANES;
#pragma unroll
    for (unsigned b = 0; b < BITS; b++)
        peers &= lanes_alike(digit, 1u << b);
    return peers;
}

/* The place in a tile of element k of this thread's COUNT. Each warp has rows of 32 neighbours, one
 * for each k. Keys are ranked in this order, or ranks would not be stable. */
template <unsigned COUNT> __device__ __forceinline__ unsigned index_in_tile(unsigned k)
{
    return threadIdx.x / WARP * WARP * COUNT + lane_index() + k * WARP;
}

/* Counts a row of digits, one per lane, in the warp's own counters. Returns the counter as it was,
 * plus one for each lower lane with the same digit. If counters begin with zero, this is the number
 * of earlier keys of the warp with the same digit. If they begin with the place of the digit's
 * first key, it is the key's place. */
template <unsigned BITS>
__device__ __forceinline__ unsigned rank_in_warp(unsigned digit, unsigned *counts)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
    /* Keeps ptxas from voting on several keys at once: for sm_100 that of CUDA 13.0 runs out of
     * predicates, and does not compile pairs. */
    asm volatile("" : "+r"(digit));
#endif
    const unsigned peers = peers_of<BITS>(digit);
    const unsigned rank = counts[digit] + __popc(peers & lanes_below());
    __syncwarp(); /* all have read */
    if ((peers & lanes_above()) == 0)
        counts[digit] = rank + 1;
    __syncwarp(); /* the next row may have the digit in other lanes */
    return rank;
}

/* Clears a warp's counters, some by each lane. */
template <unsigned DIGITS> __device__ __forceinline__ void clear_counters(unsigned *own)
{
    for (unsigned d = lane_index(); d < DIGITS; d += WARP)
        own[d] = 0;
}

/* Counters for the digits of each warp, and then the places where they start. */
template <unsigned WARPS, unsigned DIGITS> struct warp_counts {
    unsigned of_warp[WARPS][DIGITS];
};

/* The keys of one digit in a tile sorted by digit. */
struct digit_run {
    unsigned count, start;
};

/* Turns counts into starts: of_warp[w][d] becomes the number of keys with a lower digit, or
 * with this digit in a lower warp. The block has WARPS warps, at least DIGITS threads, and has
 * passed a barrier since it counted. Returns to thread d < DIGITS the run of digit d, and calls
 * tell() with its count as soon as that is known. One barrier is needed before starts are read. */
template <unsigned WARPS, unsigned DIGITS, class Tell>
__device__ __forceinline__ digit_run starts_of_digits(warp_counts<WARPS, DIGITS> *counts,
                                                      unsigned *warp_totals, Tell tell)
{
    static_assert(DIGITS % WARP == 0 && DIGITS <= WARPS * WARP);
    const unsigned digit = threadIdx.x;
    unsigned count = 0;
    if (digit < DIGITS) {
#pragma unroll
        for (unsigned w = 0; w < WARPS; w++)
            count += counts->of_warp[w][digit];
        tell(count);
    }
    const unsigned start = sum_of_earlier_threads(count, warp_totals);
    if (digit < DIGITS) {
        unsigned next = start;
#pragma unroll
        for (unsigned w = 0; w < WARPS; w++) {
            const unsigned here = counts->of_warp[w][digit];
            counts->of_warp[w][digit] = next;
            next += here;
        }
    }
    return {count, start};
}

} // namespace SCANBENCH_BACKEND
