/* stable_msd_plan.cuh: the first launch of sort_stable_msd: it chooses two digits, counts the keys
 * of each value of both, and decides whether the sort suits them. */
#pragma once

#include "leaf_sort.cuh"
#include "onesweep.cuh"
#include "packed_array.cuh"

namespace SCANBENCH_BACKEND::stable_msd
{

using stable_tile::DIGITS;

enum {
    /* Bits of both digits together. */
    LEAST_BITS = stable_tile::BITS,
    MOST_BITS = 16,
    /* The launch that counts. */
    COUNT_THREADS = 1024,
    /* Packs in flight of a thread that counts. */
    LOADS = 2,
    /* Keys that the sample has in a 256th of the range, from which keys are skewed. Where they are
     * uniform it has 4, or 8 if they fill half of a range. */
    SKEWED = 40
};

/* How the keys of an array are divided into leaves: by the bits of both digits. */
struct plan {
    unsigned is_chosen;              /* the sort suits the keys; otherwise onesweep sorts them */
    unsigned bits;                   /* of both digits */
    unsigned next_bits;              /* of the second one */
    unsigned shift;                  /* bits below them */
    unsigned tickets[2];             /* of the tiles of each level */
    unsigned first_tile[DIGITS + 1]; /* of each value of the first digit, at the second level */
    unsigned long long first_starts[DIGITS];              /* where its keys go */
    unsigned long long starts[(1 << MOST_BITS) + DIGITS]; /* of both; n follows, for any digit */
    /* Zero between calls: */
    unsigned blocks_done, is_outside;
    unsigned counts[1 << MOST_BITS];

    __device__ __forceinline__ unsigned first_bits() const
    {
        return bits - next_bits;
    }
};

/* What the host says. */
struct limits {
    unsigned bits; /* of both digits, if keys fill the range of their highest bit that differs */
    unsigned most; /* the most of them, if they do not */
    unsigned leaf; /* keys that a leaf should have */
    unsigned capacity; /* keys that a leaf can have */
};

/* The range of both digits, as a sample shows it: every block takes the same one. */
template <class Key> struct division {
    Key base;
    unsigned bits, shift;
    bool is_skewed;

    __device__ __forceinline__ Key bin_of(Key rank) const
    {
        return Key(rank - base) >> shift;
    }
};

/* A counter for each value of both digits, in shared memory. */
struct whole_counters {
    unsigned *words;

    __device__ __forceinline__ void add(unsigned bin, unsigned *) const
    {
        atomicAdd(&words[bin], 1u);
    }
    __device__ __forceinline__ void add_to(unsigned *all, unsigned bins) const
    {
        for (unsigned b = threadIdx.x; b < bins; b += COUNT_THREADS)
            if (words[b] != 0)
                atomicAdd(&all[b], words[b]);
    }
};

/* The same with 16 bits for each, where that is all that shared memory has: bin b is in the low
 * half of word b, or in the high half of word b - HALF. A counter that has MANY gives them to
 * `all`. */
struct half_counters {
    enum { HALF = 1 << (MOST_BITS - 1), MANY = 1 << 15 };
    unsigned *words;

    __device__ __forceinline__ void add(unsigned bin, unsigned *all) const
    {
        unsigned *word = &words[bin % HALF];
        const unsigned shift = bin / HALF * 16, before = atomicAdd(word, 1u << shift);
        if ((before >> shift) % (2 * MANY) == MANY - 1) {
            atomicAdd(word, 0u - ((unsigned)MANY << shift));
            atomicAdd(&all[bin], (unsigned)MANY);
        }
    }
    __device__ __forceinline__ void add_to(unsigned *all, unsigned) const
    {
        for (unsigned w = threadIdx.x; w < HALF; w += COUNT_THREADS) {
            const unsigned low = words[w] % (2 * MANY), high = words[w] / (2 * MANY);
            if (low != 0)
                atomicAdd(&all[w], low);
            if (high != 0)
                atomicAdd(&all[HALF + w], high);
        }
    }
};

__host__ __device__ constexpr unsigned counter_words(unsigned bits)
{
    return bits < MOST_BITS ? 1u << bits : (unsigned)half_counters::HALF;
}

template <class Key> struct count_layout {
    unsigned coarse[DIGITS]; /* the sample's keys in each 256th of the range */
    Key differing[COUNT_THREADS / WARP];
    Key lowest[COUNT_THREADS / WARP], highest[COUNT_THREADS / WARP];
    unsigned totals[COUNT_THREADS / WARP];
    bool is_last;
    alignas(16) unsigned words[1]; /* counter_words() of them */
};

/* Takes a sample, a key per thread. All blocks of a launch, whose threads all call it, come to the
 * same division. */
template <class Key>
__device__ __forceinline__ division<Key> divide_range(count_layout<Key> *shared, const Key *in,
                                                      uint64_t n, const key_order<Key> &order,
                                                      const limits &limits)
{
    constexpr unsigned WIDTH = 8 * sizeof(Key);
    const unsigned warp = threadIdx.x / WARP, lane = lane_index();
    const Key any = order(in[0]);
    const Key rank = order(in[sampled_place(threadIdx.x, (unsigned)(n / COUNT_THREADS))]);
    const Key differing = warp_or(Key(rank ^ any));
    if (threadIdx.x < DIGITS)
        shared->coarse[threadIdx.x] = 0;
    if (lane == 0)
        shared->differing[warp] = differing;
    const auto extent = leaf_sort::block_extent<Key>({rank, rank}, shared->lowest, shared->highest,
                                                     COUNT_THREADS / WARP);
    const unsigned top = bit_length(warp_or(shared->differing[lane]));
    division<Key> division = {};
    division.base = top < WIDTH ? Key(any >> top << top) : Key(0);
    division.is_skewed = top < (unsigned)LEAST_BITS;
    if (division.is_skewed)
        return division;
    /* The range has as many bins as leaves need; keys may fill half of them. */
    division.bits = min(limits.bits, top);
    const auto filled = [&] {
        return (uint64_t)(Key(extent.highest - extent.lowest) >> (top - division.bits)) + 1;
    };
    while (division.bits < min(limits.most, top) && n > filled() * limits.leaf)
        division.bits++;
    division.shift = top - division.bits;
    atomicAdd(&shared->coarse[Key(rank - division.base) >> (top - stable_tile::BITS)], 1u);
    __syncthreads();
    division.is_skewed =
        __syncthreads_or(threadIdx.x < DIGITS && shared->coarse[threadIdx.x] >= SKEWED);
    return division;
}

/* Counts a block's keys by both digits. Returns whether all of a thread's lie in the range. */
template <class Counters, class Key>
__device__ __forceinline__ bool count_keys(const division<Key> &division, Counters counters,
                                           const Key *in, uint64_t n, const key_order<Key> &order,
                                           unsigned *all)
{
    constexpr unsigned STEP = LOADS * COUNT_THREADS; /* packs */
    const packed_array<const Key> keys(in, 0, n);
    const auto *packs = keys.packs();
    const uint64_t stop = keys.end_of_whole();
    const unsigned mask = (1u << division.bits) - 1;
    Key seen = 0;
    const auto count = [&](Key key) {
        const Key bin = division.bin_of(order(key));
        seen |= bin;
        counters.add((unsigned)bin & mask, all);
    };
    if (blockIdx.x == 0)
        keys.for_ends(count);
    uint64_t p = keys.first_whole() + blockIdx.x * (uint64_t)STEP;
    for (; p + STEP <= stop; p += gridDim.x * (uint64_t)STEP) {
        key_pack<Key> loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
            loaded[k] = packs[p + k * COUNT_THREADS + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
            for (const Key key : loaded[k].at)
                count(key);
        /* A half does not overflow while a thread is late in taking MANY from it. */
        static_assert(2 * STEP * PACK_WIDTH<Key> < half_counters::MANY + 1);
        __syncthreads();
    }
    for (p += threadIdx.x; p < stop; p += COUNT_THREADS) {
        const key_pack<Key> loaded = packs[p];
        for (const Key key : loaded.at)
            count(key);
    }
    return seen <= mask;
}

/* The same, with the counters that fit, which are added to those of all blocks. */
template <class Counters, class Key>
__device__ __forceinline__ bool count_and_add(const division<Key> &division, Counters counters,
                                              const Key *in, uint64_t n,
                                              const key_order<Key> &order, unsigned *all)
{
    const bool is_inside = count_keys(division, counters, in, n, order, all);
    __syncthreads();
    counters.add_to(all, 1u << division.bits);
    return is_inside;
}

/* Turns the counts of both digits into starts, and clears them. Returns whether leaves hold what
 * they would get. One block calls it. */
template <class Key>
__device__ __forceinline__ bool find_starts(plan *plan, const division<Key> &division, uint64_t n,
                                            unsigned capacity, count_layout<Key> *shared)
{
    const unsigned bins = 1u << division.bits, each = max(bins / COUNT_THREADS, 1u);
    const unsigned first = min(threadIdx.x * each, bins), end = min(first + each, bins);
    unsigned sum = 0, most = 0;
    for (unsigned b = first; b < end; b++) {
        const unsigned count = __ldcg(&plan->counts[b]);
        sum += count;
        most = max(most, count);
    }
    unsigned long long start = sum_of_earlier_threads(sum, shared->totals);
    for (unsigned b = first; b < end; b++) {
        plan->starts[b] = start;
        start += __ldcg(&plan->counts[b]);
        plan->counts[b] = 0;
    }
    /* A leaf sorts a number of what is left of a key and the key's index: they share a word. */
    const unsigned index_bits = bit_length((uint32_t)(max(most, 1u) - 1));
    const bool fits = most <= capacity && division.shift + index_bits <= 8 * sizeof(Key);
    if (threadIdx.x < DIGITS)
        plan->starts[bins + threadIdx.x] = n;
    return __syncthreads_and(fits) != 0;
}

/* Says where the buckets of the first digit begin, in the array and among the tiles of the second
 * level. */
template <class Key>
__device__ __forceinline__ void find_buckets(plan *plan, const division<Key> &division, uint64_t n,
                                             unsigned tile, count_layout<Key> *shared)
{
    const unsigned digit = threadIdx.x;
    const unsigned next_bits = division.bits / 2, digits = 1u << (division.bits - next_bits);
    const auto start_of = [&](unsigned d) { return d < digits ? plan->starts[d << next_bits] : n; };
    const unsigned tiles =
        digit < DIGITS ? (unsigned)ceil_div(start_of(digit + 1) - start_of(digit), tile) : 0;
    const unsigned before = sum_of_earlier_threads(tiles, shared->totals);
    if (digit <= DIGITS)
        plan->first_tile[digit] = before;
    if (digit < DIGITS)
        plan->first_starts[digit] = start_of(digit);
}

/* Decides which sort does the work, and tells the other one. */
template <class Key>
__device__ __forceinline__ void make_plan(plan *plan, const division<Key> &division, uint64_t n,
                                          const limits &limits, unsigned tile,
                                          count_layout<Key> *shared, onesweep::plan *other)
{
    bool is_chosen = !division.is_skewed;
    if (is_chosen) {
        is_chosen = find_starts(plan, division, n, limits.capacity, shared) && !plan->is_outside;
        find_buckets(plan, division, n, tile, shared);
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    plan->is_chosen = other->disabled = is_chosen;
    plan->bits = division.bits;
    plan->next_bits = division.bits / 2;
    plan->shift = division.shift;
    plan->tickets[0] = plan->tickets[1] = plan->blocks_done = plan->is_outside = 0;
}

template <class Key>
__global__ void LAUNCH_BOUNDS(COUNT_THREADS, 2)
    count_kernel(const Key *in, uint64_t n, key_order<Key> order, limits limits, unsigned tile,
                 plan *plan, onesweep::plan *other)
{
    auto *shared = shared_memory<count_layout<Key>>();
    wait_for_launch_before();
    const division<Key> division = divide_range(shared, in, n, order, limits);
    if (!division.is_skewed) {
        for (unsigned w = threadIdx.x; w < counter_words(division.bits); w += COUNT_THREADS)
            shared->words[w] = 0;
        __syncthreads();
        const bool is_inside =
            division.bits < MOST_BITS
                ? count_and_add(division, whole_counters{shared->words}, in, n, order, plan->counts)
                : count_and_add(division, half_counters{shared->words}, in, n, order, plan->counts);
        if (!is_inside)
            plan->is_outside = 1;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        shared->is_last = atomicAdd(&plan->blocks_done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (shared->is_last) {
        __threadfence();
        make_plan(plan, division, n, limits, tile, shared, other);
    }
}

} // namespace SCANBENCH_BACKEND::stable_msd
