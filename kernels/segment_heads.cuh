/* segment_heads.cuh: at which elements segments begin, as bits.
 *
 * Rows are known from the index. Of other segments, a kernel that runs first sets a bit of scratch
 * for each element that begins one: a scan then reads n / 8 bytes, whatever the segments are. */
#pragma once

#include "pack.cuh"
#include "warp.cuh"

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
        for (unsigned k = 0; k < WIDEST; k += (unsigned)length < WIDEST ? (unsigned)length : WIDEST)
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

/* Sets the bit of each offset before n. */
static __global__ void set_offset_bits_kernel(const uint64_t *offsets, uint64_t count, uint64_t n,
                                              uint32_t *words)
{
    const uint64_t s = global_thread();
    if (s < count && offsets[s] < n)
        atomicOr(&words[offsets[s] / 32], 1u << offsets[s] % 32);
}

/* Rows of packs that a warp of write_key_bits_kernel() takes: all loads are issued before the first
 * is used. */
constexpr unsigned KEY_ROWS = 4;
constexpr unsigned KEYS_PER_THREAD = KEY_ROWS * PACK_WIDTH<uint32_t>;

/* Writes the bits of all keys that differ from the one before. */
static __global__ void write_key_bits_kernel(const uint32_t *keys, uint64_t n, uint32_t *words)
{
    constexpr unsigned WIDTH = PACK_WIDTH<uint32_t>, ROW = WARP * WIDTH, IN_WORD = 32 / WIDTH;
    const uint64_t first = global_thread() / WARP * (KEY_ROWS * ROW);
    const unsigned lane = lane_index();
    pack<uint32_t, WIDTH> row[KEY_ROWS];
    uint32_t last = first > 0 && first < n ? keys[first - 1] : 0; /* of the row before */
#pragma unroll
    for (unsigned r = 0; r < KEY_ROWS; r++)
        row[r] = load_pack<uint32_t, WIDTH>(keys, first + r * ROW + lane * WIDTH, n);
#pragma unroll
    for (unsigned r = 0; r < KEY_ROWS; r++) {
        const uint64_t i = first + r * ROW + lane * WIDTH;
        const uint32_t left = shuffle_up(row[r].at[WIDTH - 1], 1);
        uint32_t before = lane > 0 ? left : last;
        last = shuffle_from(row[r].at[WIDTH - 1], WARP - 1);
        unsigned word = 0;
        for (unsigned k = 0; k < WIDTH; k++) {
            const bool begins = i + k < n && (i + k == 0 || row[r].at[k] != before);
            word |= (unsigned)begins << (k + lane % IN_WORD * WIDTH);
            before = row[r].at[k];
        }
        for (unsigned stride = 1; stride < IN_WORD; stride *= 2)
            word |= shuffle_xor(word, stride);
        if (lane % IN_WORD == 0 && i < n)
            words[i / 32] = word;
    }
}

/* Scratch for the bits; a slice may ask for those past the end. */
inline size_t head_bits_bytes(const struct problem *problem)
{
    enum { PAST_THE_END = 8192 };
    const bool stored = problem->segments == SEGMENTS_OFFSETS || problem->segments == SEGMENTS_KEYS;
    return stored ? next_place((problem->n + PAST_THE_END) / 8) : 0;
}

/* Calls f with the heads of the call's segments. Bits are stored at `scratch`, by launches that
 * come before those of f. */
template <class Function> void with_heads(const struct call *call, void *scratch, Function f)
{
    constexpr unsigned THREADS = 256;
    const struct problem *problem = &call->problem;
    queue *queue = queue_of(call);
    auto *words = static_cast<uint32_t *>(scratch);
    if (problem->segments == SEGMENTS_ROWS)
        return f(row_heads(problem->segment_length));
    if (problem->segments == SEGMENTS_OFFSETS) {
        const uint64_t count = problem->segment_count;
        if (!succeeded(queue, "memset",
                       cudaMemsetAsync(words, 0, head_bits_bytes(problem), queue->stream)))
            return;
        launch<set_offset_bits_kernel>(
            queue, {ceil_div(count, THREADS), THREADS, {count * (sizeof(uint64_t) + 4)}},
            static_cast<const uint64_t *>(call->second), count, problem->n, words);
    } else {
        launch<write_key_bits_kernel>(queue,
                                      {ceil_div(problem->n, THREADS * KEYS_PER_THREAD),
                                       THREADS,
                                       {problem->n * sizeof(uint32_t) + problem->n / 8}},
                                      static_cast<const uint32_t *>(call->second), problem->n,
                                      words);
    }
    f(bit_heads{words});
}

} // namespace SCANBENCH_BACKEND
