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
        : length(length), magic(length > 1 ? ~(uint64_t)0 / length : 0),
          small_magic(length > 1 && length <= REACH ? ~0u / (unsigned)length : 0), pattern(0)
    {
        for (uint64_t k = 0; k < WIDEST; k += length)
            pattern |= 1u << k;
    }

    /* The place of an element in its row. */
    __device__ __forceinline__ uint64_t place(uint64_t i) const
    {
        if (length == 1)
            return 0;
        uint64_t rest = i - __umul64hi(i, magic) * length;
        while (rest >= length) /* twice at most: the quotient is rounded down */
            rest -= length;
        return rest;
    }

    /* Bit k: does a row begin k elements after the one that is `offset` after `first`, whose place
     * is given? */
    template <unsigned WIDTH>
    __device__ __forceinline__ unsigned bits(uint64_t place_of_first, uint64_t /* first */,
                                             unsigned offset) const
    {
        uint64_t place = place_of_first + offset;
        if (length <= REACH) {
            const unsigned near = (unsigned)place, own = (unsigned)length;
            unsigned rest = near - __umulhi(near, small_magic) * own;
            while (rest >= own)
                rest -= own;
            place = length == 1 ? 0 : rest;
        } else if (place >= length) {
            place -= length;
        }
        const uint64_t ahead = place == 0 ? 0 : length - place;
        return ahead < WIDTH ? pattern << ahead & ((1u << WIDTH) - 1) : 0;
    }

  private:
    uint64_t length;
    uint64_t magic; /* the quotient by it is too small by one or two at most */
    unsigned small_magic;
    unsigned pattern; /* the bits of a pack that begins with a row */
};

/* One bit per element. */
struct bit_heads {
    static constexpr unsigned REACH = ~0u;
    const uint32_t *words;

    __device__ __forceinline__ uint64_t place(uint64_t) const
    {
        return 0;
    }
    template <unsigned WIDTH>
    __device__ __forceinline__ unsigned bits(uint64_t, uint64_t first, unsigned offset) const
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
