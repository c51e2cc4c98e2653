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
 * are infinite or NaN, a merge sort takes the place of 2 and 3, or for many keys, narrow ones and
 * pairs in one block a stable radix sort of 8 bits per pass.
 *
 * Shared memory bounds it: two atomics and a store per key, at places that no pattern keeps apart.
 */
#pragma once

#include "leaf_windows.cuh"
#include "radix_rank.cuh"
#include "tile_keys.cuh"

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

/* Bins of equal width in value, for keys that are not mapped to ranks. */
template <class Key> struct inner_bins {
    value_bins<Key> bins;

    __device__ __forceinline__ unsigned of(Key bits) const
    {
        return bins.of_number(same_bits<value_of_width<Key>>(bits));
    }
};

/* The word that has a bin's counter, and the place of its bits there: bin b is in the low half of
 * word b, or in the high half of word b - WORDS. */
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
    /* Counts one more key. Returns how many there were. */
    __device__ __forceinline__ unsigned add(unsigned *words) const
    {
        return in(atomicAdd(&words[word], 1u << shift));
    }
};

/* The smallest and the largest key. */
template <class Key> struct extent {
    Key lowest, highest;
};

/* Returns the extent of a block to every thread, from that of each thread's keys. lowest, highest:
 * shared memory, a word for each warp. */
template <class Key>
__device__ __forceinline__ extent<Key> block_extent(extent<Key> own, Key *lowest, Key *highest,
                                                    unsigned warps)
{
    const unsigned warp = threadIdx.x / WARP, lane = lane_index();
    own = {warp_min(own.lowest), warp_max(own.highest)};
    if (lane == 0) {
        lowest[warp] = own.lowest;
        highest[warp] = own.highest;
    }
    __syncthreads();
    return {warp_min(lane < warps ? lowest[lane] : Key(~Key(0))),
            warp_max(lane < warps ? highest[lane] : Key(0))};
}

/* The block's agent, in shared memory. Keys lie in the order of their bins from place FRONT on, the
 * first where the result begins within an aligned window. MOST: the most keys per thread. What is
 * long comes last. */
template <class Key, unsigned THREADS, unsigned MOST> struct agent {
    static constexpr unsigned WARPS = THREADS / WARP, CAPACITY = MOST * THREADS;
    static constexpr unsigned LOG2_BINS = log2_bins(CAPACITY, THREADS), LOG2_WORDS = LOG2_BINS - 1;
    static constexpr unsigned BINS = 1 << LOG2_BINS, WORDS = 1 << LOG2_WORDS;
    static_assert(CAPACITY + PADDING < 1 << HALF);
    using bin_counter = counter<LOG2_WORDS>;
    template <unsigned COUNT> using held = tile_keys<Key, THREADS, COUNT>;

    Key lowest[WARPS], highest[WARPS];
    unsigned warp_totals[WARPS], fullest[WARPS];
    union {
        alignas(16) unsigned bins[WORDS];
        warp_counts<WARPS, DIGITS> counts;
    };
    alignas(16) Key ranks[CAPACITY + PADDING];

    /* ---- 1. The range ---- */

    /* Returns the extent of the block's keys to every thread. Order maps what is held to ranks. */
    template <class Order = unsigned_order<Key>, class Held>
    __device__ __forceinline__ extent<Key> extent_of(const Held &keys)
    {
        Key least = Key(~Key(0)), most = 0;
        keys.for_each([&](unsigned k) {
            const Key rank = Order()(keys.rank[k]);
            least = min(least, rank);
            most = max(most, rank);
        });
        return block_extent<Key>({least, most}, lowest, highest, WARPS);
    }

    /* ---- 2. Bins ---- */

    __device__ __forceinline__ void clear_bins()
    {
        using words = pack<unsigned, PACK_WIDTH<unsigned>>;
        for (unsigned w = threadIdx.x; w < WORDS / PACK_WIDTH<unsigned>; w += THREADS)
            reinterpret_cast<words *>(bins)[w] = {};
    }

    template <class Held, class Bins>
    __device__ __forceinline__ void count_by_bins(const Held &keys, const Bins &of)
    {
        keys.for_each([&](unsigned k) { bin_counter(of.of(keys.rank[k])).add(bins); });
    }

    /* The count of a bin, or its start. */
    __device__ __forceinline__ unsigned at_bin(unsigned bin) const
    {
        return bin_counter(bin).in(bins[bin_counter(bin).word]);
    }

    /* Turns the counts of bins into starts, the first of which is `first`, and returns the count of
     * the fullest. A warp has rows of a word per lane. */
    __device__ __forceinline__ unsigned starts_of_bins(unsigned first)
    {
        constexpr unsigned ROWS = WORDS / THREADS, LOW = (1u << HALF) - 1;
        const unsigned warp = threadIdx.x / WARP, lane = lane_index();
        unsigned *own = bins + warp * WARP * ROWS + lane;
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
            warp_totals[warp] = sum;
            fullest[warp] = most;
        }
        __syncthreads();
        /* The bins of the high halves come after all of the low halves. */
        const unsigned total = lane < WARPS ? warp_totals[lane] : 0;
        const unsigned start =
            warp_sum(lane < warp ? total : 0) + (warp_sum(total) << HALF) + (first << HALF | first);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            own[r * WARP] += start;
        return warp_max(lane < WARPS ? (uint32_t)fullest[lane] : 0u);
    }

    /* Puts ranks in the order of their bins. The counters are zero before it. Returns the most keys
     * that share a bin. */
    template <class Order, class Held, class Bins, class Result>
    __device__ __forceinline__ unsigned place_by_bins(const Held &keys, const Bins &of,
                                                      const Result &result)
    {
        count_by_bins(keys, of);
        __syncthreads();
        const unsigned most = starts_of_bins(result.first);
        __syncthreads();
        keys.for_each([&](unsigned k) {
            const unsigned place = bin_counter(of.of(keys.rank[k])).add(bins);
            ranks[place_of<Key>(place)] = Order()(keys.rank[k]);
        });
        /* Windows find the lowest rank before the first key, and the highest past the end. */
        if (threadIdx.x < result.first)
            ranks[place_of<Key>(threadIdx.x)] = 0;
        if (threadIdx.x < FRONT + WINDOW)
            ranks[place_of<Key>(result.end + threadIdx.x)] = Key(~Key(0));
        __syncthreads();
        return most;
    }

    /* Returns to all threads whether so many of a warp's first keys share a bin, but not their
     * value, that probably more keys share one than windows can sort. */
    template <class Held, class Bins>
    static __device__ __forceinline__ bool seem_skewed(const Held &keys, const Bins &of)
    {
        enum { MANY = 6 };
        const auto first = __shfl_sync(ALL_LANES, keys.rank[0], 0);
        const bool is_close = of.of(keys.rank[0]) == of.of(first) && keys.rank[0] != first;
        return __syncthreads_or(__popc(__ballot_sync(ALL_LANES, keys.has(0) && is_close)) >= MANY);
    }

    /* ---- 3. The result ---- */

    template <class Result> __device__ __forceinline__ bool are_sorted(const Result &result) const
    {
        bool sorted = true;
        for (unsigned i = result.first + threadIdx.x; i + 1 < result.end; i += THREADS)
            sorted &= ranks[place_of<Key>(i)] <= ranks[place_of<Key>(i + 1)];
        return __syncthreads_and(sorted) != 0;
    }

    /* Writes the result of sorted ranks. */
    template <class Order, class Result>
    __device__ __forceinline__ void write_ranks(const Result &result) const
    {
#pragma unroll 4
        for (unsigned i = result.first + threadIdx.x; i < result.end; i += THREADS)
            result.aligned[i] = key_at<Order>(result, ranks[place_of<Key>(i)]);
    }

    /* Returns false, and writes nothing, if too many keys share a bin and are out of order. */
    template <class Order, class Result>
    __device__ __forceinline__ bool finish(const Result &result, unsigned most)
    {
        if (most >= SKEWED_BIN && are_sorted(result)) {
            write_ranks<Order>(result);
            return true;
        }
        if (most > FRONT)
            return false;
        write_windows<Order, THREADS>(ranks, result, most);
        return true;
    }

    /* Puts keys that are to be sorted in another way into shared memory, before any is placed.
     * Returns where they are. A barrier is needed before they are read. */
    template <class Order, class Held>
    __device__ __forceinline__ const Key *put_back(const Held &keys, Key lowest_rank)
    {
        keys.for_each([&](unsigned k) {
            ranks[keys.index(k)] = Order().inverse(Key(keys.rank[k] + lowest_rank));
        });
        return ranks;
    }

    /* Does what sort_by_bins() does, for at most COUNT keys per thread. Floats are held as keys,
     * because inner_bins are those of keys, and integers as ranks counted from the lowest. */
    template <unsigned COUNT, class Order>
    __device__ __forceinline__ const Key *sort_held(const Key *from, unsigned count, Key *out,
                                                    unsigned range_bits, bool looks)
    {
        using same = unsigned_order<Key>;
        using held_order = std::conditional_t<IS_FLOAT<Order>, same, Order>;
        using order_of_held = std::conditional_t<IS_FLOAT<Order>, Order, same>;
        held<COUNT> keys;
        keys.count = count;
        extent<Key> range;
        const bool is_known = !IS_FLOAT<Order> && range_bits > 0;
        if (is_known)
            range.lowest = Order()(from[0]) >> range_bits << range_bits;
        keys.load(from);
        keys.template map<held_order>();
        clear_bins();
        if (is_known) {
            __syncthreads();
        } else {
            range = extent_of<order_of_held>(keys);
            if (range.lowest == range.highest) {
                for (unsigned i = threadIdx.x; i < count; i += THREADS)
                    out[i] = Order().inverse(range.lowest);
                return nullptr;
            }
            range_bits = bit_length(Key(range.highest - range.lowest));
        }
        if (IS_FLOAT<Order> && !have_bins(range.lowest, range.highest))
            return from;
        auto result = result_at(out, count);
        const auto sort = [&](const auto &of, Key lowest_rank, bool bin_is_value) {
            if (looks && seem_skewed(keys, of))
                return put_back<held_order>(keys, lowest_rank);
            const unsigned most = place_by_bins<order_of_held>(keys, of, result);
            if (!bin_is_value)
                return finish<Order>(result, most) ? nullptr : from;
            write_ranks<Order>(result);
            return (const Key *)nullptr;
        };
        if constexpr (IS_FLOAT<Order>)
            return sort(inner_bins<Key>{{range.lowest, range.highest, BINS}}, 0, false);
        const unsigned shift = range_bits > LOG2_BINS ? range_bits - LOG2_BINS : 0;
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            keys.rank[k] -= range.lowest;
        result.lowest = range.lowest;
        return sort(rank_bins<Key>{shift}, range.lowest, shift == 0);
    }

    /* Sorts from[0..count) into out, which may be the same place: all keys are read before any is
     * written. range_bits: the bits of a range that begins at a multiple of its length and has all
     * ranks, or 0; floats need none. looks: a few keys are looked at first to see whether all are
     * skewed, which takes time where they are not. Returns nullptr if the keys are sorted. If they
     * are skewed, infinite or NaN, returns the place where they still are: `from` or shared memory.
     * Ends without a barrier. */
    template <class Order>
    __device__ __forceinline__ const Key *sort_by_bins(const Key *from, unsigned count, Key *out,
                                                       unsigned range_bits, bool looks = false)
    {
        constexpr unsigned SOME = MOST / 2, MORE = (MOST * 5 + 7) / 8;
        if (FEW < SOME && count <= FEW * THREADS)
            return sort_held<FEW, Order>(from, count, out, range_bits, looks);
        if (count <= SOME * THREADS)
            return sort_held<SOME, Order>(from, count, out, range_bits, looks);
        if constexpr (MOST > 16) /* a step between SOME and MOST, where keys are many */
            if (count <= MORE * THREADS)
                return sort_held<MORE, Order>(from, count, out, range_bits, looks);
        return sort_held<MOST, Order>(from, count, out, range_bits, looks);
    }

    /* ---- Skewed keys ---- */

    /* Returns to every thread the bits in which any two keys differ. All of a thread's are there.
     * Ends without a barrier. */
    template <class Held> __device__ __forceinline__ Key differing_bits(const Held &keys, Key any)
    {
        Key differing = 0;
#pragma unroll
        for (const Key rank : keys.rank)
            differing |= rank ^ any;
        differing = warp_or(differing);
        if (lane_index() == 0)
            lowest[threadIdx.x / WARP] = differing;
        __syncthreads();
        return warp_or(lane_index() < WARPS ? lowest[lane_index()] : Key(0));
    }

    /* Sorts by the bytes in which keys differ, the lowest first, from bit `shift` on. This is
     * stable. */
    template <unsigned COUNT, class Order>
    __device__ __noinline__ void sort_by_digits(const Key *from, unsigned count, Key *out,
                                                unsigned shift = 0)
    {
        held<COUNT> keys;
        const unsigned first = index_in_tile<COUNT>(0);
        const auto is_there = [&](unsigned k) { return first + k * WARP < count; };
        const Key any = Order()(from[0]);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            keys.rank[k] = is_there(k) ? Order()(from[first + k * WARP]) : any;
        const Key differing = differing_bits(keys, any);
        /* Keys past the end have every bit that differs, and come last. */
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (!is_there(k))
                keys.rank[k] = any | differing;
        unsigned *own = counts.of_warp[threadIdx.x / WARP];
        for (; shift < 8 * sizeof(Key); shift += BITS) {
            if ((differing >> shift) % DIGITS == 0)
                continue;
            clear_counters<DIGITS>(own);
            __syncwarp();
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                atomicAdd(&own[(unsigned)(keys.rank[k] >> shift) % DIGITS], 1u);
            __syncthreads();
            starts_of_digits(&counts, warp_totals, [](unsigned) {});
            __syncthreads();
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                ranks[rank_in_warp<BITS>((unsigned)(keys.rank[k] >> shift) % DIGITS, own)] =
                    keys.rank[k];
            __syncthreads();
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                keys.rank[k] = ranks[first + k * WARP];
        }
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (is_there(k))
                out[first + k * WARP] = Order().inverse(keys.rank[k]);
    }

    /* Sorts skewed keys. Kernels that seldom need this leave it out, because it would take their
     * registers. */
    template <class Order>
    __device__ __forceinline__ void sort_skewed(const Key *from, unsigned count, Key *out)
    {
        constexpr unsigned SOME = MOST / 2, MERGES = MOST < MERGED ? MOST : (unsigned)MERGED;
        if (FEW < MERGES && count <= FEW * THREADS)
            merge_sort::sort<THREADS, FEW, Order>(ranks, from, count, out);
        else if (count <= MERGES * THREADS)
            merge_sort::sort<THREADS, MERGES, Order>(ranks, from, count, out);
        else if constexpr (MERGES < MOST) {
            if (MERGES < SOME && count <= SOME * THREADS)
                sort_by_digits<SOME, Order>(from, count, out);
            else
                sort_by_digits<MOST, Order>(from, count, out);
        }
    }

    /* Sorts keys, whatever they are. */
    template <class Order>
    __device__ __forceinline__ void sort(const Key *from, unsigned count, Key *out,
                                         unsigned range_bits = 0, bool looks = false)
    {
        from = sort_by_bins<Order>(from, count, out, range_bits, looks);
        if (from != nullptr) {
            __syncthreads(); /* the bins are given up, and keys may have been put back */
            sort_skewed<Order>(from, count, out);
        }
        __syncthreads(); /* before shared memory is used again */
    }
};

} // namespace SCANBENCH_BACKEND::leaf_sort
