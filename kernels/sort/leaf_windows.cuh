/* leaf_windows.cuh: step 3 of leaf_sort.cuh: keys that lie by bins, in shared memory, are sorted by
 * windows of eight, in registers, and written. */
#pragma once

#include "merge_sort.cuh"
#include "bins.cuh"
#include "../pack.cuh"

namespace SCANBENCH_BACKEND::leaf_sort
{

enum {
    /* Keys that a thread sorts in registers. */
    WINDOW = 8,
    /* The fewest and the most windows at either end of a warp's that other warps write. */
    LEAST_HALO = 2,
    MOST_HALO = 12,
    /* The fewest places before the first key, and the most keys of a bin. */
    FRONT = MOST_HALO * WINDOW,
    /* Places of the layout beside those of keys: before the first, and after the last. */
    PADDING = FRONT + WINDOW + FRONT + WINDOW
};

/* The 16 bytes that a thread reads or writes at once. */
template <class Key> using unit = pack<Key, PACK_WIDTH<Key>>;
template <class Key> constexpr unsigned UNITS = WINDOW / PACK_WIDTH<Key>; /* of a window */

/* The place of a unit in shared memory. Lanes that read units of windows side by side find them in
 * different banks. */
template <class Key> __device__ __forceinline__ unsigned place_of_unit(unsigned u)
{
    return u ^ (u / 8 % UNITS<Key>);
}

/* The place of key i in shared memory: within the unit that it belongs to. */
template <class Key> __device__ __forceinline__ unsigned place_of(unsigned i)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>;
    return i ^ (i / (8 * WIDTH) % UNITS<Key> * WIDTH);
}

/* Sorts a window by Batcher's odd-even merge sort, from comparison FIRST on. The last comparisons
 * merge two sorted halves. */
template <class Key, unsigned FIRST = 0>
__device__ __forceinline__ void sort_window(Key (&key)[WINDOW])
{
    constexpr unsigned char pairs[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                            {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                            {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma unroll
    for (unsigned p = FIRST; p < 19; p++)
        merge_sort::compare_exchange(key[pairs[p][0]], key[pairs[p][1]]);
}

template <class Key> __device__ __forceinline__ void merge_halves(Key (&key)[WINDOW])
{
    sort_window<Key, 10>(key);
}

/* Loads window number w. */
template <class Key>
__device__ __forceinline__ void load_window(Key (&key)[WINDOW], const Key *ranks, unsigned w)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>, UNITS = leaf_sort::UNITS<Key>;
    const auto *units = reinterpret_cast<const unit<Key> *>(ranks);
#pragma unroll
    for (unsigned u = 0; u < UNITS; u++) {
        const unit<Key> loaded = units[place_of_unit<Key>(w * UNITS + u)];
#pragma unroll
        for (unsigned k = 0; k < WIDTH; k++)
            key[u * WIDTH + k] = loaded.at[k];
    }
}

/* Sorts the windows between lanes: the upper half of a lane's with the lower half of the next's.
 * Returns whether all keys of the warp are in order. */
template <class Key> __device__ __forceinline__ bool merge_between(Key (&key)[WINDOW])
{
    constexpr unsigned MIDDLE = WINDOW / 2;
    Key between[WINDOW];
#pragma unroll
    for (unsigned k = 0; k < MIDDLE; k++) {
        between[k] = key[MIDDLE + k];
        const Key next = __shfl_down_sync(ALL_LANES, key[k], 1);
        between[MIDDLE + k] = lane_index() < WARP - 1 ? next : Key(~Key(0));
    }
    merge_halves(between);
#pragma unroll
    for (unsigned k = 0; k < MIDDLE; k++) {
        const Key previous = __shfl_up_sync(ALL_LANES, between[MIDDLE + k], 1);
        key[MIDDLE + k] = between[k];
        key[k] = lane_index() > 0 ? previous : key[k];
    }
    return __all_sync(ALL_LANES, key[MIDDLE - 1] <= key[MIDDLE]);
}

/* The rounds of odd-even transposition of groups of four that sort bins of at most `fullest` keys.
 * Such a bin touches at most (fullest + 6) / 4 groups. */
__device__ __forceinline__ unsigned rounds_for(unsigned fullest)
{
    return max(2u, (fullest + 6) / 4);
}

/* The place of a leaf among windows, and where it goes. */
template <class Key> struct result {
    Key *aligned; /* place 0, at an aligned window of the output or before it */
    unsigned first, end;
    Key lowest; /* ranks are counted from it */
};

template <class Key> __device__ __forceinline__ result<Key> result_at(Key *out, unsigned count)
{
    const unsigned skew = (unsigned)(reinterpret_cast<uint64_t>(out) / sizeof(Key) % WINDOW);
    const unsigned first = FRONT + skew;
    return {out - first, first, first + count, 0};
}

/* The key of a rank. Ranks of floats are not counted from the lowest. */
template <class Order, class Key>
__device__ __forceinline__ Key key_at(const result<Key> &result, Key rank)
{
    return Order().inverse(IS_FLOAT<Order> ? rank : Key(rank + result.lowest));
}

/* Writes the keys of a unit of ranks, which may be narrower. */
template <class Order, class Result, class Rank>
__device__ __forceinline__ void write_unit(const Result &result, unsigned at,
                                           const unit<Rank> &ranks)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Rank>;
    using packed = pack<decltype(key_at<Order>(result, ranks.at[0])), WIDTH>;
    packed keys;
#pragma unroll
    for (unsigned k = 0; k < WIDTH; k++)
        keys.at[k] = key_at<Order>(result, ranks.at[k]);
    if (at >= result.first && at + WIDTH <= result.end) {
        *reinterpret_cast<packed *>(result.aligned + at) = keys;
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < WIDTH; k++)
        if (at + k >= result.first && at + k < result.end)
            result.aligned[at + k] = keys.at[k];
}

/* Writes each lane's window if `writes`. Lanes in pairs exchange units, so that each store of a
 * pair writes 32 bytes in a row. */
template <class Order, class Result, class Key>
__device__ __forceinline__ void write_window(const Result &result, unsigned w,
                                             const Key (&key)[WINDOW], bool writes)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>, UNITS = leaf_sort::UNITS<Key>;
    const unsigned odd = w % 2, even_at = (w - odd) * WINDOW;
#pragma unroll
    for (unsigned u = 0; u < UNITS; u += 2) {
        unit<Key> of_even, of_odd; /* unit u + odd of the windows of the pair's lanes */
#pragma unroll
        for (unsigned k = 0; k < WIDTH; k++) {
            const Key lower = key[u * WIDTH + k], upper = key[(u + 1) * WIDTH + k];
            const Key other = __shfl_xor_sync(ALL_LANES, odd ? lower : upper, 1);
            of_even.at[k] = odd ? other : lower;
            of_odd.at[k] = odd ? upper : other;
        }
        if (writes) {
            write_unit<Order>(result, even_at + (u + odd) * WIDTH, of_even);
            write_unit<Order>(result, even_at + WINDOW + (u + odd) * WIDTH, of_odd);
        }
    }
}

/* Sorts and writes keys that lie by bin in `ranks`. No bin has more than FRONT keys, and the
 * padding before and after the keys is in order with them. A warp writes none of its first and last
 * windows, as many as a bin can reach that is cut there: what it writes has whole bins. The result
 * has `first` and `end`, and a write_unit() of its own. */
template <class Order, unsigned THREADS, class Result, class Key>
__device__ __forceinline__ void write_windows(const Key *ranks, const Result &result,
                                              unsigned fullest)
{
    static_assert(LEAST_HALO % 2 == 0, "a pair of lanes writes, or none of it does");
    unsigned halo = LEAST_HALO;
    while (fullest > halo * WINDOW)
        halo = min(2 * halo, (unsigned)MOST_HALO);
    const unsigned rounds = rounds_for(fullest), own = WARP - 2 * halo, lane = lane_index();
    const unsigned windows = (result.end + WINDOW - 1) / WINDOW;
    for (unsigned first = MOST_HALO - halo + threadIdx.x / WARP * own; first + halo < windows;
         first += THREADS / WARP * own) {
        const unsigned w = first + lane;
        Key key[WINDOW];
        load_window(key, ranks, min(w, windows + halo - 1));
        sort_window(key);
#pragma unroll 1
        for (unsigned round = 1; round < rounds && !merge_between(key); round += 2)
            if (round + 1 < rounds)
                merge_halves(key);
        write_window<Order>(result, w, key, lane >= halo && lane < WARP - halo);
    }
}

} // namespace SCANBENCH_BACKEND::leaf_sort
