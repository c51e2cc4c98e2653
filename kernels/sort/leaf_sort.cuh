/* leaf_sort.cuh: one block sorts up to some ten thousand keys in registers and shared memory.
 *
 *   1. The smallest and the largest key bound the range, which is cut into bins: that of integers
 *      by rank, and that of floats by value.
 *   2. The keys of each bin are counted, and a scan tells where bins start. Each key then takes the
 *      next place of its bin. Keys of one bin are neighbours.
 *   3. Windows of eight neighbours are sorted in registers, alternately those that start at
 *      multiples of eight and those four further on, until no bin can be out of order. A lane has a
 *      window and gets the other half of those between two lanes by shuffles. What the first and
 *      the last lanes of a warp lack, other warps have: they write nothing.
 *
 * Where a bin is one value, nothing is left to do. Where keys are skewed, more than 96 in a bin, or
 * are infinite or NaN, a merge sort takes the place of 2 and 3, or for many keys a stable radix
 * sort of 8 bits per pass.
 *
 * Shared memory bounds it: two atomics and a store per key, at places that no pattern keeps apart.
 */
#pragma once

#include "leaf_windows.cuh"
#include "merge_sort.cuh"
#include "radix_rank.cuh"
#include "value_bins.cuh"

namespace SCANBENCH_BACKEND::leaf_sort
{

enum {
    /* Keys in a bin from which they may well be equal. */
    SKEWED_BIN = 24,
    /* Keys per thread for which there is code of its own. */
    FEW = 4,
    /* The most keys per thread that a merge sort sorts best. */
    MERGED = 8,
    /* Bits of a counter: two share a word. */
    HALF = 16,
    /* Bits of a digit, and its values. */
    BITS = 8,
    DIGITS = 1 << BITS
};

/* A large leaf that is full has about two keys per bin. Where many threads scan the bins it has
 * one, because floats are skewed to few of an array's bins. */
constexpr unsigned log2_bins(unsigned capacity, unsigned threads)
{
    return capacity <= 10 << 10 ? 12 : threads <= 512 ? 13 : 14;
}

/* The shared memory of a leaf sort. Keys lie in the order of their bins from place FRONT on, the
 * first where the result begins within an aligned window. MOST: the most keys per thread. What is
 * long comes last. */
template <class Key, unsigned THREADS, unsigned MOST> struct shared_layout {
    static constexpr unsigned WARPS = THREADS / WARP, CAPACITY = MOST * THREADS;
    static constexpr unsigned LOG2_BINS = log2_bins(CAPACITY, THREADS), LOG2_WORDS = LOG2_BINS - 1;
    static constexpr unsigned BINS = 1 << LOG2_BINS, WORDS = 1 << LOG2_WORDS;
    static_assert(CAPACITY + PADDING < 1 << HALF);
    Key lowest[WARPS], highest[WARPS];
    unsigned warp_totals[WARPS], fullest[WARPS];
    union {
        /* Bin b is in the low half of word b, or in the high half of word b - WORDS. */
        alignas(16) unsigned bins[WORDS];
        warp_counts<WARPS, DIGITS> counts;
    };
    alignas(16) Key ranks[CAPACITY + PADDING];
};

template <class Key> __device__ __forceinline__ unsigned bit_length(Key x)
{
    if constexpr (sizeof(Key) == 8)
        return 64 - __clzll((long long)x);
    else
        return 32 - __clz((int)x);
}

template <class T> __device__ __forceinline__ T warp_min(T x)
{
    if constexpr (std::is_same_v<T, uint32_t> && COMPILED_FOR >= 80)
        return __reduce_min_sync(ALL_LANES, x);
    else
#pragma unroll
        for (unsigned stride = WARP / 2; stride > 0; stride /= 2)
            x = min(x, __shfl_xor_sync(ALL_LANES, x, stride));
    return x;
}

template <class T> __device__ __forceinline__ T warp_max(T x)
{
    return T(~warp_min(T(~x)));
}

/* The block's keys: rank[k] of thread t is number k * THREADS + t of `count`. sort_held_floats
 * holds the keys themselves there, not their ranks, because inner_bins are those of keys. */
template <class Key, unsigned THREADS, unsigned COUNT_> struct held {
    static constexpr unsigned COUNT = COUNT_;
    Key rank[COUNT];
    unsigned count;

    /* Loads keys and maps them to ranks. All loads are under way before the first is waited for. */
    template <class Order> __device__ __forceinline__ void load(const Key *from)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = has(k) ? from[k * THREADS + threadIdx.x] : Key(0);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = Order()(rank[k]);
    }

    __device__ __forceinline__ bool has(unsigned k) const
    {
        return k * THREADS + threadIdx.x < count;
    }
};

/* Bins of equal width in rank. */
template <class Key> struct rank_bins {
    unsigned shift;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)(rank >> shift);
    }
};

/* Bins of equal width in value, for keys that are not mapped to ranks. */
template <class Key> struct inner_bins {
    value_bins<Key> bins;

    __device__ __forceinline__ unsigned of(Key bits) const
    {
        return bins.of_number(number_of_bits(bits));
    }
};

/* The word that has a bin's counter, and the place of its bits there. */
template <unsigned LOG2_WORDS> struct counter {
    unsigned word, shift;

    __device__ __forceinline__ explicit counter(unsigned index)
    {
        word = index & ((1u << LOG2_WORDS) - 1);
        shift = (index >> LOG2_WORDS) * HALF;
    }
    __device__ __forceinline__ unsigned in(unsigned value) const
    {
        return value >> shift & ((1u << HALF) - 1);
    }
    __device__ __forceinline__ unsigned of(const unsigned *words) const
    {
        return in(words[word]);
    }
    /* Counts one more key. Returns how many there were. */
    __device__ __forceinline__ unsigned add(unsigned *words) const
    {
        return in(atomicAdd(&words[word], 1u << shift));
    }
};

template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void clear_bins(shared_layout<Key, THREADS, MOST> *shared)
{
    auto *words = reinterpret_cast<unit<uint32_t> *>(shared->bins);
    for (unsigned w = threadIdx.x; w < shared->WORDS / unit<uint32_t>::WIDTH; w += THREADS)
        words[w] = {};
}

template <class Held, class Bins, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void count_by_bins(shared_layout<Key, THREADS, MOST> *shared,
                                              const Held &keys, const Bins &bins)
{
    using counter = counter<shared_layout<Key, THREADS, MOST>::LOG2_WORDS>;
#pragma unroll
    for (unsigned k = 0; k < Held::COUNT; k++)
        if (keys.has(k))
            counter(bins.of(keys.rank[k])).add(shared->bins);
}

/* Turns the counts of bins into starts, the first of which is `first`, and returns the count of the
 * fullest. A warp has rows of a word per lane. */
template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ unsigned starts_of_bins(shared_layout<Key, THREADS, MOST> *shared,
                                                   unsigned first)
{
    constexpr unsigned ROWS = shared_layout<Key, THREADS, MOST>::WORDS / THREADS;
    constexpr unsigned LOW = (1u << HALF) - 1;
    const unsigned warp = threadIdx.x / WARP, lane = lane_index();
    unsigned *own = shared->bins + warp * WARP * ROWS + lane;
    unsigned sum = 0, most = 0;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        const unsigned counts = own[r * WARP], inclusive = warp_inclusive_sum(counts);
        most = max(most, max(counts & LOW, counts >> HALF));
        own[r * WARP] = sum + inclusive - counts; /* not in registers, which the keys take */
        sum += __shfl_sync(ALL_LANES, inclusive, WARP - 1);
    }
    most = warp_max((uint32_t)most);
    if (lane == 0) {
        shared->warp_totals[warp] = sum;
        shared->fullest[warp] = most;
    }
    __syncthreads();
    /* The bins of the high halves come after all of the low halves. */
    const unsigned total = lane < THREADS / WARP ? shared->warp_totals[lane] : 0;
    const unsigned start =
        warp_sum(lane < warp ? total : 0) + (warp_sum(total) << HALF) + (first << HALF | first);
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++)
        own[r * WARP] += start;
    return warp_max(lane < THREADS / WARP ? (uint32_t)shared->fullest[lane] : 0u);
}

template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool are_sorted(const shared_layout<Key, THREADS, MOST> *shared,
                                           const result<Key> &result)
{
    bool sorted = true;
    for (unsigned i = result.first + threadIdx.x; i + 1 < result.end; i += THREADS)
        sorted &= shared->ranks[place_of<Key>(i)] <= shared->ranks[place_of<Key>(i + 1)];
    return __syncthreads_and(sorted) != 0;
}

/* The smallest and the largest key. */
template <class Key> struct extent {
    Key lowest, highest;
};

/* Returns the extent of the block's keys to every thread. */
template <class Held, class Key, unsigned THREADS, unsigned MOST, class Order = unsigned_order<Key>>
__device__ __forceinline__ extent<Key> extent_of(shared_layout<Key, THREADS, MOST> *shared,
                                                 const Held &keys, Order order = {})
{
    Key lowest = Key(~Key(0)), highest = 0;
#pragma unroll
    for (unsigned k = 0; k < Held::COUNT; k++)
        if (keys.has(k)) {
            const Key rank = order(keys.rank[k]);
            lowest = min(lowest, rank);
            highest = max(highest, rank);
        }
    const unsigned warp = threadIdx.x / WARP, lane = lane_index();
    lowest = warp_min(lowest), highest = warp_max(highest);
    if (lane == 0) {
        shared->lowest[warp] = lowest;
        shared->highest[warp] = highest;
    }
    __syncthreads();
    const bool has_warp = lane < THREADS / WARP;
    return {warp_min(has_warp ? shared->lowest[lane] : Key(~Key(0))),
            warp_max(has_warp ? shared->highest[lane] : Key(0))};
}

/* Returns to every thread the bits in which any two keys differ. Ends without a barrier. */
template <unsigned COUNT, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ Key differing_bits(shared_layout<Key, THREADS, MOST> *shared,
                                              const held<Key, THREADS, COUNT> &keys, Key any)
{
    Key differing = 0;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            differing |= keys.rank[k] ^ any;
    differing = warp_or(differing);
    if (lane_index() == 0)
        shared->lowest[threadIdx.x / WARP] = differing;
    __syncthreads();
    return warp_or(lane_index() < THREADS / WARP ? shared->lowest[lane_index()] : Key(0));
}

/* Sorts instead of steps 2 and 3: by the bytes in which keys differ, the lowest first. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __noinline__ void sort_by_digits(shared_layout<Key, THREADS, MOST> *shared,
                                            const Key *from, unsigned count, Key *out)
{
    held<Key, THREADS, COUNT> keys;
    keys.count = count;
    keys.template load<Order>(from);
    const unsigned warp = threadIdx.x / WARP, first = index_in_tile<COUNT>(0);
    const Key any = Order()(from[0]), differing = differing_bits(shared, keys, any);
    /* Keys past the end have every bit that differs, and come last. */
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (!keys.has(k))
            keys.rank[k] = any | differing;
    unsigned *own = shared->counts.of_warp[warp];
    for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += BITS) {
        if ((differing >> shift) % DIGITS == 0)
            continue;
        for (unsigned d = lane_index(); d < DIGITS; d += WARP)
            own[d] = 0;
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            atomicAdd(&own[(unsigned)(keys.rank[k] >> shift) % DIGITS], 1u);
        __syncthreads();
        starts_of_digits(&shared->counts, shared->warp_totals, [](unsigned) {});
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            shared->ranks[rank_in_warp<BITS>((unsigned)(keys.rank[k] >> shift) % DIGITS, own)] =
                keys.rank[k];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            keys.rank[k] = shared->ranks[first + k * WARP];
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (first + k * WARP < keys.count)
            out[first + k * WARP] = Order().inverse(keys.rank[k]);
}

/* Returns to all threads whether so many of a warp's first keys share a bin, but not their value,
 * that probably more keys share one than windows can sort. */
template <class Held, class Bins>
__device__ __forceinline__ bool seem_skewed(const Held &keys, const Bins &bins)
{
    enum { MANY = 6 };
    const auto first = __shfl_sync(ALL_LANES, keys.rank[0], 0);
    const bool is_close = bins.of(keys.rank[0]) == bins.of(first) && keys.rank[0] != first;
    return __syncthreads_or(__popc(__ballot_sync(ALL_LANES, keys.has(0) && is_close)) >= MANY);
}

/* Does step 2. The counters are zero before it. Returns the most keys that share a bin. */
template <class Held, class Bins, class Key, unsigned THREADS, unsigned MOST,
          class Order = unsigned_order<Key>>
__device__ __forceinline__ unsigned place_by_bins(shared_layout<Key, THREADS, MOST> *shared,
                                                  const Held &keys, const Bins &bins,
                                                  const result<Key> &result, Order order = {})
{
    using counter = counter<shared_layout<Key, THREADS, MOST>::LOG2_WORDS>;
    count_by_bins(shared, keys, bins);
    __syncthreads();
    const unsigned fullest = starts_of_bins(shared, result.first);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < Held::COUNT; k++)
        if (keys.has(k)) {
            const unsigned place = counter(bins.of(keys.rank[k])).add(shared->bins);
            shared->ranks[place_of<Key>(place)] = order(keys.rank[k]);
        }
    /* Windows find the lowest rank before the first key, and the highest past the end. */
    if (threadIdx.x < result.first)
        shared->ranks[place_of<Key>(threadIdx.x)] = 0;
    if (threadIdx.x < FRONT + WINDOW)
        shared->ranks[place_of<Key>(result.end + threadIdx.x)] = Key(~Key(0));
    __syncthreads();
    return fullest;
}

/* Writes the result of sorted ranks. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void write_ranks(const shared_layout<Key, THREADS, MOST> *shared,
                                            const result<Key> &result)
{
#pragma unroll 4
    for (unsigned i = result.first + threadIdx.x; i < result.end; i += THREADS)
        result.aligned[i] = key_at<Order>(result, shared->ranks[place_of<Key>(i)]);
}

/* Does step 3. Returns false, and writes nothing, if too many keys share a bin and are out of
 * order. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool finish(shared_layout<Key, THREADS, MOST> *shared,
                                       const result<Key> &result, unsigned fullest)
{
    if (fullest >= SKEWED_BIN && are_sorted(shared, result)) {
        write_ranks<Order>(shared, result);
        return true;
    }
    if (fullest > FRONT)
        return false;
    write_windows<Order, THREADS>(shared->ranks, result, fullest);
    return true;
}

/* Puts keys that are to be sorted in another way into shared memory, before any is placed. Returns
 * where they are. Each thread has written the keys that it will read. */
template <class Held, class Key, unsigned THREADS, unsigned MOST, class KeyOf>
__device__ __forceinline__ const Key *put_back(shared_layout<Key, THREADS, MOST> *shared,
                                               const Held &keys, KeyOf key_of)
{
#pragma unroll
    for (unsigned k = 0; k < Held::COUNT; k++)
        if (keys.has(k))
            shared->ranks[k * THREADS + threadIdx.x] = key_of(keys.rank[k]);
    return shared->ranks;
}

/* Writes keys that are all equal. */
template <unsigned THREADS, class Key>
__device__ __forceinline__ const Key *write_equal(Key key, unsigned count, Key *out)
{
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        out[i] = key;
    return nullptr;
}

/* Does what sort_by_bins() does, for integers, at most COUNT per thread. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ const Key *sort_held(shared_layout<Key, THREADS, MOST> *shared,
                                                const Key *from, unsigned count, Key *out,
                                                unsigned range_bits, bool looks)
{
    using layout = shared_layout<Key, THREADS, MOST>;
    held<Key, THREADS, COUNT> keys;
    keys.count = count;
    extent<Key> range;
    const bool is_known = range_bits > 0;
    if (is_known)
        range.lowest = Order()(from[0]) >> range_bits << range_bits;
    keys.template load<Order>(from);
    clear_bins(shared);
    if (is_known) {
        __syncthreads();
    } else {
        range = extent_of(shared, keys);
        if (range.lowest == range.highest)
            return write_equal<THREADS>(Order().inverse(range.lowest), count, out);
        range_bits = bit_length(Key(range.highest - range.lowest));
    }
    result<Key> result = result_at(out, count);
    const unsigned shift = range_bits > layout::LOG2_BINS ? range_bits - layout::LOG2_BINS : 0;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        keys.rank[k] -= range.lowest;
    result.lowest = range.lowest;
    const rank_bins<Key> bins = {shift};
    if (looks && seem_skewed(keys, bins))
        return put_back(shared, keys,
                        [&](Key rank) { return Order().inverse(Key(rank + range.lowest)); });
    const unsigned fullest = place_by_bins(shared, keys, bins, result);
    if (shift > 0)
        return finish<Order>(shared, result, fullest) ? nullptr : from;
    write_ranks<Order>(shared, result); /* a bin is one value */
    return nullptr;
}

/* The same for floats. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ const Key *sort_held_floats(shared_layout<Key, THREADS, MOST> *shared,
                                                       const Key *from, unsigned count, Key *out,
                                                       bool looks)
{
    using layout = shared_layout<Key, THREADS, MOST>;
    held<Key, THREADS, COUNT> keys;
    keys.count = count;
    keys.template load<unsigned_order<Key>>(from);
    clear_bins(shared);
    const extent<Key> range = extent_of(shared, keys, Order());
    if (range.lowest == range.highest)
        return write_equal<THREADS>(Order().inverse(range.lowest), count, out);
    if (!have_bins(range.lowest, range.highest))
        return from;
    const inner_bins<Key> bins = {{range.lowest, range.highest, 1u << layout::LOG2_BINS}};
    if (looks && seem_skewed(keys, bins))
        return put_back(shared, keys, [](Key key) { return key; });
    const result<Key> result = result_at(out, count);
    const unsigned fullest = place_by_bins(shared, keys, bins, result, Order());
    return finish<Order>(shared, result, fullest) ? nullptr : from;
}

/* Sorts from[0..count) into out, which may be the same place: all keys are read before any is
 * written. range_bits: the bits of a range that begins at a multiple of its length and has all
 * ranks, or 0; floats need none. looks: a few keys are looked at first to see whether all are
 * skewed, which takes time where they are not. Returns nullptr if the keys are sorted. If they are
 * skewed, infinite or NaN, returns the place where they still are: `from` or shared memory. Ends
 * without a barrier. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ const Key *sort_by_bins(shared_layout<Key, THREADS, MOST> *shared,
                                                   const Key *from, unsigned count, Key *out,
                                                   unsigned range_bits, bool looks = false)
{
    constexpr unsigned SOME = MOST / 2, MORE = (MOST * 5 + 7) / 8;
    constexpr bool HAS_MORE = MOST > 16; /* a step between SOME and MOST, where keys are many */
    const auto sort = [&]<unsigned COUNT>() {
        if constexpr (IS_FLOAT<Order>)
            return sort_held_floats<COUNT, Order>(shared, from, count, out, looks);
        else
            return sort_held<COUNT, Order>(shared, from, count, out, range_bits, looks);
    };
    if (FEW < SOME && count <= FEW * THREADS)
        return sort.template operator()<FEW>();
    if (count <= SOME * THREADS)
        return sort.template operator()<SOME>();
    if constexpr (HAS_MORE)
        if (count <= MORE * THREADS)
            return sort.template operator()<MORE>();
    return sort.template operator()<MOST>();
}

/* Sorts skewed keys. Kernels that seldom need this leave it out, because it would take their
 * registers. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void sort_skewed(shared_layout<Key, THREADS, MOST> *shared,
                                            const Key *from, unsigned count, Key *out)
{
    constexpr unsigned SOME = MOST / 2, MERGES = MOST < MERGED ? MOST : (unsigned)MERGED;
    if (FEW < MERGES && count <= FEW * THREADS)
        merge_sort::sort<THREADS, FEW, Order>(shared->ranks, from, count, out);
    else if (count <= MERGES * THREADS)
        merge_sort::sort<THREADS, MERGES, Order>(shared->ranks, from, count, out);
    else if constexpr (MERGES < MOST) {
        if (MERGES < SOME && count <= SOME * THREADS)
            sort_by_digits<SOME, Order>(shared, from, count, out);
        else
            sort_by_digits<MOST, Order>(shared, from, count, out);
    }
}

/* Sorts keys, whatever they are. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void sort_leaf(shared_layout<Key, THREADS, MOST> *shared,
                                          const Key *from, unsigned count, Key *out,
                                          unsigned range_bits = 0, bool looks = false)
{
    from = sort_by_bins<Order>(shared, from, count, out, range_bits, looks);
    if (from != nullptr) {
        __syncthreads(); /* the bins are given up */
        sort_skewed<Order>(shared, from, count, out);
    }
    __syncthreads(); /* before shared memory is used again */
}

} // namespace SCANBENCH_BACKEND::leaf_sort
