/* tile_status.cuh: what a block tells the others of its tile, and how they see it.
 *
 * Value and tag share a 64-bit word that is stored and loaded whole: who sees the
 * tag has the value, so that neither acquire nor release is needed, nor a fence.
 * A value of 8 bytes takes two words, each with half of it and the same tag. It
 * is seen only when both tags are the wanted one, and as what belongs to a tag
 * never changes, the two halves then are of one value: still one observation.
 *
 * Nothing is set back between calls: a tag holds the call's epoch. Every call
 * writes every word that is looked at, so that an old tag is the call's before, and
 * tags need differ from that one only: the epoch may wrap around. */
#ifndef SCANBENCH_KERNELS_TILE_STATUS_CUH
#define SCANBENCH_KERNELS_TILE_STATUS_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Relaxed and whole, at the scope of the GPU. */
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

/* Has the status in the L2 by the time it is looked at: a first look that must
 * go to DRAM would have everyone wait. */
template <class T> __device__ __forceinline__ void prefetch_status(const tile_status<T> *status)
{
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(status));
#else
    (void)status;
#endif
}

/* What one look saw. `whole`: no half of it was another tag's. */
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
