/* leaf_sort.cuh: one block sorts a few thousand keys in registers and shared memory.
 *
 *   1. The smallest and the largest key bound the range, which is cut into BINS bins.
 *   2. Each key takes a place in its bin by one shared atomic; a scan tells where bins start.
 *      Keys of one bin are then neighbours.
 *   3. Windows of eight neighbours are sorted in registers, alternately those that start at
 *      multiples of eight and those four further on, until no bin can be out of order. Where a
 *      bin is one value nothing is left to do.
 *
 * Where keys crowd in few bins, as floats do below powers of two, a stable radix sort of 8 bits
 * per pass takes the place of 2 and 3. */
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
    CROWD = 24, /* from so many keys in a bin on, they may well be equal; */
    MANY = 80,  /* of more, rounds would take longer than digits */
    FEW = 4,    /* keys per thread, for which there is code of its own */
    WINDOW = 8, /* keys that a thread sorts in registers */
    BITS = 8,
    DIGITS = 1 << BITS
};

/* MOST: keys per thread, at most. */
template <class Key, unsigned THREADS, unsigned MOST> struct shared_layout {
    static constexpr unsigned WARPS = THREADS / WARP;
    alignas(16) Key ranks[MOST * THREADS + 2 * WINDOW];
    union {
        alignas(16) unsigned starts[BINS]; /* of the bins */
        warp_counts<WARPS, DIGITS> counts;
    };
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
    unsigned shift;

    template <class Key> __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)(rank >> shift);
    }
};

/* Turns the counts of bins into starts, and returns the count of the fullest. A warp has rows of
 * four bins per lane. */
template <class Key, unsigned THREADS, unsigned MOST>
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
    const unsigned warp = threadIdx.x / WARP, first = index_in_tile<COUNT>(0);
    const Key differing = differing_bits(shared, keys, lowest);
    /* What lies past the end has every bit that differs, and comes last. */
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (!keys.has(k))
            keys.rank[k] = lowest | differing;
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

/* 2. The counters are zero. Returns how many keys share a bin, at most. */
template <class Key, unsigned THREADS, unsigned MOST, unsigned COUNT>
__device__ __forceinline__ unsigned place_by_bins(shared_layout<Key, THREADS, MOST> *shared,
                                                  const held<Key, THREADS, COUNT> &keys,
                                                  even_bins bins)
{
    unsigned place[COUNT] = {};
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            place[k] = atomicAdd(&shared->starts[bins.of(keys.rank[k])], 1u);
    __syncthreads();
    const unsigned fullest = starts_of_bins(shared);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            place[k] += shared->starts[bins.of(keys.rank[k])];
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            shared->ranks[place[k]] = keys.rank[k];
    if (threadIdx.x < 2 * WINDOW) /* past the end, the windows find the highest keys */
        shared->ranks[keys.count + threadIdx.x] = Key(~Key(0));
    __syncthreads();
    return fullest;
}

/* 3. Returns false where too many keys share a bin, out of order. */
template <class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ bool finish(shared_layout<Key, THREADS, MOST> *shared, unsigned count,
                                       unsigned fullest)
{
    if (fullest >= CROWD && are_sorted(shared, count))
        return true;
    if (fullest > MANY)
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
    if (shift > 0 && !finish(shared, count, fullest))
        return false;
    write_ranks<Order>(shared, count, lowest, out);
    return true;
}

/* At most COUNT keys per thread. */
template <unsigned COUNT, class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void sort_held(shared_layout<Key, THREADS, MOST> *shared,
                                          const Key *from, unsigned count, Key *out)
{
    extent<Key> range;
    if (sort_by_bins<COUNT, Order>(shared, from, count, out, &range))
        return;
    __syncthreads(); /* the bins are given up */
    sort_by_digits<COUNT, Order>(shared, from, count, range.lowest, out);
}

/* Sorts from[0..count) into out, which may be the same place: all keys are read before any is
 * written. */
template <class Order, class Key, unsigned THREADS, unsigned MOST>
__device__ __forceinline__ void sort_leaf(shared_layout<Key, THREADS, MOST> *shared,
                                          const Key *from, unsigned count, Key *out)
{
    constexpr unsigned SOME = MOST / 2, MORE = SOME + (MOST + 15) / 16;
    if (FEW < SOME && count <= FEW * THREADS)
        sort_held<FEW, Order>(shared, from, count, out);
    else if (count <= SOME * THREADS)
        sort_held<SOME, Order>(shared, from, count, out);
    else if (count <= MORE * THREADS)
        sort_held<MORE, Order>(shared, from, count, out);
    else
        sort_held<MOST, Order>(shared, from, count, out);
    __syncthreads(); /* before shared memory is used again */
}

} // namespace leaf_sort

} // namespace SCANBENCH_BACKEND

#endif
