/* kept_elements.cuh: which elements of a pack a compaction keeps, and how a warp stores them. */
#pragma once

#include "../is_not_zero.cuh"
#include "../pack.cuh"
#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

template <class Pack> struct kept_elements;

template <class T, unsigned N> struct kept_elements<pack<T, N>> {
    const pack<T, N> &elements;

    __device__ __forceinline__ bool operator[](unsigned k) const
    {
        return is_not_zero{}(elements.at[k]);
    }
    __device__ __forceinline__ unsigned count() const
    {
        unsigned sum = 0;
        for (unsigned k = 0; k < N; k++)
            sum += (*this)[k];
        return sum;
    }
};

/* All elements of a word are compared with zero at once. */
template <class T, unsigned N> struct kept_elements<word_pack<T, N>> {
    using words = word_pack<T, N>;
    unsigned bits = 0; /* one for each element */

    __device__ __forceinline__ explicit kept_elements(const words &elements)
    {
        constexpr unsigned HIGHEST = sizeof(T) == 1 ? 0x80808080 : 0x80008000;
        for (unsigned w = 0; w < N / words::IN_WORD; w++) {
            const unsigned word = elements.word[w];
            /* This carries into an element's highest bit unless all others are 0. */
            unsigned kept = (word & ~HIGHEST) + ~HIGHEST;
            if constexpr (std::is_integral_v<T>) /* of a float, it is the sign: -0 is zero */
                kept |= word;
            bits |= (kept & HIGHEST) >> (words::BITS - 1 - w);
        }
    }
    __device__ __forceinline__ bool operator[](unsigned k) const
    {
        return bits >> (words::BITS * (k % words::IN_WORD) + k / words::IN_WORD) & 1;
    }
    __device__ __forceinline__ unsigned count() const
    {
        return __popc(bits);
    }
};

/* What a lane stores at once: an element, or a word of bytes. */
template <class T> using stored_unit = std::conditional_t<sizeof(T) == 1, unsigned, T>;

/* Unit i of elements in shared memory from number `head` on, which is in the first unit. */
template <class T>
__device__ __forceinline__ stored_unit<T> unit_from(const T *elements, unsigned head, unsigned i)
{
    if constexpr (sizeof(T) < sizeof(stored_unit<T>)) {
        const auto *words = reinterpret_cast<const unsigned *>(elements) + i;
        /* Without a head the second one is not needed, and may be past the end. */
        return __funnelshift_r(words[0], words[head > 0], 8 * sizeof(T) * head);
    } else {
        return elements[i];
    }
}

/* A warp stores `count` elements of shared memory, which begin with a whole unit, to any place, in
 * steps that begin with 128-byte lines. */
template <class T>
__device__ __forceinline__ void store_elements(T *place, const T *elements, unsigned count)
{
    using unit = stored_unit<T>;
    constexpr unsigned IN_UNIT = sizeof(unit) / sizeof(T);
    constexpr unsigned AT_ONCE = 4; /* units, loaded before any is stored */
    constexpr unsigned IN_LINE = 128 / sizeof(unit);
    /* Elements before the first whole unit there. */
    const unsigned unaligned = reinterpret_cast<uintptr_t>(place) / sizeof(T) % IN_UNIT;
    const unsigned head = min((IN_UNIT - unaligned) % IN_UNIT, count);
    const unsigned units = (count - head) / IN_UNIT;
    unit *line = reinterpret_cast<unit *>(place + head);
    const unsigned from_line = reinterpret_cast<uintptr_t>(line) / sizeof(unit) % IN_LINE;
    line -= from_line;
    for (unsigned i = lane_index(); i < from_line + units; i += AT_ONCE * WARP) {
        unit value[AT_ONCE] = {};
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (i + k * WARP >= from_line && i + k * WARP < from_line + units)
                value[k] = unit_from(elements, head, i + k * WARP - from_line);
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (i + k * WARP >= from_line && i + k * WARP < from_line + units)
                line[i + k * WARP] = value[k];
    }
    if constexpr (IN_UNIT > 1) {
        const unsigned tail = head + units * IN_UNIT + lane_index();
        if (lane_index() < head)
            place[lane_index()] = elements[lane_index()];
        if (tail < count)
            place[tail] = elements[tail];
    }
}

} // namespace SCANBENCH_BACKEND
