/* stable_tile.cuh: a block sorts a tile by a digit of 8 bits, stably, and writes its runs where the
 * keys of earlier tiles end. Tiles that are sorted side by side are a chain: the runs of a digit
 * lie in the order of the chain's tiles.
 *
 *   1. The block counts the digits of its keys and publishes the counts, so that later tiles need
 *      not wait for it.
 *   2. It ranks the keys and sorts them by digit in shared memory. Values are loaded then, when
 *      ranks no longer take registers, and follow their keys.
 *   3. It finds by look-back how many keys of each digit lie in the chain's tiles before, and
 *      writes a run for each digit.
 *
 * Relies:  on every earlier tile of the chain being under way; not on any order of atomics. */
#pragma once

#include "../ping_pong.cuh"
#include "../tile_status.cuh"
#include "radix_rank.cuh"

namespace SCANBENCH_BACKEND::stable_tile
{

enum {
    BITS = 8,
    DIGITS = 1 << BITS,
    /* Statuses that a thread looks at together. */
    WINDOW = 8
};

/* A block's threads, the keys that each of them has, and the blocks per multiprocessor. */
template <unsigned THREADS_, unsigned KEYS_, unsigned BLOCKS_ = 1024 / THREADS_> struct shape {
    static constexpr unsigned THREADS = THREADS_, KEYS = KEYS_, BLOCKS = BLOCKS_;
    static constexpr unsigned TILE = THREADS * KEYS, WARPS = THREADS / WARP;
};

template <class Value> constexpr size_t VALUE_BYTES = HAS_VALUES_OF<Value> ? sizeof(Value) : 0;

/* The digit of a pass that begins with the lowest bits. */
struct digit_of_pass {
    unsigned pass;

    template <class Key> __device__ __forceinline__ unsigned of(Key rank) const
    {
        return digit_of<BITS>(rank, pass);
    }
};

/* What sort_tile() asks of a Tile. Its answers are found when they are needed, because registers
 * are scarce: first(), end()   its keys begin at `first` in the array, and its chain's keys end at
 * `end` number()         its number in its chain statuses()       those of its chain's first tile
 *   tag()            of counts in this chain; sums have one more
 *   digits()         values that the digit can have
 *   start_of(d)      where the chain's keys with digit d go
 *   tell_end(d, e)   the keys with digit d, up to the end of this tile, end at e
 *   later()          the first key of a whole tile that a block will have soon, or NO_TILE */
constexpr uint64_t NO_TILE = UINT64_MAX;

template <class Key, class Value, class Shape> struct shared_layout {
    static constexpr unsigned TILE = Shape::TILE;
    warp_counts<Shape::WARPS, DIGITS> counts; /* later the place of the next key of each digit */
    Key keys[TILE];
    Value values[HAS_VALUES_OF<Value> ? TILE : 1];
    uint64_t destination[DIGITS]; /* where key 0 of the sorted tile would go if it had that digit */
    unsigned warp_totals[Shape::WARPS];
    unsigned ticket, chain; /* for those who choose the tile */
};

/* Returns the number of keys of a digit in all tiles before. One thread per digit calls it, and
 * looks at several tiles at once. */
__device__ __forceinline__ uint32_t look_back(const tile_status<uint32_t> *status, unsigned tile,
                                              uint32_t generation)
{
    uint32_t before = 0;
    while (tile > 0) {
        observation<uint32_t> seen[WINDOW];
#pragma unroll
        for (unsigned w = 0; w < WINDOW; w++)
            seen[w] = look_at(&status[(tile > w ? tile - 1 - w : 0) * DIGITS]);
#pragma unroll
        for (unsigned w = 0; w < WINDOW; w++) {
            if (tile == 0 || seen[w].tag / 2 != generation)
                break;
            before += seen[w].value;
            tile = seen[w].tag % 2 == 1 ? 0 : tile - 1;
        }
        spin_wait();
    }
    return before;
}

/* What thread d < DIGITS does about digit d of its tile. */
template <class Tile> struct digit_board {
    const Tile &tile;

    /* In the chain; none if no key can have the digit. */
    __device__ __forceinline__ unsigned tiles_before() const
    {
        return threadIdx.x < tile.digits() ? tile.number() : 0;
    }
    __device__ __forceinline__ tile_status<uint32_t> *status() const
    {
        return tile.statuses() + threadIdx.x;
    }
    /* Publishes the count, except that of tile 0, which is published once, as a sum. */
    __device__ __forceinline__ void publish_count(unsigned count) const
    {
        if (tiles_before() > 0)
            publish(&status()[tile.number() * DIGITS], (uint32_t)count, tile.tag());
    }
    /* Finds where the tile's keys go, and publishes the sum of the counts up to the tile. */
    __device__ __forceinline__ void place(digit_run run, uint64_t *destination) const
    {
        const unsigned digit = threadIdx.x;
        const uint32_t before = look_back(status(), tiles_before(), tile.tag() / 2);
        publish(&status()[tile.number() * DIGITS], (uint32_t)(before + run.count), tile.tag() + 1);
        const uint64_t first = tile.start_of(digit) + before;
        destination[digit] = first - run.start;
        tile.tell_end(digit, first + run.count);
    }
};

/* Loads the keys of a whole tile into the L2, so that they are there when its block comes. */
template <unsigned TILE, class Key> __device__ __forceinline__ void prefetch_tile(const Key *from)
{
    constexpr unsigned LINE = 128 / sizeof(Key); /* keys */
    for (unsigned i = threadIdx.x * LINE; i < TILE; i += blockDim.x * LINE)
        prefetch_to_l2(from + i);
}

/* How keys are stored, before a tile is sorted and after: as they are, or as ranks. */
template <class Key> struct key_forms {
    key_order<Key> order;
    bool are_ranks, as_ranks;

    __device__ __forceinline__ Key rank_of(Key read) const
    {
        return are_ranks ? read : order(read);
    }
    __device__ __forceinline__ Key written(Key rank) const
    {
        return as_ranks ? rank : order.inverse(rank);
    }
};

/* The share of a thread in a tile: element k is number index_in_tile(k) of `count`, at least one.
 * What lies past the end is a copy of the last one. */
template <class T, unsigned COUNT> struct share {
    T at[COUNT];

    __device__ __forceinline__ void load(const T *from, unsigned count)
    {
        if (count == COUNT * blockDim.x) {
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                at[k] = from[index_in_tile<COUNT>(k)];
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            at[k] = from[min(index_in_tile<COUNT>(k), count - 1)];
    }
};

/* Maps a tile's keys to ranks. Those past the end have the highest one, and come last. */
template <unsigned TILE, class Key, unsigned COUNT>
__device__ __forceinline__ void map_to_ranks(share<Key, COUNT> *keys, unsigned count,
                                             const key_forms<Key> &forms)
{
    if (!forms.are_ranks)
#pragma unroll
        for (Key &each : keys->at)
            each = forms.order(each);
    if (count < TILE)
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (index_in_tile<COUNT>(k) >= count)
                keys->at[k] = Key(~Key(0));
}

/* Copies a tile of one digit, which is in order already. */
template <unsigned THREADS, class Key, class Value>
__device__ __forceinline__ void copy_tile(moved<Key> keys, moved<Value> values, uint64_t first,
                                          uint64_t destination, unsigned count,
                                          const key_forms<Key> &forms)
{
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        keys.to[destination + i] = forms.written(forms.rank_of(keys.from[first + i]));
        if constexpr (HAS_VALUES_OF<Value>)
            values.to[destination + i] = values.from[first + i];
    }
}

/* Writes the sorted tile. */
template <bool AS_RANKS, class Shape, class Digit, class Key, class Value>
__device__ __forceinline__ void write_tile(const shared_layout<Key, Value, Shape> *shared,
                                           moved<Key> keys, moved<Value> values, unsigned count,
                                           Digit digit, const key_order<Key> &order)
{
    const auto write = [&](unsigned i) {
        const Key rank = shared->keys[i];
        const uint64_t at = shared->destination[digit.of(rank)] + i;
        keys.to[at] = AS_RANKS ? rank : order.inverse(rank);
        if constexpr (HAS_VALUES_OF<Value>)
            values.to[at] = shared->values[i];
    };
    if (count == Shape::TILE) {
#pragma unroll 10
        for (unsigned k = 0; k < Shape::KEYS; k++)
            write(k * Shape::THREADS + threadIdx.x);
    } else {
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < count; i += Shape::THREADS)
            write(i);
    }
}

/* Sorts a tile by a digit. The warps' counters are clear. */
template <class Shape, class Tile, class Digit, class Key, class Value>
__device__ __forceinline__ void sort_tile(const Tile &tile, Digit digit, moved<Key> keys,
                                          moved<Value> values, const key_forms<Key> &forms)
{
    constexpr unsigned TILE = Shape::TILE, COUNT = Shape::KEYS;
    auto *shared = shared_memory<shared_layout<Key, Value, Shape>>();
    unsigned *own = shared->counts.of_warp[threadIdx.x / WARP];
    const uint64_t first = tile.first();
    const auto count = (unsigned)min(tile.end() - first, (uint64_t)TILE);
    const digit_board<Tile> board = {tile};
    share<Key, COUNT> rank;
    rank.load(keys.from + first, count);
    if (tile.later() != NO_TILE)
        prefetch_tile<TILE>(keys.from + tile.later());
    map_to_ranks<TILE>(&rank, count, forms);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        atomicAdd(&own[digit.of(rank.at[k])], 1u);
    __syncthreads();
    const digit_run run = starts_of_digits(&shared->counts, shared->warp_totals,
                                           [&](unsigned count) { board.publish_count(count); });
    if (__syncthreads_or(run.count == TILE)) {
        if (threadIdx.x < DIGITS)
            board.place({run.count, 0}, shared->destination);
        __syncthreads();
        return copy_tile<Shape::THREADS>(keys, values, first,
                                         shared->destination[digit.of(rank.at[0])], count, forms);
    }
    unsigned place[COUNT];
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        place[k] = rank_in_warp<BITS>(digit.of(rank.at[k]), own);
        shared->keys[place[k]] = rank.at[k];
    }
    share<std::conditional_t<HAS_VALUES_OF<Value>, Value, char>, COUNT> value;
    if constexpr (HAS_VALUES_OF<Value>)
        value.load(values.from + first, count);
    if (threadIdx.x < DIGITS)
        board.place(run, shared->destination);
    if constexpr (HAS_VALUES_OF<Value>)
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            shared->values[place[k]] = value.at[k];
    __syncthreads();
    if (forms.as_ranks)
        write_tile<true>(shared, keys, values, count, digit, forms.order);
    else
        write_tile<false>(shared, keys, values, count, digit, forms.order);
}

} // namespace SCANBENCH_BACKEND::stable_tile
