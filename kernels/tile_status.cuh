/* tile_status.cuh: how a block publishes the state of its tile, and how others read it.
 *
 * Value and tag share a 64-bit word that is stored and loaded as a whole: a reader that sees
 * the tag has the value, so neither acquire and release nor a fence is needed. An 8-byte value
 * takes two words, each with half of it and the same tag. A reader accepts it only if both tags
 * are the expected one. Since the value of a tag never changes, both halves then belong to the
 * same value.
 *
 * Nothing is reset between calls, since a tag says which call it is of. */
#ifndef SCANBENCH_KERNELS_TILE_STATUS_CUH
#define SCANBENCH_KERNELS_TILE_STATUS_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Relaxed, as a whole word, at GPU scope or, between GPUs (FAR), at that of the system. */
template <bool FAR = false>
__device__ __forceinline__ void store_word(uint64_t *word, uint64_t value)
{
#ifdef __CUDACC__
    if constexpr (FAR)
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
    else
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
#else
    __stcg(word, value);
#endif
}

template <bool FAR = false> __device__ __forceinline__ uint64_t load_word(const uint64_t *word)
{
#ifdef __CUDACC__
    uint64_t value;
    if constexpr (FAR)
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    else
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
#else
    return __ldcg(word);
#endif
}

template <class T> struct tile_status {
    static constexpr unsigned WORDS = (sizeof(T) + 3) / 4;
    uint64_t word[WORDS];
};

template <bool FAR = false, class T>
__device__ __forceinline__ void publish(tile_status<T> *status, T value, uint32_t tag)
{
    uint32_t half[tile_status<T>::WORDS] = {};
    memcpy(half, &value, sizeof value);
    for (unsigned w = 0; w < tile_status<T>::WORDS; w++)
        store_word<FAR>(&status->word[w], (uint64_t)tag << 32 | half[w]);
}

/* Brings the status into the L2 before it is read: if the first read had to go to DRAM,
 * everyone would wait for it. */
template <class T> __device__ __forceinline__ void prefetch_status(const tile_status<T> *status)
{
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(status));
#else
    (void)status;
#endif
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
    observation<T> seen;
    uint32_t half[tile_status<T>::WORDS] = {};
    seen.whole = true;
    for (unsigned w = 0; w < tile_status<T>::WORDS; w++) {
        const uint64_t word = load_word<FAR>(&status->word[w]);
        half[w] = (uint32_t)word;
        seen.whole = seen.whole && (w == 0 || (uint32_t)(word >> 32) == seen.tag);
        seen.tag = (uint32_t)(word >> 32);
    }
    memcpy(&seen.value, half, sizeof seen.value);
    return seen;
}

/* ---- The board: the statuses of all tiles, and the epoch ---- */

/* Zero before the first call. A tag holds the call's epoch, which is one more each call. It is
 * kept beside the statuses, not handed in: a launch that a CUDA graph recorded once has another
 * one at each replay, and one zeroed board serves any sequence of problems and single-pass
 * algorithms. After 2^31 - 1 calls it starts again. */
template <class T> struct tile_board {
    uint64_t turn; /* calls so far in the upper half; tickets taken in this one in the lower */
    alignas(128) tile_status<T> status[];
};

constexpr size_t board_bytes(uint64_t tiles)
{
    return sizeof(tile_board<uint64_t>) + tiles * sizeof(tile_status<uint64_t>);
}

/* Clears the call's scratch, which begins with a board, for the first call. */
inline void clear_board(const struct call *call)
{
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(call->scratch, 0, call->scratch_bytes, queue_of(call)->stream));
}

/* From 1 up: no tag is 0, as in words that nobody has written yet. */
__device__ __forceinline__ uint32_t epoch_of(uint64_t turn)
{
    return (uint32_t)(turn >> 32) + 1;
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

/* Gives the next call the next epoch, and no tickets. Called by one thread, once it knows that
 * every other tile has been published: a block publishes only after it has read the turn. */
template <class T> __device__ __forceinline__ void end_turn(tile_board<T> *board, uint32_t epoch)
{
    constexpr uint32_t LAST = 0x7FFFFFFF; /* tags have one more bit */
    store_word(&board->turn, (uint64_t)(epoch == LAST ? 0 : epoch) << 32);
}

} // namespace SCANBENCH_BACKEND

#endif
