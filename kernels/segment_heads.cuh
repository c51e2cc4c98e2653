/* segment_heads.cuh: at which elements segments begin, as bits.
 *
 * Rows are known from the index, and segments by keys from the keys, which are read like a second
 * input. Offsets are in ascending order: a block can search those of its tile. A kernel that has no
 * time for that, or asks for single elements, reads bits of scratch, one for each element, which
 * another kernel has set.
 *
 * Heads of each kind have
 *
 *   begins_at(i)   does a segment begin with element i? Offsets themselves cannot say
 *   begins<WIDTH, ROWS>(first, n, tile, earlier)   the beginnings in the slice that begins with
 *                  element `first`. Of offsets: begins(earlier, here), once find() has set the
 *                  bits of the block's tile at `here`
 *   INPUTS, in()   arrays as large as the input that these read: none, or in(), whose part for the
 *                  slice may be in shared memory, at `tile`, after `earlier` elements of it
 *   MOST_HELD      rows of such a slice that 64 registers hold */
#pragma once

#include "pack.cuh"
#include "warp.cuh"

namespace SCANBENCH_BACKEND
{

/* The beginnings in a slice. */
struct beginnings {
    unsigned bits; /* WIDTH * r + k: does one begin with element k of this lane's pack in row r? */
    uint64_t segment; /* where the segment of the slice's first element begins, or less */
};

/* Calls bits_at() with the offset of each of the lane's packs, and puts their bits together. */
template <unsigned WIDTH, unsigned ROWS, class Function>
__device__ __forceinline__ unsigned bits_of_rows(Function bits_at)
{
    static_assert(ROWS * WIDTH <= 32);
    unsigned bits = 0;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++)
        bits |= bits_at((r * WARP + lane_index()) * WIDTH) << WIDTH * r;
    return bits;
}

/* Heads that are known without a second input. */
struct heads_without_input {
    static constexpr unsigned INPUTS = 0, MOST_HELD = 8;

    __device__ __forceinline__ const uint32_t *in() const
    {
        return nullptr;
    }
};

/* Rows of one length. */
class row_heads : public heads_without_input
{
  public:
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

    __device__ __forceinline__ bool begins_at(uint64_t i) const
    {
        return i % length == 0;
    }

    /* The number of elements before element i in its row. */
    __device__ __forceinline__ uint64_t before(uint64_t i) const
    {
        return remainder<uint64_t>(i, __umul64hi(i, magic), length);
    }

    template <unsigned WIDTH, unsigned ROWS>
    __device__ __forceinline__ beginnings begins(uint64_t first, uint64_t, const uint32_t *,
                                                 unsigned) const
    {
        static_assert(WIDTH <= WIDEST && WIDTH * ROWS * WARP <= REACH);
        const uint64_t rest = before(first);
        const unsigned place = begin_after(rest);
        const unsigned bits = bits_of_rows<WIDTH, ROWS>([&](unsigned offset) {
            /* The distance to the next beginning. Only one of long rows is within REACH: for them
             * remainder() returns `next`, which wraps to a large number past that beginning. */
            const unsigned next = place - offset;
            const unsigned from_here = remainder<unsigned>(next, __umulhi(next, small_magic), own);
            return pattern << min(from_here, WIDTH) & ((1u << WIDTH) - 1);
        });
        return {bits, first - rest};
    }

  private:
    static constexpr unsigned REACH = 2048, WIDEST = 16; /* of slices and packs */
    static constexpr unsigned FAR = 1u << 30;
    uint64_t length, magic;
    /* Length of rows no longer than REACH, and whole rows that reach so far; else 0. */
    unsigned own, small_magic, ahead;
    unsigned pattern; /* the bits of a pack that begins with a row */

    /* The distance from an element, with `rest` elements of its row before it, to this or a later
     * element that begins a row: of long rows the nearest, or FAR if it is further; of rows up to
     * REACH one that is at least REACH away, so that nothing in a slice is beyond it. */
    __device__ __forceinline__ unsigned begin_after(uint64_t rest) const
    {
        return ahead + (unsigned)min(rest == 0 ? 0 : length - rest, (uint64_t)FAR);
    }

    /* Given a quotient that is too small by one at most. */
    template <class Index>
    static __device__ __forceinline__ Index remainder(Index i, Index quotient, Index length)
    {
        const Index rest = i - quotient * length;
        return min(rest, (Index)(rest - length)); /* which is large if rest is less than length */
    }
};

/* One bit per element. */
struct bit_heads : heads_without_input {
    const uint32_t *words;

    __device__ __forceinline__ bool begins_at(uint64_t i) const
    {
        return words[i / 32] >> i % 32 & 1;
    }

    template <unsigned WIDTH, unsigned ROWS>
    __device__ __forceinline__ beginnings begins(uint64_t first, uint64_t, const uint32_t *,
                                                 unsigned) const
    {
        static_assert(32 % WIDTH == 0);
        return {bits_of_rows<WIDTH, ROWS>([&](unsigned offset) {
                    const uint64_t i = first + offset;
                    return words[i / 32] >> i % 32 & ((1u << WIDTH) - 1);
                }),
                0};
    }
};

/* Offsets, those of empty segments as well. The threads of a block search and read them, and make
 * bits of them in shared memory. For arrays that fit on the chip: of fewer than 2^32 elements. */
struct offset_heads : heads_without_input {
    const uint64_t *offsets;
    uint64_t count;
    float per_element; /* segments, on average */

    struct tile_bits {
        unsigned segment; /* where that of the tile's first element begins; 0 unless asked for */
        uint32_t words[]; /* a bit for each element */
    };

    static constexpr size_t tile_bits_bytes(uint64_t size)
    {
        return sizeof(tile_bits) + ceil_div(size, 32) * sizeof(uint32_t);
    }

    /* Called by all threads of a block, for its tile of `size` elements from `first` on. */
    template <bool NEEDS_SEGMENT>
    __device__ __forceinline__ void find(uint64_t first, unsigned size, uint64_t n,
                                         tile_bits *here) const
    {
        const uint64_t end = min(first + size, n);
        for (unsigned w = threadIdx.x; 32 * w < size; w += blockDim.x)
            here->words[w] = 0;
        if (threadIdx.x == 0)
            here->segment = 0;
        uint64_t at = guess(first), least = first;
        bool searches = false;
        for (bool is_guess = count > READS * blockDim.x;; is_guess = false) {
            if (searches) [[unlikely]] {
                at = almost_lower_bound(at, least);
                at -= at > 0; /* from the offset before, which begins the tile's first segment */
            }
            uint64_t offset[READS];
#pragma unroll
            for (unsigned r = 0; r < READS; r++) {
                const uint64_t own = at + r * blockDim.x + threadIdx.x;
                offset[r] = own < count ? offsets[own] : UINT64_MAX;
            }
            const bool is_after = threadIdx.x == 0 && offset[0] > first;
            const bool is_before = threadIdx.x == blockDim.x - 1 && offset[READS - 1] < first;
            if (is_guess && __syncthreads_or(is_after || is_before)) [[unlikely]] {
                at = 0;
                searches = true;
                continue;
            }
            const bool is_end = offset[READS - 1] >= end;
            /* From here on the words are 0. After a guess the vote has seen to that, but without
             * one, a vote waits for offsets, which this barrier does not: one vote for both cases
             * was slower. Unrolled, the loop takes longer to be fetched than it saves. */
            __syncthreads();
#pragma unroll 1
            for (uint64_t from = at; from < count && from < at + READS * blockDim.x;
                 from += blockDim.x) {
                mark<NEEDS_SEGMENT>(offset[0], first, end, here);
#pragma unroll
                for (unsigned r = 1; r < READS; r++)
                    offset[r - 1] = offset[r];
            }
            if (__syncthreads_or(is_end))
                return;
            /* Any number of empty segments may begin at the same place. */
            const uint64_t next = at + READS * blockDim.x, last = offsets[next - 1];
            searches = offsets[at] == last;
            at = next;
            least = last + 1;
        }
    }

    /* Those in the slice that begins with element `earlier` of the tile. */
    template <unsigned WIDTH, unsigned ROWS>
    static __device__ __forceinline__ beginnings begins(unsigned earlier, const tile_bits *here)
    {
        static_assert(32 % WIDTH == 0);
        return {bits_of_rows<WIDTH, ROWS>([&](unsigned offset) {
                    const unsigned place = earlier + offset;
                    return here->words[place / 32] >> place % 32 & ((1u << WIDTH) - 1);
                }),
                here->segment};
    }

  private:
    static constexpr unsigned READS = 4; /* offsets that a thread loads at a time */

    /* A little before the tile's first offset, if segments are of about the same length: a block
     * that reads from there on need not search. */
    __device__ __forceinline__ uint64_t guess(uint64_t first) const
    {
        const unsigned window = READS * blockDim.x;
        if (count <= window)
            return 0;
        const auto even = (uint64_t)((float)first * per_element);
        return even > window / 4 ? even - window / 4 : 0;
    }

    /* Called by all lanes of a warp, each with an offset: sets the bits of those in the tile from
     * `first` to `end`, and, if it NEEDS_SEGMENT, notes the last one up to `first`. */
    template <bool NEEDS_SEGMENT>
    static __device__ __forceinline__ void mark(uint64_t offset, uint64_t first, uint64_t end,
                                                tile_bits *here)
    {
        if (first <= offset && offset < end) {
            const auto place = (unsigned)(offset - first);
            atomicOr(&here->words[place / 32], 1u << place % 32);
        }
        if constexpr (NEEDS_SEGMENT) {
            const unsigned before = __ballot_sync(ALL_LANES, offset <= first);
            if (before != 0 && lane_index() == last_lane(before))
                atomicMax(&here->segment, (unsigned)offset);
        }
    }

    /* Returns an index, at or before that of the first offset of at least i from index `from` on,
     * but less than READS * blockDim.x before it. All threads of the block call it. Each round
     * leaves one of 2^log2_threads parts of the offsets. */
    __device__ __forceinline__ uint64_t almost_lower_bound(uint64_t from, uint64_t i) const
    {
        const unsigned log2_threads = 31 - __clz((int)blockDim.x);
        uint64_t end = count;
        while (from + READS * blockDim.x <= end) {
            const uint64_t part = ((end - from) >> log2_threads) + 1;
            const uint64_t last = from + (threadIdx.x + 1) * part - 1;
            const bool is_less = last < end && offsets[last] < i;
            from += (unsigned)__syncthreads_count(is_less) * part;
            end = min(end, from + part - 1);
        }
        return from;
    }
};

/* A segment begins with each key that differs from the one before. */
struct key_heads {
    static constexpr unsigned INPUTS = 1, MOST_HELD = 4;
    const uint32_t *keys;

    __device__ __forceinline__ const uint32_t *in() const
    {
        return keys;
    }

    __device__ __forceinline__ bool begins_at(uint64_t i) const
    {
        return i == 0 || keys[i] != keys[i - 1];
    }

    template <unsigned WIDTH, unsigned ROWS>
    __device__ __forceinline__ beginnings begins(uint64_t first, uint64_t n, const uint32_t *tile,
                                                 unsigned earlier) const
    {
        constexpr unsigned ROW = WARP * WIDTH;
        const unsigned lane = lane_index();
        pack<uint32_t, WIDTH> row[ROWS];
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            row[r] = tile != nullptr
                         ? *reinterpret_cast<const pack<uint32_t, WIDTH> *>(tile + r * ROW +
                                                                            lane * WIDTH)
                         : load_pack<uint32_t, WIDTH>(keys, first + r * ROW + lane * WIDTH, n);
        uint32_t last = 0; /* key before the row */
        if (first > 0 && first < n)
            last = earlier > 0 ? tile[-1] : keys[first - 1];
        unsigned bits = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const uint32_t left = shuffle_up(row[r].at[WIDTH - 1], 1);
            uint32_t before = lane > 0 ? left : last;
            last = shuffle_from(row[r].at[WIDTH - 1], WARP - 1);
#pragma unroll
            for (unsigned k = 0; k < WIDTH; k++) {
                bits |= (unsigned)(row[r].at[k] != before) << (WIDTH * r + k);
                before = row[r].at[k];
            }
        }
        return {first == 0 && lane == 0 ? bits | 1 : bits, 0};
    }
};

/* Scratch for the bits. The slices of the last tile ask for those past the end, too: the largest
 * tile is that of lookback, 1024 threads with 8 packs each. */
inline size_t head_bits_bytes(const struct problem *problem)
{
    constexpr unsigned PAST_THE_END = 1024 * 8 * PACK_WIDTH<uint32_t>;
    return problem->segments == SEGMENTS_OFFSETS ? next_place((problem->n + PAST_THE_END) / 8) : 0;
}

inline offset_heads offsets_of(const struct call *call)
{
    const struct problem *problem = &call->problem;
    return {{},
            static_cast<const uint64_t *>(call->second),
            problem->segment_count,
            (float)problem->segment_count / (float)problem->n};
}

/* Launches what makes bits of the call's offsets, at `scratch`. */
bit_heads bits_of_offsets(const struct call *call, void *scratch);

/* Calls f with the heads of the call's segments: if they are at offsets, with of_offsets(). */
template <class OfOffsets, class Function>
void with_heads(const struct call *call, OfOffsets of_offsets, Function f)
{
    if (call->problem.segments == SEGMENTS_ROWS)
        return f(row_heads(call->problem.segment_length));
    if (call->problem.segments == SEGMENTS_KEYS)
        return f(key_heads{static_cast<const uint32_t *>(call->second)});
    f(of_offsets());
}

} // namespace SCANBENCH_BACKEND
