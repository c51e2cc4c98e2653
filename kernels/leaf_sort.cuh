/* leaf_sort.cuh: one block sorts a few thousand keys in registers and shared memory.
 *
 *   1. The smallest and the largest key bound the range, which is cut into BINS bins.
 *   2. Each key takes a place in its bin by one shared atomic; a scan tells where bins start.
 *      Keys of one bin are then neighbours.
 *   3. Windows of eight neighbours are sorted in registers, alternately those that start at
 *      multiples of eight and those four further on, until no bin can be out of order. Where a
 *      bin is one value nothing is left to do.
 *
 * Where keys crowd in few bins, as floats do below powers of two, bins are chosen anew: between
 * splitters, which are a sorted sample of the keys (Sanders and Winkel, "Super scalar sample sort",
 * ESA 2004). Keys that equal a splitter have a bin of their own, for there may be many. Where keys
 * crowd even so, a stable radix sort of 8 bits a pass takes the place of 2 and 3. */
#ifndef SCANBENCH_KERNELS_LEAF_SORT_CUH
#define SCANBENCH_KERNELS_LEAF_SORT_CUH

#include "key_order.cuh"
#include "radix_rank.cuh"

namespace SCANBENCH_BACKEND
{

namespace leaf_sort
{

enum {
    LOG2_BINS = 12,
    BINS = 1 << LOG2_BINS,
    CROWD = 24,     /* from so many keys in a bin on, they may well be equal; */
    MANY = 80,      /* of more, rounds would take longer than splitters, */
    TOO_MANY = 300, /* and of more, longer than digits */
    SPLITTERS = 256,
    LOG2_PARTS = 3, /* bins between two splitters */
    WINDOW = 8,     /* keys that a thread sorts in registers */
    BITS = 8,
    DIGITS = 1 << BITS
};

template <class Key> struct splitter_list {
    Key at[SPLITTERS]; /* sorted */
    unsigned char
        shift[SPLITTERS + 1]; /* that parts the gap before a splitter, and after the last */
};

/* MOST: keys per thread, at most. */
template <class Key, unsigned THREADS, unsigned MOST> struct shared_layout {
    static constexpr unsigned WARPS = THREADS / WARP;
    alignas(16) Key ranks[MOST * THREADS + 2 * WINDOW];
    union {
        alignas(16) unsigned starts[BINS]; /* of the bins */
        warp_counts<WARPS, DIGITS> counts;
    };
    splitter_list<Key> splitters;
    Key lowest[WARPS], highest[WARPS];
    unsigned warp_totals[WARPS], fullest[WARPS];
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
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, uint32_t>)
        return __reduce_min_sync(ALL_LANES, x);
    else
#endif
#pragma unroll
        for (unsigned stride = WARP / 2; stride > 0; stride /= 2)
            x = min(x, __shfl_xor_sync(ALL_LANES, x, stride));
    return x;
}

template <class T> __device__ __forceinline__ T warp_max(T x)
{
    return T(~warp_min(T(~x)));
}

/* The block's keys: rank[k] of thread t is number k * THREADS + t of `count`. */
template <class Key, unsigned THREADS, unsigned COUNT> struct held {
    Key rank[COUNT];
    unsigned count;

    /* All loads are under way before the first is waited for. */
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

/* Places are kept in 16 bits, two to a register. */
template <unsigned COUNT> struct packed_places {
    unsigned pair[(COUNT + 1) / 2] = {};

    __device__ __forceinline__ void set(unsigned k, unsigned place)
    {
        if (k % 2 == 0)
            pair[k / 2] = place;
        else
            pair[k / 2] |= place << 16;
    }
    __device__ __forceinline__ unsigned get(unsigned k) const
    {
        return k % 2 == 0 ? pair[k / 2] & 0xFFFF : pair[k / 2] >> 16;
    }
};

/* Bins of equal width. */
struct even_bins {
    static constexpr unsigned PERIOD = BINS + 1;
    static constexpr bool KEPT = false; /* is a key's bin kept, or found again? */
    unsigned shift;

    template <class Key> __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)(rank >> shift);
    }
};

/* Some bins in each gap between splitters, and then one for the keys that equal a splitter. */
template <class Key> struct splitter_bins {
    static constexpr unsigned PERIOD = (1 << LOG2_PARTS) + 1;
    static constexpr bool KEPT = true;
    static_assert(PERIOD * (SPLITTERS + 1) <= BINS);
    const splitter_list<Key> *splitters;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        const Key *at = splitters->at;
        unsigned below = 0;
#pragma unroll
        for (unsigned step = SPLITTERS / 2; step > 0; step /= 2)
            below += at[below + step - 1] < rank ? step : 0;
        below += at[below] < rank;
        if (below < SPLITTERS && at[below] == rank)
            return below * PERIOD + PERIOD - 1;
        const Key first = below > 0 ? Key(at[below - 1] + 1) : Key(0);
        return below * PERIOD + (unsigned)(Key(rank - first) >> splitters->shift[below]);
    }
};

/* Turns the counts of bins into starts, and returns the count of the fullest, but for the last of
 * each PERIOD, which has one value. A warp has rows of four bins per lane. */
template <unsigned PERIOD, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ unsigned starts_of_bins(shared_layout<Key, THREADS, MOST> *shared)
{
    constexpr unsigned WIDTH = 4, ROWS = BINS / THREADS / WIDTH;
    struct alignas(16) counters {
        unsigned at[WIDTH];
    };
    const unsigned warp = threadIdx.x / WARP;
    auto *own = reinterpret_cast<counters *>(shared->starts) + warp * WARP * ROWS + lane_index();
    counters value[ROWS];
    unsigned before[ROWS], sum = 0, most = 0;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        value[r] = own[r * WARP];
        unsigned in_lane = 0;
#pragma unroll
        for (unsigned b = 0; b < WIDTH; b++) {
            in_lane += value[r].at[b];
            const unsigned bin = ((warp * ROWS + r) * WARP + lane_index()) * WIDTH + b;
            if (PERIOD > BINS || bin % PERIOD != PERIOD - 1)
                most = max(most, value[r].at[b]);
        }
        const unsigned inclusive = warp_inclusive_sum(in_lane);
        before[r] = sum + inclusive - in_lane;
        sum += __shfl_sync(ALL_LANES, inclusive, WARP - 1);
    }
    most = warp_max((uint32_t)most);
    if (lane_index() == 0) {
        shared->warp_totals[warp] = sum;
        shared->fullest[warp] = most;
    }
    __syncthreads();
    const unsigned start = sum_of_first(warp, shared->warp_totals);
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        unsigned next = start + before[r];
#pragma unroll
        for (unsigned b = 0; b < WIDTH; b++) {
            const unsigned count = value[r].at[b];
            value[r].at[b] = next;
            next += count;
        }
        own[r * WARP] = value[r];
    }
    return warp_max(lane_index() < THREADS / WARP ? (uint32_t)shared->fullest[lane_index()] : 0u);
}

template <class Key> __device__ __forceinline__ void compare_exchange(Key &a, Key &b)
{
    const Key low = min(a, b);
    b = max(a, b);
    a = low;
}

/* Batcher's odd-even merge sort. */
template <class Key> __device__ __forceinline__ void sort_window(Key (&key)[WINDOW])
{
    constexpr unsigned char pairs[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                            {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                            {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma unroll
    for (unsigned p = 0; p < 19; p++)
        compare_exchange(key[pairs[p][0]], key[pairs[p][1]]);
}

/* 3. The keys lie by bin in shared->ranks, and no bin has more than `fullest`: it touches at most
 * (fullest + 6) / 4 groups of four, which as many rounds of odd-even transposition sort. */
template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void finish_bins(shared_layout<Key, THREADS, MOST> *shared,
                                            unsigned count, unsigned fullest)
{
    struct alignas(16) half_window {
        Key at[WINDOW / 2];
    };
    const unsigned rounds = max(2u, (fullest + 6) / 4);
    for (unsigned round = 0; round < rounds; round++) {
        const unsigned offset = round % 2 * (WINDOW / 2);
#pragma unroll 1
        for (unsigned i = offset + threadIdx.x * WINDOW; i < count; i += THREADS * WINDOW) {
            auto *window = reinterpret_cast<half_window *>(shared->ranks + i);
            const half_window low = window[0], high = window[1];
            Key key[WINDOW];
#pragma unroll
            for (unsigned k = 0; k < WINDOW; k++)
                key[k] = k < WINDOW / 2 ? low.at[k] : high.at[k - WINDOW / 2];
            sort_window(key);
            half_window sorted[2];
#pragma unroll
            for (unsigned k = 0; k < WINDOW; k++)
                sorted[k / (WINDOW / 2)].at[k % (WINDOW / 2)] = key[k];
            window[0] = sorted[0];
            window[1] = sorted[1];
        }
        __syncthreads();
    }
}

template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool are_sorted(const shared_layout<Key, THREADS, MOST> *shared,
                                           unsigned count)
{
    bool sorted = true;
    for (unsigned i = threadIdx.x; i + 1 < count; i += THREADS)
        sorted &= shared->ranks[i] <= shared->ranks[i + 1];
    return __syncthreads_and(sorted) != 0;
}

/* The smallest and the largest key; every thread gets them. */
template <class Key> struct extent {
    Key lowest, highest;
};

template <unsigned COUNT, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ extent<Key> extent_of(shared_layout<Key, THREADS, MOST> *shared,
                                                 const held<Key, THREADS, COUNT> &keys)
{
    Key lowest = Key(~Key(0)), highest = 0;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k)) {
            lowest = min(lowest, keys.rank[k]);
            highest = max(highest, keys.rank[k]);
        }
    const unsigned warp = threadIdx.x / WARP, lane = lane_index();
    lowest = warp_min(lowest), highest = warp_max(highest);
    if (lane == 0) {
        shared->lowest[warp] = lowest;
        shared->highest[warp] = highest;
    }
    __syncthreads();
    const bool speaks = lane < THREADS / WARP;
    return {warp_min(speaks ? shared->lowest[lane] : Key(~Key(0))),
            warp_max(speaks ? shared->highest[lane] : Key(0))};
}

/* The bits in which any two keys differ; every thread gets them. Ends without a barrier. */
template <unsigned COUNT, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ Key differing_bits(shared_layout<Key, THREADS, MOST> *shared,
                                              const held<Key, THREADS, COUNT> &keys, Key lowest)
{
    Key differing = 0;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            differing |= keys.rank[k] ^ lowest;
    differing = warp_or(differing);
    if (lane_index() == 0)
        shared->lowest[threadIdx.x / WARP] = differing;
    __syncthreads();
    return warp_or(lane_index() < THREADS / WARP ? shared->lowest[lane_index()] : Key(0));
}

/* In place of 2 and 3: bytes in which keys differ, the lowest first. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void sort_by_digits(shared_layout<Key, THREADS, MOST> *shared,
                                               const Key *from, unsigned count, Key lowest,
                                               Key *out)
{
    held<Key, THREADS, COUNT> keys;
    keys.count = count;
    keys.template load<Order>(from);
    const unsigned warp = threadIdx.x / WARP;
    const unsigned first = warp * WARP * COUNT + lane_index();
    const Key differing = differing_bits(shared, keys, lowest);
    /* What lies past the end has every bit that differs, and comes last. */
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (!keys.has(k))
            keys.rank[k] = lowest | differing;
    for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += BITS) {
        if ((differing >> shift) % DIGITS == 0)
            continue;
        unsigned *own = shared->counts.of_warp[warp];
        for (unsigned d = lane_index(); d < DIGITS; d += WARP)
            own[d] = 0;
        __syncwarp();
        packed_places<COUNT> places;
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            places.set(k, rank_in_warp<BITS>((unsigned)(keys.rank[k] >> shift) % DIGITS, own));
        __syncthreads();
        starts_of_digits(&shared->counts, shared->warp_totals);
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            shared->ranks[places.get(k) + own[(unsigned)(keys.rank[k] >> shift) % DIGITS]] =
                keys.rank[k];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            keys.rank[k] = shared->ranks[first + k * WARP];
        __syncthreads();
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (first + k * WARP < keys.count)
            out[first + k * WARP] = Order().inverse(keys.rank[k]);
}

/* 2. The counters are zero. Returns how many keys share a bin, at most. */
template <class Bins, class Key, unsigned THREADS, unsigned MOST, unsigned COUNT>
__device__ __forceinline__ unsigned place_by_bins(shared_layout<Key, THREADS, MOST> *shared,
                                                  const held<Key, THREADS, COUNT> &keys, Bins bins)
{
    /* A key's place in its bin, and below it the bin, where that is kept. */
    constexpr unsigned LOW_BITS = Bins::KEPT ? LOG2_BINS : 0;
    unsigned place[COUNT] = {};
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k)) {
            const unsigned bin = bins.of(keys.rank[k]);
            place[k] = atomicAdd(&shared->starts[bin], 1u) << LOW_BITS;
            if (Bins::KEPT)
                place[k] |= bin;
        }
    __syncthreads();
    const unsigned fullest = starts_of_bins<Bins::PERIOD>(shared);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k)) {
            const unsigned bin = Bins::KEPT ? place[k] % BINS : bins.of(keys.rank[k]);
            place[k] = (place[k] >> LOW_BITS) + shared->starts[bin];
        }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            shared->ranks[place[k]] = keys.rank[k];
    if (threadIdx.x < 2 * WINDOW) /* past the end, the windows find the highest keys */
        shared->ranks[keys.count + threadIdx.x] = Key(~Key(0));
    __syncthreads();
    return fullest;
}

/* 3. Returns false where more than `most` keys share a bin, out of order. */
template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool finish(shared_layout<Key, THREADS, MOST> *shared, unsigned count,
                                       unsigned fullest, unsigned most)
{
    if (fullest >= CROWD && are_sorted(shared, count))
        return true;
    if (fullest > most)
        return false;
    finish_bins(shared, count, fullest);
    return true;
}

/* The result. Ranks are counted from the lowest. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void write_ranks(const shared_layout<Key, THREADS, MOST> *shared,
                                            unsigned count, Key lowest, Key *out)
{
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        out[i] = Order().inverse(Key(shared->ranks[i] + lowest));
}

/* Sorts at most COUNT keys per thread, or returns false where too many share a bin. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool sort_by_bins(shared_layout<Key, THREADS, MOST> *shared,
                                             const Key *from, unsigned count, Key *out,
                                             extent<Key> *range)
{
    held<Key, THREADS, COUNT> keys;
    keys.count = count;
    keys.template load<Order>(from);
    for (unsigned b = threadIdx.x; b < BINS; b += THREADS)
        shared->starts[b] = 0;
    *range = extent_of(shared, keys);
    const Key lowest = range->lowest;
    if (lowest == range->highest) { /* all equal */
        for (unsigned i = threadIdx.x; i < count; i += THREADS)
            out[i] = Order().inverse(lowest);
        return true;
    }
    const unsigned bits = bit_length(Key(range->highest - lowest));
    const unsigned shift = bits > LOG2_BINS ? bits - LOG2_BINS : 0;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        keys.rank[k] -= lowest;
    const unsigned fullest = place_by_bins(shared, keys, even_bins{shift});
    if (shift > 0 && !finish(shared, count, fullest, MANY))
        return false;
    write_ranks<Order>(shared, count, lowest, out);
    return true;
}

/* Every SPLITTERSth key, sorted: each is compared with all, by some neighbouring threads. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void choose_splitters(shared_layout<Key, THREADS, MOST> *shared,
                                                 const Key *from, unsigned count,
                                                 const extent<Key> &range)
{
    constexpr unsigned EACH = THREADS / SPLITTERS;
    static_assert(EACH * SPLITTERS == THREADS && WARP % EACH == 0 && MOST * THREADS >= SPLITTERS);
    Key *sample = shared->ranks;
    splitter_list<Key> *splitters = &shared->splitters;
    if (threadIdx.x < SPLITTERS)
        sample[threadIdx.x] = Order()(from[threadIdx.x * count / SPLITTERS]) - range.lowest;
    __syncthreads();
    const unsigned own = threadIdx.x / EACH, first = threadIdx.x % EACH;
    const Key key = sample[own];
    unsigned place = 0;
    for (unsigned i = first; i < SPLITTERS; i += EACH)
        place += sample[i] < key || (sample[i] == key && i < own);
#pragma unroll
    for (unsigned lanes = EACH / 2; lanes > 0; lanes /= 2)
        place += __shfl_xor_sync(ALL_LANES, place, lanes);
    if (first == 0)
        splitters->at[place] = key;
    __syncthreads();
    for (unsigned i = threadIdx.x; i <= SPLITTERS; i += THREADS) {
        const Key begin = i > 0 ? Key(splitters->at[i - 1] + 1) : Key(0);
        const Key end = i < SPLITTERS ? splitters->at[i] : Key(range.highest - range.lowest);
        const unsigned bits = end > begin ? bit_length(Key(end - begin)) : 0;
        splitters->shift[i] = (unsigned char)(bits > LOG2_PARTS ? bits - LOG2_PARTS : 0);
    }
}

/* Again, with bins between splitters. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool sort_by_splitters(shared_layout<Key, THREADS, MOST> *shared,
                                                  const Key *from, unsigned count, Key *out,
                                                  const extent<Key> &range)
{
    for (unsigned b = threadIdx.x; b < BINS; b += THREADS)
        shared->starts[b] = 0;
    choose_splitters<Order>(shared, from, count, range);
    held<Key, THREADS, COUNT> keys;
    keys.count = count;
    keys.template load<Order>(from);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        keys.rank[k] -= range.lowest;
    const unsigned fullest = place_by_bins(shared, keys, splitter_bins<Key>{&shared->splitters});
    if (!finish(shared, count, fullest, TOO_MANY))
        return false;
    write_ranks<Order>(shared, count, range.lowest, out);
    return true;
}

/* Sorts from[0..count) into out, which may be the same place: all keys are read before any is
 * written. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void sort_leaf(shared_layout<Key, THREADS, MOST> *shared,
                                          const Key *from, unsigned count, Key *out)
{
    constexpr unsigned FEW = MOST / 2, SOME = FEW + (MOST + 15) / 16;
    extent<Key> range;
    bool sorted;
    if (count <= FEW * THREADS)
        sorted = sort_by_bins<FEW, Order>(shared, from, count, out, &range);
    else if (count <= SOME * THREADS)
        sorted = sort_by_bins<SOME, Order>(shared, from, count, out, &range);
    else
        sorted = sort_by_bins<MOST, Order>(shared, from, count, out, &range);
    if (!sorted) {
        __syncthreads(); /* the bins are given up */
        sorted = sort_by_splitters<MOST, Order>(shared, from, count, out, range);
    }
    if (!sorted) {
        __syncthreads();
        sort_by_digits<MOST, Order>(shared, from, count, range.lowest, out);
    }
    __syncthreads(); /* before shared memory is used again */
}

} // namespace leaf_sort

} // namespace SCANBENCH_BACKEND

#endif
