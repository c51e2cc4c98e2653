/* pack.cuh: several elements as one access of up to 16 bytes. */
#pragma once

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned N> struct alignas(sizeof(T) * N) pack {
    T at[N];

    __device__ __forceinline__ T element(unsigned k) const
    {
        return at[k];
    }
};

/* The widest access of a thread, and the elements in it. */
enum { PACK_BYTES = 16 };
template <class T> constexpr unsigned PACK_WIDTH = PACK_BYTES / sizeof(T);

/* Neighbouring elements of an array, counted in 32 bits. To check the bounds of several packs takes
 * fewer instructions and registers than with positions of 64 bits. */
template <class T> struct span {
    T *data;
    unsigned count;
};

/* The elements of an array of n from number `first` on: `most` of them, or as many as there are. */
template <class T>
__device__ __forceinline__ span<T> span_of(T *array, uint64_t first, uint64_t n, unsigned most)
{
    const uint64_t at = min(first, n);
    return {array + at, (unsigned)min(n - at, (uint64_t)most)};
}

/* Loads elements i .. i+N-1 of an array of n, with zeros past the end. i is a multiple of N, and
 * i+N fits in an Index. The array is aligned to the pack or, if ANYWHERE, to its elements. */
template <class T, unsigned N, bool ANYWHERE = false, class Index>
__device__ __forceinline__ pack<T, N> load_pack(const T *array, Index i, Index n)
{
    if (!ANYWHERE && i + N <= n)
        return *reinterpret_cast<const pack<T, N> *>(array + i);
    pack<T, N> values;
    for (unsigned k = 0; k < N; k++)
        values.at[k] = i + k < n ? array[i + k] : T(0);
    return values;
}

/* ---- Packs in registers ---- */

/* Elements of 1 or 2 bytes, in words of several: given a pack of them, the compiler takes its words
 * apart into elements and puts them together again, which takes longer than to add them. */
template <class T, unsigned N> struct word_pack {
    static constexpr unsigned IN_WORD = sizeof(unsigned) / sizeof(T); /* elements */
    static constexpr unsigned BITS = 8 * sizeof(T);                   /* of an element */
    using bits = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    unsigned word[N / IN_WORD];

    __device__ __forceinline__ T element(unsigned k) const
    {
        const auto element = (bits)(word[k / IN_WORD] >> BITS * (k % IN_WORD));
        T value;
        memcpy(&value, &element, sizeof value);
        return value;
    }
    /* The place must have been 0. */
    __device__ __forceinline__ void put(unsigned k, T value)
    {
        bits element;
        memcpy(&element, &value, sizeof element);
        word[k / IN_WORD] |= (unsigned)element << BITS * (k % IN_WORD);
    }
};

/* What a pack in registers is held as: integers of 1 and 2 bytes in words. IN_WORDS: floats of 2
 * bytes, too, which are taken apart to be added, but take fewer registers. */
template <class T, bool IN_WORDS = std::is_integral_v<T>>
using held_pack = std::conditional_t<(sizeof(T) < sizeof(unsigned)) && IN_WORDS,
                                     word_pack<T, PACK_WIDTH<T>>, pack<T, PACK_WIDTH<T>>>;

/* Loads a whole pack as Pack, which is as large. */
template <class Pack, class T> __device__ __forceinline__ Pack load_held(const T *array)
{
    if constexpr (requires { Pack::IN_WORD; }) {
        const auto words = *reinterpret_cast<const pack<unsigned, sizeof(Pack) / 4> *>(array);
        Pack values;
        memcpy(&values, &words, sizeof values);
        return values;
    } else {
        return *reinterpret_cast<const Pack *>(array);
    }
}

/* load_pack() as a pack or a word_pack. */
template <bool ANYWHERE, class T, unsigned N, class Index>
__device__ __forceinline__ void load_held(pack<T, N> *to, const T *array, Index i, Index n)
{
    *to = load_pack<T, N, ANYWHERE>(array, i, n);
}

template <bool ANYWHERE, class T, unsigned N, class Index>
__device__ __forceinline__ void load_held(word_pack<T, N> *to, const T *array, Index i, Index n)
{
    if (ANYWHERE || i + N > n) {
        *to = {};
        for (unsigned k = 0; k < N; k++)
            if (i + k < n)
                to->put(k, array[i + k]);
    } else {
        *to = load_held<word_pack<T, N>>(array + i);
    }
}

template <class T, unsigned N>
__device__ __forceinline__ register_sum<T> pack_sum(const word_pack<T, N> &x)
{
    if constexpr (std::is_integral_v<T>) {
        unsigned sum = 0;
        for (unsigned word : x.word)
            sum = add_parts<sizeof(T)>(word, sum);
        return sum;
    } else {
        register_sum<T> sum = widen(x.element(0));
        for (unsigned k = 1; k < N; k++)
            sum += widen(x.element(k));
        return sum;
    }
}

template <class T, unsigned N> __device__ __forceinline__ sum_of<T> pack_sum(const pack<T, N> &x)
{
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(unsigned)) {
        unsigned word[sizeof x / sizeof(unsigned)], sum = 0;
        memcpy(word, &x, sizeof x);
        for (unsigned part : word)
            sum = add_parts<sizeof(T)>(part, sum);
        return T(sum);
    } else {
        sum_of<T> sum = widen(x.at[0]);
        for (unsigned k = 1; k < N; k++)
            sum += widen(x.at[k]);
        return sum;
    }
}

/* Sums as elements. Those of 16 bits are rounded two at a time. */
template <class T, unsigned N>
__device__ __forceinline__ pack<T, N> narrow_pack(const sum_of<T> (&sums)[N])
{
    pack<T, N> elements;
    if constexpr (std::is_same_v<sum_of<T>, T>) {
        for (unsigned k = 0; k < N; k++)
            elements.at[k] = sums[k];
    } else {
        unsigned word[N / 2];
        for (unsigned k = 0; k < N; k += 2)
            word[k / 2] = two_halves<T>(sums[k], sums[k + 1]);
        memcpy(&elements, word, sizeof elements);
    }
    return elements;
}

/* The inclusive scan of the 4 bytes or 2 halves of a word. `*before`, the sum of all earlier
 * elements of the pack, is advanced. For bytes it is kept in both halves of its word: one
 * multiplication gives the sums through the second and the fourth byte, one per half, and without
 * these bytes they are the sums through the first and the third. A pack's sums fit in 16 bits. */
template <size_t BYTES>
__device__ __forceinline__ unsigned word_scan(unsigned word, unsigned *before)
{
    if constexpr (BYTES == 1) {
        const unsigned first = word & 0x00FF00FF, second = __byte_perm(word, 0, 0x4341);
        const unsigned through = (first + second) * 0x00010001 + *before;
        *before = __byte_perm(through, 0, 0x3232);
        return __byte_perm(through - second, through, 0x6240);
    } else {
        const unsigned through = *before + word; /* in its lower half */
        *before = through + (word >> 16);
        return __byte_perm(through, *before, 0x5410);
    }
}

/* The scan of integers in words. */
template <class T, unsigned N>
__device__ __forceinline__ pack<T, N> scan_by_words(const word_pack<T, N> &x, unsigned before,
                                                    bool inclusive)
{
    constexpr unsigned UNSHIFTED = 0x7654, SHIFTED = sizeof(T) == 1 ? 0x6543 : 0x5432;
    word_pack<T, N> sums;
    unsigned last = before << (32 - x.BITS);
    unsigned sum = sizeof(T) == 1 ? __byte_perm(before, 0, 0x4040) : before;
    for (unsigned w = 0; w < N / x.IN_WORD; w++) {
        const unsigned through = word_scan<sizeof(T)>(x.word[w], &sum);
        sums.word[w] = __byte_perm(last, through, inclusive ? UNSHIFTED : SHIFTED);
        last = through;
    }
    pack<T, N> elements;
    memcpy(&elements, &sums, sizeof elements);
    return elements;
}

/* The scan of a pack of either kind from the sum before it, element by element. */
template <class T, unsigned N, class Pack>
__device__ __forceinline__ pack<T, N> scan_by_elements(const Pack &x, sum_of<T> before,
                                                       bool inclusive)
{
    sum_of<T> sums[N];
    for (unsigned k = 0; k < N; k++) {
        const sum_of<T> exclusive = before;
        before += widen(x.element(k));
        sums[k] = inclusive ? before : exclusive;
    }
    return narrow_pack<T>(sums);
}

/* The scan of a pack from the sum before it. */
template <class T, unsigned N>
__device__ __forceinline__ pack<T, N> pack_scan(const pack<T, N> &x, sum_of<T> before,
                                                bool inclusive)
{
    return scan_by_elements<T, N>(x, before, inclusive);
}

template <class T, unsigned N>
__device__ __forceinline__ pack<T, N> pack_scan(const word_pack<T, N> &x, register_sum<T> before,
                                                bool inclusive)
{
    if constexpr (std::is_integral_v<T>)
        return scan_by_words(x, before, inclusive);
    else
        return scan_by_elements<T, N>(x, before, inclusive);
}

/* Stores elements i .. i+N-1, and drops those past the end. */
template <bool PASSING = false, bool ANYWHERE = false, class T, unsigned N, class Index>
__device__ __forceinline__ void store_pack(T *array, Index i, Index n, const pack<T, N> &values)
{
    if (!ANYWHERE && i + N <= n) {
        auto *at = reinterpret_cast<pack<T, N> *>(array + i);
        if constexpr (PASSING)
            return store_passing(at, values);
        else
            return store_whole(at, values);
    }
    for (unsigned k = 0; k < N; k++)
        if (i + k < n)
            array[i + k] = values.at[k];
}

} // namespace SCANBENCH_BACKEND
