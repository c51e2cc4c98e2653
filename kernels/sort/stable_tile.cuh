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
    static constexpr bool COPIES = false;
};

/* The same where a loop around the tiles takes registers too: all values are copied. */
template <class Shape> struct copying : Shape {
    static constexpr bool COPIES = true;
};

template <class Value> constexpr size_t VALUE_BYTES = HAS_VALUES_OF<Value> ? sizeof(Value) : 0;

/* Values of 8 bytes are copied to their places in shared memory: they would take two registers
 * each. Those of 4 bytes arrive sooner through registers, if there are enough. */
template <class Value, class Shape>
constexpr bool ARE_COPIED = HAS_VALUES_OF<Value> && (Shape::COPIES || VALUE_BYTES<Value> == 8);

/* The digit of a pass that begins with the lowest bits. The pass is read where it is needed,
 * because registers are scarce. */
struct digit_of_pass {
    const unsigned &pass;

    template <class Key> __device__ __forceinline__ unsigned of(Key rank) const
    {
        return digit_of<BITS>(rank, pass);
    }
};

constexpr uint64_t NO_TILE = UINT64_MAX;

/* What sort_tile() asks of a Tile. Its answers are found when they are needed, because registers
 * are scarce.
 *
 *   first()          its keys begin there in the array
 *   end()            no key of its chain lies there or after it; earlier tiles are full
 *   number()         its number in its chain
 *   statuses()       those of its chain's first tile
 *   tag()            of counts in this chain; sums have one more
 *   tiles_before(d)  tiles of the chain to look back at for digit d; 0 if no key can have it
 *   start_of(d)      where the chain's keys with digit d go
 *   tell_end(d, e)   the keys with digit d, up to the end of this tile, end at e
 *   are_ranks()      are keys read as ranks? Otherwise they are mapped.
 *   as_ranks()       are they written as ranks?
 *   later()          the first key of a whole tile that a block will have soon, or NO_TILE
 *   PREFETCHES_VALUES   are the tile's values loaded into the L2 while its keys are ranked?
 *
 * A Digit maps the highest rank to the highest value: what pads a chain's last tile comes last. */
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
    /* See spin_wait(). Before a barrier of the block, too, the lanes must be together again: the
     * compiler does not see to that wherever it places this function. */
    __syncwarp();
    return before;
}

/* What thread d < DIGITS does about digit d of its tile. */
struct digit_board {
    tile_status<uint32_t> *status; /* of this digit, in the chain's first tile */
    unsigned tile;                 /* number in the chain */
    unsigned tiles_before;         /* 0 if no key can have the digit */
    uint32_t tag;

    /* Publishes the count, except that of tile 0, which is published once, as a sum. */
    __device__ __forceinline__ void publish_count(unsigned count) const
    {
        if (tiles_before > 0)
            publish(&status[tile * DIGITS], (uint32_t)count, tag);
    }
    /* Finds where the tile's keys go, and publishes the sum of the counts up to the tile. */
    template <class Tile>
    __device__ __forceinline__ void place(digit_run run, const Tile &of,
                                          uint64_t *destination) const
    {
        const unsigned digit = threadIdx.x;
        const uint32_t before = look_back(status, tiles_before, tag / 2);
        publish(&status[tile * DIGITS], (uint32_t)(before + run.count), tag + 1);
        const unsigned long long first = of.start_of(digit) + before;
        destination[digit] = first - run.start;
        of.tell_end(digit, first + run.count);
    }
};

/* Loads part of an array into the L2, so that it is there when its block comes. */
template <class T> __device__ __forceinline__ void prefetch_range(const T *from, unsigned count)
{
    constexpr unsigned LINE = 128 / sizeof(T); /* elements */
    for (unsigned i = threadIdx.x * LINE; i < count; i += blockDim.x * LINE)
        prefetch_to_l2(from + i);
}

/* A tile's keys in registers, as ranks. Key k of a thread is number index_in_tile(k) of `count`. */
template <class Key, class Shape> struct held_keys {
    static constexpr unsigned COUNT = Shape::KEYS, TILE = Shape::TILE;
    Key rank[COUNT];
    unsigned count;

    /* Calls use(k, i) for each key k of a thread that there is: it is number i of the tile. */
    template <class Use> __device__ __forceinline__ void for_share(Use use) const
    {
        if (count == TILE) {
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                use(k, index_in_tile<COUNT>(k));
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (index_in_tile<COUNT>(k) < count)
                use(k, index_in_tile<COUNT>(k));
    }
    /* Loads a thread's share of the tile's keys or values. */
    template <class T>
    __device__ __forceinline__ void load_share(T (&share)[COUNT], const T *from) const
    {
        for_share([&](unsigned k, unsigned i) { share[k] = from[i]; });
    }
    /* Loads keys, and prefetches those of a later tile. Keys past the end have the highest rank,
     * and come last. */
    __device__ __forceinline__ void load(const Key *from, const Key *later, bool are_ranks,
                                         const key_order<Key> &order)
    {
        load_share(rank, from);
        if (later != nullptr)
            prefetch_range(later, TILE);
        if (!are_ranks)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                rank[k] = order(rank[k]);
        if (count < TILE)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                if (index_in_tile<COUNT>(k) >= count)
                    rank[k] = Key(~Key(0));
    }
    /* Counts the digits of a thread's share, in its warp's counters. */
    template <class Digit>
    __device__ __forceinline__ void count_digits(const Digit &digit, unsigned *own) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            atomicAdd(&own[digit.of(rank[k])], 1u);
    }
    /* Copies a tile of one digit, which is in order already. */
    __device__ __forceinline__ void copy(Key *to, bool as_ranks, const key_order<Key> &order)
    {
        if (!as_ranks)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                rank[k] = order.inverse(rank[k]);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (index_in_tile<COUNT>(k) < count)
                to[index_in_tile<COUNT>(k)] = rank[k];
    }
    /* Sorts the keys by digit into shared memory, and says their places. `own`, of the warp, has
     * the places of its next keys. */
    template <class Digit>
    __device__ __forceinline__ void sort_into(Key *keys, const Digit &digit, unsigned *own,
                                              unsigned (&places)[COUNT]) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            places[k] = rank_in_warp<BITS>(digit.of(rank[k]), own);
            keys[places[k]] = rank[k];
        }
    }
    /* Copies a thread's share of the values to their places. */
    template <class Value>
    __device__ __forceinline__ void copy_share(Value *values, const unsigned (&places)[COUNT],
                                               const Value *from) const
    {
        for_share([&](unsigned k, unsigned i) { copy_to_shared(&values[places[k]], &from[i]); });
    }
};

/* Writes the sorted tile. */
template <bool AS_RANKS, class Shape, class Digit, class Key, class Value>
__device__ __forceinline__ void write_tile(const shared_layout<Key, Value, Shape> *shared,
                                           moved<Key> keys, moved<Value> values, unsigned count,
                                           const Digit &digit, const key_order<Key> &order)
{
#pragma unroll
    for (unsigned k = 0; k < Shape::KEYS; k++) {
        const unsigned i = k * Shape::THREADS + threadIdx.x;
        const Key rank = shared->keys[i];
        const uint64_t at = shared->destination[digit.of(rank)] + i;
        if (i < count) {
            keys.to[at] = AS_RANKS ? rank : order.inverse(rank);
            if constexpr (HAS_VALUES_OF<Value>)
                values.to[at] = shared->values[i];
        }
    }
}

/* Sorts a tile by a digit. The warps' counters are clear. */
template <class Shape, class Tile, class Digit, class Key, class Value>
__device__ __forceinline__ void sort_tile(const Tile &tile, const Digit &digit, moved<Key> keys,
                                          moved<Value> values, const key_order<Key> &order)
{
    auto *shared = shared_memory<shared_layout<Key, Value, Shape>>();
    unsigned *own = shared->counts.of_warp[threadIdx.x / WARP];
    const uint64_t first = tile.first();
    const digit_board board = {tile.statuses() + threadIdx.x, tile.number(),
                               tile.tiles_before(threadIdx.x), tile.tag()};
    held_keys<Key, Shape> held;
    held.count = (unsigned)min(tile.end() - first, (uint64_t)Shape::TILE);
    const uint64_t later = tile.later();
    held.load(keys.from + first, later == NO_TILE ? nullptr : keys.from + later, tile.are_ranks(),
              order);
    if constexpr (Tile::PREFETCHES_VALUES)
        prefetch_range(values.from + first, held.count);
    held.count_digits(digit, own);
    __syncthreads();
    const digit_run run = starts_of_digits(&shared->counts, shared->warp_totals,
                                           [&](unsigned count) { board.publish_count(count); });
    if (__syncthreads_or(run.count == Shape::TILE)) { /* a tile of one digit is in order already */
        /* All values are on their way while the block looks back. */
        if constexpr (HAS_VALUES_OF<Value>)
            for (unsigned i = threadIdx.x; i < held.count; i += Shape::THREADS)
                copy_to_shared(&shared->values[i], &values.from[first + i]);
        if (threadIdx.x < DIGITS)
            board.place({run.count, 0}, tile, shared->destination);
        __syncthreads();
        const uint64_t destination = shared->destination[digit.of(held.rank[0])];
        held.copy(keys.to + destination, tile.as_ranks(), order);
        if constexpr (HAS_VALUES_OF<Value>) {
            wait_for_copies();
            for (unsigned i = threadIdx.x; i < held.count; i += Shape::THREADS)
                values.to[destination + i] = shared->values[i];
        }
        return;
    }
    unsigned places[Shape::KEYS];
    held.sort_into(shared->keys, digit, own, places);
    if constexpr (HAS_VALUES_OF<Value> && !ARE_COPIED<Value, Shape>) {
        Value value[Shape::KEYS];
        held.load_share(value, values.from + first);
        if (threadIdx.x < DIGITS)
            board.place(run, tile, shared->destination);
#pragma unroll
        for (unsigned k = 0; k < Shape::KEYS; k++)
            shared->values[places[k]] = value[k];
    } else {
        if constexpr (ARE_COPIED<Value, Shape>)
            held.copy_share(shared->values, places, values.from + first);
        if (threadIdx.x < DIGITS)
            board.place(run, tile, shared->destination);
        if constexpr (ARE_COPIED<Value, Shape>)
            wait_for_copies();
    }
    __syncthreads();
    if (tile.as_ranks())
        write_tile<true>(shared, keys, values, held.count, digit, order);
    else
        write_tile<false>(shared, keys, values, held.count, digit, order);
}

} // namespace SCANBENCH_BACKEND::stable_tile
