/* count_values.cuh: how often each value occurs in a block's share of the keys, counted in its
 * shared memory. */
#pragma once

#include "../warp.cuh"
#include "packed_array.cuh"

namespace SCANBENCH_BACKEND::counting_sort
{

constexpr unsigned BINS = 256;
constexpr unsigned VALUES_OF_16_BITS = 1 << 16;
constexpr unsigned TOP_BIT = 1 << 15;
/* Two counters of 16 bits share a word. */
constexpr unsigned WORDS_OF_16_BITS = VALUES_OF_16_BITS / 2;
constexpr unsigned WRAPPED = 1 << 16;
/* Lanes with the same key from which atomics would queue for long, and how many keys are then
 * counted for all their lanes at once. */
constexpr unsigned MANY_EQUAL = 10;
constexpr unsigned EQUAL_ROUNDS = 2;

/* Packs in flight of a thread that counts. */
template <class Key> constexpr unsigned LOADS = sizeof(Key) == 1 ? 4 : 2;

/* A pack of keys as words, which the compiler does not take apart before they are counted. */
template <class Key> using key_words = word_pack<Key, PACK_WIDTH<Key>>;

/* The counters of a block, in shared memory. */
template <class Key> struct counters;

/* Counters of values of 8 bits. If each of the 32 LANES has its own, in a bank of its own, the
 * lanes of a warp never meet, however skewed the keys are. If all share one, less is to be cleared
 * and added up. */
template <unsigned LANES> struct counters_of_8_bits {
    unsigned of_lane[BINS][LANES];

    __device__ __forceinline__ void add(uint8_t key, unsigned long long * /* carried */)
    {
        atomicAdd(&of_lane[key][lane_index() % LANES], 1u);
    }
    __device__ __forceinline__ void add_pack(const key_words<uint8_t> &keys,
                                             unsigned long long *carried)
    {
#pragma unroll
        for (unsigned k = 0; k < PACK_WIDTH<uint8_t>; k++)
            add(keys.element(k), carried);
    }
};
template <> struct counters<uint8_t> : counters_of_8_bits<WARP> {
};

/* Keys with a clear top bit are counted in the lower half of a word, those with a set one in the
 * upper half. A half that wraps adds to `carried`, which has one counter per value. */
template <> struct counters<uint16_t> {
    unsigned word[WORDS_OF_16_BITS];

    /* A lower half that wraps also adds 1 to the upper half, which is taken back here. Until then
     * the upper half is 1 too large and may wrap early; taking the 1 back wraps it the other way.
     * Whoever causes a wrap adds it to `carried`, or takes it off, so that the counts are right at
     * the end, whatever the order. */
    __device__ __forceinline__ void carry(unsigned key, unsigned times, unsigned sum,
                                          unsigned long long *carried)
    {
        atomicAdd(&carried[key], (unsigned long long)WRAPPED);
        if (key & TOP_BIT)
            return;
        if (sum < times)
            atomicAdd(&carried[key + TOP_BIT], (unsigned long long)WRAPPED);
        if (atomicSub(&word[key], (unsigned)WRAPPED) < WRAPPED)
            atomicAdd(&carried[key + TOP_BIT], 0 - (unsigned long long)WRAPPED);
    }

    __device__ __forceinline__ void add_times(unsigned key, unsigned times,
                                              unsigned long long *carried)
    {
        const unsigned shift = key & TOP_BIT ? 16 : 0, addend = times << shift;
        const unsigned sum = atomicAdd(&word[key & (TOP_BIT - 1)], addend) + addend;
        if ((sum >> shift & 0xFFFF) < times)
            carry(key, times, sum, carried);
    }

    __device__ __forceinline__ void add(uint16_t key, unsigned long long *carried)
    {
        add_times(key, 1, carried);
    }

    /* The same, if many lanes have the same key: one of them adds for all. */
    __device__ __forceinline__ void add_equal(unsigned key, unsigned long long *carried)
    {
        unsigned rest = ALL_LANES;
        for (unsigned round = 0; round < EQUAL_ROUNDS && rest != 0; round++) {
            const unsigned one = __ffs((int)rest) - 1;
            const unsigned same = rest & __ballot_sync(ALL_LANES, key == shuffle_from(key, one));
            if (lane_index() == one)
                add_times(key, __popc(same), carried);
            rest &= ~same;
        }
        if (rest >> lane_index() & 1)
            add_times(key, 1, carried);
    }

    /* Called by all lanes of a warp. */
    __device__ __forceinline__ void add_pack(key_words<uint16_t> keys, unsigned long long *carried)
    {
        const unsigned first = keys.element(0);
        const unsigned same = __ballot_sync(ALL_LANES, first == shuffle_from(first, 0));
        if ((unsigned)__popc(same) < MANY_EQUAL) {
#pragma unroll
            for (unsigned k = 0; k < PACK_WIDTH<uint16_t>; k++)
                add(keys.element(k), carried);
            return;
        }
        unsigned(&word)[4] = keys.word;
#pragma unroll 1 /* seldom executed, and long */
        for (unsigned k = 0; k < PACK_WIDTH<uint16_t>; k++) {
            add_equal(keys.element(0), carried);
            word[0] = __funnelshift_r(word[0], word[1], 16);
            word[1] = __funnelshift_r(word[1], word[2], 16);
            word[2] = __funnelshift_r(word[2], word[3], 16);
            word[3] >>= 16;
        }
    }
};

/* A multiple of 16 bytes of shared memory, by all threads. */
template <class Layout> __device__ __forceinline__ void clear_packs(Layout *layout)
{
    static_assert(sizeof(Layout) % PACK_BYTES == 0);
    auto *packs = reinterpret_cast<pack<unsigned, 4> *>(layout);
    for (unsigned p = threadIdx.x; p < sizeof(Layout) / PACK_BYTES; p += blockDim.x)
        packs[p] = {};
}

/* Counts those keys of a pack that the array has. */
template <class Key, class Counters>
__device__ __forceinline__ void count_one_by_one(const packed_array<const Key> &in, uint64_t p,
                                                 Counters *counters, unsigned long long *carried)
{
#pragma unroll 1
    for (uint64_t i = p * PACK_WIDTH<Key>; i < (p + 1) * PACK_WIDTH<Key>; i++)
        if (in.has(i))
            counters->add(in.at[i], carried);
}

/* Counts the block's share of the keys: all packs whose turn it is. A warp with the array's first
 * or last pack looks at keys one by one. */
template <class Key, class Counters>
__device__ __forceinline__ void count_keys(const packed_array<const Key> &in, Counters *counters,
                                           unsigned long long *carried)
{
    const uint64_t packs = in.pack_count(), stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t first = global_thread(); first - threadIdx.x < packs;
         first += LOADS<Key> * stride) {
        key_words<Key> keys[LOADS<Key>];
#pragma unroll
        for (unsigned l = 0; l < LOADS<Key>; l++)
            if (in.has_whole(first + l * stride))
                keys[l] = load_held<key_words<Key>>(in.at + (first + l * stride) * PACK_WIDTH<Key>);
#pragma unroll 1 /* for short code: the packs move up to the first place */
        for (unsigned l = 0; l < LOADS<Key>; l++) {
            const uint64_t p = first + l * stride;
            if (p - lane_index() >= packs)
                break;
            if (__all_sync(ALL_LANES, in.has_whole(p)))
                counters->add_pack(keys[0], carried);
            else
                count_one_by_one(in, p, counters, carried);
#pragma unroll
            for (unsigned k = 1; k < LOADS<Key>; k++)
                keys[k - 1] = keys[k];
        }
    }
}

} // namespace SCANBENCH_BACKEND::counting_sort
