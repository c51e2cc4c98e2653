/* segment_heads.cuh: at which elements segments begin, as bits.
 *
 * Rows are known from the index. Of other segments, a kernel that runs first sets a bit of scratch
 * for each element that begins one: a scan then reads n / 8 bytes, whatever the segments are. */
#pragma once

#include "pack.cuh"

namespace SCANBENCH_BACKEND
{

/* Rows of one length. A warp asks for packs at most REACH elements after a common first element. */
class row_heads
{
  public:
    static constexpr unsigned REACH = 2048, WIDEST = 16;

    explicit row_heads(uint64_t length)
        : length(length), magic(~(uint64_t)0 / length), own(0), small_magic(0), ahead(0), pattern(0)
    {
        if (length <= REACH) {
            own = (unsigned)length;
            small_magic = ~0u / own;
            ahead = (REACH + own - 1) / own * own;
        }
        for (uint64_t k = 0; k < WIDEST; k += length)
            pattern |= 1u << k;
    }

    /* From element i to some element that begins a row: the next one, or, of rows that are shorter
     * than REACH, one beyond it. */
    __device__ __forceinline__ unsigned place(uint64_t i) const
    {
        const uint64_t rest = remainder<uint64_t>(i, __umul64hi(i, magic), length);
        return ahead + (unsigned)min(rest == 0 ? 0 : length - rest, (uint64_t)FAR);
    }

    /* Bit k: does a row begin k elements after the one that is `offset` after that of `place`? */
    template <unsigned WIDTH>
    __device__ __forceinline__ unsigned bits(unsigned place, uint64_t, unsigned offset) const
    {
        /* How far the next beginning is. Of long rows, after the only one within reach: a number
         * below 0, which is large. */
        const unsigned next = place - offset;
        const unsigned from_here = remainder<unsigned>(next, __umulhi(next, small_magic), own);
        return pattern << min(from_here, WIDTH) & ((1u << WIDTH) - 1);
    }

  private:
    static constexpr unsigned FAR = 1u << 30;
    uint64_t length, magic;
    /* Of rows no longer than REACH: their length, and whole rows that reach so far. Else 0. */
    unsigned own, small_magic, ahead;
    unsigned pattern; /* the bits of a pack that begins with a row */

    /* Given a quotient that is too small by one at most. */
    template <class Index>
    static __device__ __forceinline__ Index remainder(Index i, Index quotient, Index length)
    {
        const Index rest = i - quotient * length;
        return min(rest, (Index)(rest - length)); /* which is large if rest is less than length */
    }
};

/* One bit per element. */
struct bit_heads {
    const uint32_t *words;

    __device__ __forceinline__ unsigned place(uint64_t) const
    {
        return 0;
    }
    template <unsigned WIDTH>
    __device__ __forceinline__ unsigned bits(unsigned, uint64_t first, unsigned offset) const
    {
        static_assert(32 % WIDTH == 0);
        const uint64_t i = first + offset;
        return words[i / 32] >> i % 32 & ((1u << WIDTH) - 1);
    }
};

/* Scratch for the bits. The slices of the last tile ask for those past the end, too: the largest
 * tile is that of lookback, 1024 threads with 8 packs each. */
inline size_t head_bits_bytes(const struct problem *problem)
{
    constexpr unsigned PAST_THE_END = 1024 * 8 * PACK_WIDTH<uint32_t>;
    const bool stored = problem->segments == SEGMENTS_OFFSETS || problem->segments == SEGMENTS_KEYS;
    return stored ? next_place((problem->n + PAST_THE_END) / 8) : 0;
}

/* Launches what sets the bits at `words`, for segments by offsets or keys. */
void set_head_bits(const struct call *call, uint32_t *words);

/* Calls f with the heads of the call's segments. Bits are stored at `scratch`, by launches that
 * come before those of f. */
template <class Function> void with_heads(const struct call *call, void *scratch, Function f)
{
    auto *words = static_cast<uint32_t *>(scratch);
    if (call->problem.segments == SEGMENTS_ROWS)
        return f(row_heads(call->problem.segment_length));
    set_head_bits(call, words);
    f(bit_heads{words});
}

} // namespace SCANBENCH_BACKEND
