/* tile_status.cuh: how a block publishes the state of its tile, and how others read it.
 *
 * Value and tag share a 64-bit word that is stored and loaded as a whole: a reader that sees
 * the tag has the value, so neither acquire and release nor a fence is needed. An 8-byte value
 * takes two words, each with half of it and the same tag. A reader accepts it only if both tags
 * are the expected one. Since the value of a tag never changes, both halves then belong to the
 * same value.
 *
 * Nothing is reset between calls, since a tag holds the call's epoch. Every call writes every
 * word that is read, so an old tag is always from the previous call. Tags need to differ from
 * that one only, and the epoch may wrap around. */
#ifndef SCANBENCH_KERNELS_TILE_STATUS_CUH
#define SCANBENCH_KERNELS_TILE_STATUS_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Relaxed, as a whole word, at GPU scope. */
__device__ __forceinline__ void store_word(uint64_t *word, uint64_t value)
{
#ifdef __CUDACC__
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
#else
    __stcg(word, value);
#endif
}

__device__ __forceinline__ uint64_t load_word(const uint64_t *word)
{
#ifdef __CUDACC__
    uint64_t value;
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

template <class T>
__device__ __forceinline__ void publish(tile_status<T> *status, T value, uint32_t tag)
{
    uint32_t half[tile_status<T>::WORDS] = {};
    memcpy(half, &value, sizeof value);
    for (unsigned w = 0; w < tile_status<T>::WORDS; w++)
        store_word(&status->word[w], (uint64_t)tag << 32 | half[w]);
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

template <class T> __device__ __forceinline__ observation<T> look_at(const tile_status<T> *status)
{
    observation<T> seen;
    uint32_t half[tile_status<T>::WORDS] = {};
    seen.whole = true;
    for (unsigned w = 0; w < tile_status<T>::WORDS; w++) {
        const uint64_t word = load_word(&status->word[w]);
        half[w] = (uint32_t)word;
        seen.whole = seen.whole && (w == 0 || (uint32_t)(word >> 32) == seen.tag);
        seen.tag = (uint32_t)(word >> 32);
    }
    memcpy(&seen.value, half, sizeof seen.value);
    return seen;
}

} // namespace SCANBENCH_BACKEND

#endif
