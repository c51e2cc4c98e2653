/* tile_status.cuh: how a block publishes the state of its tile, and how others read it.
 *
 * Value and tag share a 64-bit word that is stored and loaded as a whole: a reader that sees
 * the tag has the value, so neither acquire and release nor a fence is needed. An 8-byte value
 * takes two words, each with half of it and the same tag. A reader accepts it only if both tags
 * are the expected one. Since the value of a tag never changes, both halves then belong to the
 * same value.
 *
 * Nothing is reset between calls, since a tag says which call it is of. */
#pragma once

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T> struct tile_status {
    static constexpr unsigned WORDS = (sizeof(T) + 3) / 4;
    alignas(WORDS * sizeof(uint64_t)) uint64_t word[WORDS];
};

template <bool FAR = false, class T>
__device__ __forceinline__ void publish(tile_status<T> *status, T value, uint32_t tag)
{
    constexpr unsigned WORDS = tile_status<T>::WORDS;
    uint32_t half[WORDS] = {};
    memcpy(half, &value, sizeof value);
    uint64_t word[WORDS];
    for (unsigned w = 0; w < WORDS; w++)
        word[w] = (uint64_t)tag << 32 | half[w];
    if constexpr (WORDS == 1)
        store_word<FAR>(status->word, word[0]);
    else
        store_words<FAR>(&status->word, word);
}

/* Brings the status into the L2 before it is read: if the first read had to go to DRAM,
 * everyone would wait for it. */
template <class T> __device__ __forceinline__ void prefetch_status(const tile_status<T> *status)
{
    prefetch_to_l2(status);
}

/* The result of one read. `whole`: both halves have the same tag. */
template <class T> struct observation {
    T value;
    uint32_t tag;
    bool whole;
};

template <bool FAR = false, class T>
__device__ __forceinline__ observation<T> look_at(const tile_status<T> *status)
{
    constexpr unsigned WORDS = tile_status<T>::WORDS;
    uint64_t word[WORDS];
    if constexpr (WORDS == 1)
        word[0] = load_word<FAR>(status->word);
    else
        load_words<FAR>(&status->word, word);
    observation<T> seen;
    seen.tag = (uint32_t)(word[0] >> 32);
    seen.whole = (uint32_t)(word[WORDS - 1] >> 32) == seen.tag;
    uint32_t half[WORDS];
    for (unsigned w = 0; w < WORDS; w++)
        half[w] = (uint32_t)word[w];
    memcpy(&seen.value, half, sizeof seen.value);
    return seen;
}

/* The sum of the values at first, first + step and so on before `end`, once all of them have
 * `tag`. Asks for LOOKS of them at a time: an answer takes a trip to the L2. Calls `wait` in each
 * round that has not seen all. */
template <unsigned LOOKS, bool FAR = false, class T, class Index, class Wait>
__device__ __forceinline__ T sum_of_values(const tile_status<T> *status, Index first, Index end,
                                           Index step, uint32_t tag, Wait wait)
{
    T sum = 0;
    for (; first < end; first += LOOKS * step) {
        observation<T> seen[LOOKS];
#pragma unroll
        for (unsigned k = 0; k < LOOKS; k++)
            seen[k] = {T(0), first + k * step < end ? ~tag : tag, true};
        for (bool all = false; !all;) {
            all = true;
#pragma unroll
            for (unsigned k = 0; k < LOOKS; k++)
                if (!(seen[k].whole && seen[k].tag == tag))
                    seen[k] = look_at<FAR>(&status[first + k * step]);
#pragma unroll
            for (unsigned k = 0; k < LOOKS; k++)
                all = all && seen[k].whole && seen[k].tag == tag;
            if (!all)
                wait();
        }
#pragma unroll
        for (unsigned k = 0; k < LOOKS; k++)
            sum += seen[k].value;
    }
    return sum;
}

/* The share of thread `member`, of so many, in the sum of the values from `first` to `end` - 1:
 * together the shares, in the order of the threads, are that sum. Where order does not matter,
 * neighbouring threads read neighbouring statuses. Called by whole warps. */
template <unsigned LOOKS, bool FAR = false, class T, class Index, class Wait>
__device__ __forceinline__ T share_of_values(const tile_status<T> *status, Index first, Index end,
                                             unsigned member, unsigned members, uint32_t tag,
                                             Wait wait)
{
    Index step = (Index)members;
    if constexpr (COMMUTES<T>) {
        first += member;
    } else {
        const Index each = (end - first + members - 1) / members;
        first = min(first + member * each, end);
        end = min(first + each, end);
        step = 1;
    }
    const T share = sum_of_values<LOOKS, FAR>(status, first, end, step, tag, wait);
    __syncwarp(); /* see spin_wait() */
    return share;
}

/* ---- The board: the statuses of all tiles, and the epoch ---- */

/* Zero before the first call. A tag holds the call's epoch, which is one more each call. It is
 * kept beside the statuses, not handed in: a launch that a CUDA graph recorded once has another
 * one at each replay, and one zeroed board serves any sequence of problems and single-pass
 * algorithms, except scans of segments at offsets, which write bits after it. After 2^31 - 1 calls
 * it starts again. */
template <class T> struct tile_board {
    uint64_t progress; /* calls so far in the upper half; tickets taken in this one in the lower */
    alignas(128) tile_status<T> status[];
};

/* From 1 up: no tag is 0, as in words that nobody has written yet. */
__device__ __forceinline__ uint32_t epoch_of(uint64_t progress)
{
    return (uint32_t)(progress >> 32) + 1;
}

/* A tile's tag says what its value is, and of which call. */
__device__ __forceinline__ uint32_t aggregate_tag(uint32_t epoch)
{
    return 2 * epoch;
}

__device__ __forceinline__ uint32_t prefix_tag(uint32_t epoch)
{
    return 2 * epoch + 1;
}

/* A board whose statuses have copies. Hundreds of blocks that ask for the same few lines at once
 * wait for the slices of the L2 that hold them; so a tile is published in each copy, and a block
 * asks for one of them. */
template <class T> struct copied_board {
    tile_board<T> *board;
    unsigned copies; /* a power of two */
    unsigned apart;  /* statuses from one copy to the next */

    /* The copy that this block asks for. */
    __device__ __forceinline__ const tile_status<T> *status() const
    {
        return board->status + (blockIdx.x & (copies - 1)) * apart;
    }
    /* The status of a tile in one of the copies. It is published in all of them. */
    __device__ __forceinline__ tile_status<T> *status_of(uint64_t tile, unsigned copy) const
    {
        return &board->status[copy * apart + tile];
    }
};

/* Statuses from one copy to the next: whole lines, so that no two copies share one. */
constexpr uint64_t copies_apart(uint64_t tiles)
{
    constexpr unsigned PER_LINE = 128 / sizeof(tile_status<uint32_t>);
    return ceil_div(tiles, PER_LINE) * PER_LINE;
}

template <class T>
copied_board<T> copied_board_of(const struct call *call, unsigned copies, uint64_t tiles)
{
    return {static_cast<tile_board<T> *>(call->scratch), copies, (unsigned)copies_apart(tiles)};
}

constexpr size_t board_bytes(uint64_t tiles, unsigned copies = 1)
{
    return sizeof(tile_board<uint64_t>) +
           ((copies - 1) * copies_apart(tiles) + tiles) * sizeof(tile_status<uint64_t>);
}

/* Gives the next call the next epoch, and no tickets. Called by one thread, once it knows that
 * every other tile has been published: a block publishes only after it has read the epoch. */
template <class T> __device__ __forceinline__ void end_call(tile_board<T> *board, uint32_t epoch)
{
    constexpr uint32_t LAST = 0x7FFFFFFF; /* tags have one more bit */
    store_word(&board->progress, (uint64_t)(epoch == LAST ? 0 : epoch) << 32);
}

} // namespace SCANBENCH_BACKEND
