/* onesweep.cuh: stable radix sort, 8 bits per pass, each pass one read and one write; of keys, or
 * of keys with values.
 * Source:  Adinets and Merrill, "Onesweep: a faster least significant digit radix sort
 *          for GPUs", arXiv:2206.01784, 2022.
 * Work:    O(n) per pass, a pass for each byte in which any two keys differ.
 * Depth:   per pass, the look-back over the tiles.
 * DRAM:    n read once for the histograms; 2n per pass, and 2 KiB of status per tile.
 * Shared:  counters for each warp, and the tile in the order of its digits.
 * Relies:  on every earlier tile being under way: tickets, not blockIdx; on passes being
 *          stable: ranks come from ballots, never from the order of atomics.
 *
 *   1. One launch counts all digits of all keys (onesweep_plan.cuh). Its last block finds out which
 *      passes have work, and between which arrays they move the keys so that the last one ends in
 *      the output. A pass without work ends at once.
 *   2. In a pass, a block counts the digits of a tile and publishes the counts, so that later tiles
 *      need not wait for it. It ranks the keys, sorts them by digit in shared memory, and finds by
 *      look-back how many keys of each digit lie in the tiles before.
 *   3. It writes a run for each digit. Values follow their keys all the way.
 *
 * Keys are mapped to unsigned numbers when first read, and back when last written. Few keys are
 * sorted in small tiles, and a launch begins together with the one before, because latency is all
 * that counts there. With more keys, it begins when the last block of the one before ends.
 *
 * A launch sorts a portion of the tiles, so that statuses need little memory and counts of 32 bits.
 * The last tile of a portion says where the digits of the next portion go. */
#pragma once

#include "onesweep_plan.cuh"
#include "radix_rank.cuh"
#include "../tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND::onesweep
{

enum {
    /* The most tiles of a portion. The status of each takes 2 KiB. */
    MOST_TILES = 8192,
    /* The most tiles of a portion if there are more than MANY_TILES. */
    FEWER_TILES = 5120,
    MANY_TILES = 1 << 15,
    /* Statuses that a thread looks at together. */
    WINDOW = 8,
    /* Shared memory that a block needs besides if one launch does all passes. */
    ONE_LAUNCH_BYTES = 64
};

/* A block's threads, and the keys that each of them has. */
template <unsigned THREADS_, unsigned KEYS_> struct shape {
    static constexpr unsigned THREADS = THREADS_, KEYS = KEYS_;
    static constexpr unsigned TILE = THREADS * KEYS, WARPS = THREADS / WARP;
    static constexpr unsigned BLOCKS = 1024 / THREADS; /* per multiprocessor */
};

/* The shapes for few keys. Few tiles are more important than many blocks, because each tile looks
 * back at those before it. */
using least = shape<512, 4>;
using few = shape<1024, 4>;
using some = shape<1024, 8>;

/* The keys per thread for many keys: as many as fit the registers and, where a block may have
 * 227 KiB, the shared memory. Pairs are written in shorter runs, and gain more from large tiles
 * than from a second block. */
constexpr unsigned most_keys(size_t bytes) /* of a key and its value */
{
    return bytes <= 4 ? 20 : bytes <= 12 ? 12 : 8;
}

template <class Value> constexpr size_t VALUE_BYTES = HAS_VALUES_OF<Value> ? sizeof(Value) : 0;
template <class Key, class Value>
using most = shape<HAS_VALUES_OF<Value> ? 1024 : 512, most_keys(sizeof(Key) + VALUE_BYTES<Value>)>;

/* The input is read by the first pass with work. Without values their member still has an address
 * of its own: nvcc 13.0 places what follows an empty [[no_unique_address]] member of a kernel's
 * parameter where the host does not. */
template <class Key, class Value> struct arrays {
    three_arrays<Key> keys;
    uint64_t n;
    key_order<Key> order;
    three_arrays<Value> values;
};

/* ---- 2. and 3. A pass ---- */

/* Tiles that are sorted together by the digit of a pass. */
struct portion {
    unsigned pass, number;
    unsigned first_tile, tiles;
    uint32_t generation; /* distinguishes its statuses from all others */
};

/* How the tiles of an array are cut into portions. */
struct portions {
    unsigned count;
    unsigned most_tiles; /* of a portion; the last one may have fewer */
    unsigned tiles;      /* of all */
    unsigned ahead;      /* tiles under way at the same time */
    uint64_t generation; /* of the first portion of the first pass; the others follow */

    __host__ __device__ __forceinline__ portion at(unsigned pass, unsigned number) const
    {
        const unsigned first = number * most_tiles, left = tiles - first;
        return {pass, number, first, left < most_tiles ? left : most_tiles,
                (uint32_t)(generation + pass * count + number) & 0x7FFFFFFF};
    }
    __host__ __device__ __forceinline__ bool all_under_way() const
    {
        return tiles <= ahead;
    }
};

template <class Key, class Value, class Shape> struct shared_layout {
    static constexpr unsigned TILE = Shape::TILE;
    warp_counts<Shape::WARPS, DIGITS> counts; /* later the place of the next key of each digit */
    Key keys[TILE];
    Value values[HAS_VALUES_OF<Value> ? TILE : 1];
    uint64_t destination[DIGITS]; /* where key 0 of the sorted tile would go if it had that digit */
    unsigned warp_totals[Shape::WARPS];
    unsigned tile;
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
struct digit_board {
    tile_status<uint32_t> *status; /* of this digit, in tile 0 of the portion */
    unsigned tile;
    uint32_t tag;

    /* Publishes the count, except that of tile 0, which is published once, as a sum. */
    __device__ __forceinline__ void publish_count(unsigned count) const
    {
        if (tile > 0)
            publish(&status[tile * DIGITS], (uint32_t)count, tag);
    }
    /* Finds where the tile's keys go, and publishes the sum of the counts up to the tile. */
    __device__ __forceinline__ void place(digit_run run, plan *plan, const portion &portion,
                                          uint64_t *destination) const
    {
        const unsigned digit = threadIdx.x;
        auto &starts = plan->starts[portion.pass];
        const uint32_t before = look_back(status, tile, tag / 2);
        publish(&status[tile * DIGITS], (uint32_t)(before + run.count), tag + 1);
        const unsigned long long first = starts[portion.number % 2][digit] + before;
        destination[digit] = first - run.start;
        if (tile == portion.tiles - 1)
            starts[(portion.number + 1) % 2][digit] = first + run.count;
    }
};

/* Loads a whole tile into the L2, so that it is there when its block comes. */
template <unsigned TILE, class T>
__device__ __forceinline__ void prefetch_tile(const T *from, uint64_t first, uint64_t n)
{
    constexpr unsigned LINE = 128 / sizeof(T); /* elements */
    if (first + TILE <= n)
        for (unsigned i = threadIdx.x * LINE; i < TILE; i += blockDim.x * LINE)
            prefetch_to_l2(from + first + i);
}

/* A tile in registers: keys as ranks, and their values. Element k of a thread is number
 * index_in_tile(k) of `count`. */
template <class Key, class Value, class Shape> struct held_tile {
    static constexpr unsigned COUNT = Shape::KEYS, TILE = Shape::TILE;
    Key rank[COUNT];
    [[no_unique_address]] std::conditional_t<HAS_VALUES_OF<Value>, Value[COUNT], no_value> value;
    unsigned count;

    /* Loads a thread's share of the tile that begins at `first`. */
    template <class T>
    __device__ __forceinline__ void load_share(T (&share)[COUNT], const T *from, uint64_t first)
    {
        if (count == TILE) {
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                share[k] = from[first + index_in_tile<COUNT>(k)];
            return;
        }
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (index_in_tile<COUNT>(k) < count)
                share[k] = from[first + index_in_tile<COUNT>(k)];
    }
    /* Loads the tile, and prefetches the one that begins at `later`. Between the first pass and the
     * last, keys are stored as ranks. Those past the end have the highest rank, and come last. */
    __device__ __forceinline__ void load(const arrays<Key, Value> &arrays, moved<Key> keys,
                                         moved<Value> values, uint64_t first, uint64_t later,
                                         bool are_ranks)
    {
        load_share(rank, keys.from, first);
        prefetch_tile<TILE>(keys.from, later, arrays.n);
        if constexpr (HAS_VALUES_OF<Value>) {
            load_share(value, values.from, first);
            prefetch_tile<TILE>(values.from, later, arrays.n);
        }
        if (!are_ranks)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                rank[k] = arrays.order(rank[k]);
        if (count < TILE)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                if (index_in_tile<COUNT>(k) >= count)
                    rank[k] = Key(~Key(0));
    }
    /* Counts the digits of a thread's share, in its warp's counters. */
    __device__ __forceinline__ void count_digits(unsigned pass, unsigned *own) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            atomicAdd(&own[digit_of<BITS>(rank[k], pass)], 1u);
    }
    template <class T>
    __device__ __forceinline__ void copy_share(const T (&share)[COUNT], T *to) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (index_in_tile<COUNT>(k) < count)
                to[index_in_tile<COUNT>(k)] = share[k];
    }
    /* Copies a tile of one digit, which is in order already. */
    __device__ __forceinline__ void copy(moved<Key> keys, moved<Value> values, uint64_t destination,
                                         bool as_ranks, const key_order<Key> &order)
    {
        if (!as_ranks)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                rank[k] = order.inverse(rank[k]);
        copy_share(rank, keys.to + destination);
        if constexpr (HAS_VALUES_OF<Value>)
            copy_share(value, values.to + destination);
    }
    /* Sorts the tile by digit into shared memory. `own`, of the warp, has the places of its next
     * keys. */
    __device__ __forceinline__ void sort_into(shared_layout<Key, Value, Shape> *shared,
                                              unsigned pass, unsigned *own) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            const unsigned place = rank_in_warp<BITS>(digit_of<BITS>(rank[k], pass), own);
            shared->keys[place] = rank[k];
            if constexpr (HAS_VALUES_OF<Value>)
                shared->values[place] = value[k];
        }
    }
};

/* Writes the sorted tile. */
template <bool AS_RANKS, class Shape, class Key, class Value>
__device__ __forceinline__ void write_tile(const shared_layout<Key, Value, Shape> *shared,
                                           moved<Key> keys, moved<Value> values, unsigned count,
                                           unsigned pass, const key_order<Key> &order)
{
#pragma unroll
    for (unsigned k = 0; k < Shape::KEYS; k++) {
        const unsigned i = k * Shape::THREADS + threadIdx.x;
        const Key rank = shared->keys[i];
        const uint64_t at = shared->destination[digit_of<BITS>(rank, pass)] + i;
        if (i < count) {
            keys.to[at] = AS_RANKS ? rank : order.inverse(rank);
            if constexpr (HAS_VALUES_OF<Value>)
                values.to[at] = shared->values[i];
        }
    }
}

/* What the blocks of a sort share. */
template <class Key, class Value> struct task {
    struct arrays<Key, Value> arrays;
    onesweep::plan *plan;
    tile_status<uint32_t> *statuses; /* of a portion */
    struct portions portions;
};

__device__ __forceinline__ route route_of(const plan *plan, unsigned pass)
{
    return {plan->position[pass], plan->working};
}

/* If no pass has work, the first one copies the keys. */
__device__ __forceinline__ bool has_work(route route, unsigned pass)
{
    return route.position != plan::IDLE || (route.passes == 0 && pass == 0);
}

/* Sorts a tile by a digit. The warps' counters are clear. */
template <class Shape, class Key, class Value>
__device__ __forceinline__ void sort_tile(const task<Key, Value> &task, const portion &portion,
                                          const route &route, unsigned tile)
{
    constexpr unsigned TILE = Shape::TILE;
    auto *shared = shared_memory<shared_layout<Key, Value, Shape>>();
    unsigned *own = shared->counts.of_warp[threadIdx.x / WARP];
    const auto &arrays = task.arrays;
    const uint64_t first = (uint64_t)tile * TILE;
    const digit_board board = {task.statuses + threadIdx.x, tile - portion.first_tile,
                               2 * portion.generation};
    const moved<Key> keys = route(arrays.keys);
    const moved<Value> values = route(arrays.values);
    held_tile<Key, Value, Shape> held;
    held.count = (unsigned)min(arrays.n - first, (uint64_t)TILE);
    held.load(arrays, keys, values, first, first + (uint64_t)task.portions.ahead * TILE,
              !route.is_first());
    held.count_digits(portion.pass, own);
    __syncthreads();
    /* Counts are published before the keys are ranked, so that later tiles need not wait. */
    const digit_run run = starts_of_digits(&shared->counts, shared->warp_totals,
                                           [&](unsigned count) { board.publish_count(count); });
    if (__syncthreads_or(run.count == TILE)) { /* a tile of one digit is in order already */
        if (threadIdx.x < DIGITS)
            board.place({run.count, 0}, task.plan, portion, shared->destination);
        __syncthreads();
        const unsigned digit = digit_of<BITS>(held.rank[0], portion.pass);
        return held.copy(keys, values, shared->destination[digit], !route.is_last(), arrays.order);
    }
    held.sort_into(shared, portion.pass, own);
    if (threadIdx.x < DIGITS)
        board.place(run, task.plan, portion, shared->destination);
    __syncthreads();
    if (route.is_last())
        write_tile<false>(shared, keys, values, held.count, portion.pass, arrays.order);
    else
        write_tile<true>(shared, keys, values, held.count, portion.pass, arrays.order);
}

/* A block sorts one tile. */
template <class Key, class Value, class Shape>
__global__ void __launch_bounds__(Shape::THREADS, Shape::BLOCKS)
    onesweep_kernel(const __grid_constant__ task<Key, Value> task,
                    const __grid_constant__ portion portion)
{
    auto *shared = shared_memory<shared_layout<Key, Value, Shape>>();
    clear_counters<DIGITS>(shared->counts.of_warp[threadIdx.x / WARP]);
    if (task.portions.all_under_way())
        let_next_launch_begin();
    wait_for_launch_before();
    unsigned ticket = 0; /* it is on its way together with the route */
    if (threadIdx.x == 0)
        ticket = atomicAdd(&task.plan->tickets[portion.pass], 1u);
    const route route = route_of(task.plan, portion.pass);
    if (!has_work(route, portion.pass))
        return;
    if (threadIdx.x == 0)
        shared->tile = ticket;
    __syncthreads();
    sort_tile<Shape>(task, portion, route, shared->tile);
}

/* ---- the host's side ---- */

/* Calls f with the shape of the largest tile that suits n and fits the device. */
template <class Key, class Value, class Function>
auto with_shape(const struct problem *problem, Function f)
{
    const uint64_t share = ceil_div(problem->n, problem->device->multiprocessors);
    const size_t most_bytes = problem->device->shared_bytes_per_block;
    static_assert(sizeof(shared_layout<Key, Value, least>) <= 64 << 10, "every device has as much");
    /* Does the shape suit so many keys per multiprocessor? */
    const auto suits = [&]<class Shape>(uint64_t above) {
        return share > above &&
               sizeof(shared_layout<Key, Value, Shape>) + ONE_LAUNCH_BYTES <= most_bytes;
    };
    if (suits.template operator()<most<Key, Value>>(some::TILE))
        return f.template operator()<most<Key, Value>>();
    if (suits.template operator()<some>(few::TILE))
        return f.template operator()<some>();
    if (suits.template operator()<few>(least::TILE / 2))
        return f.template operator()<few>();
    return f.template operator()<least>();
}

inline uint64_t tile_count(const struct problem *problem)
{
    return with_types_of(problem, [&]<class Key, class Value>() {
        return with_shape<Key, Value>(
            problem, [&]<class Shape>() { return ceil_div(problem->n, Shape::TILE); });
    });
}

/* Tiles of a portion. The last portion may have fewer. */
inline uint64_t portion_tiles(const struct problem *problem)
{
    return tile_count(problem) > MANY_TILES ? FEWER_TILES : MOST_TILES;
}

struct scratch {
    void *keys, *values; /* the other arrays */
    onesweep::plan *plan;
    tile_status<uint32_t> *statuses; /* of a portion */
};

inline scratch lay_out(const struct problem *problem, allocator *memory)
{
    scratch scratch = {};
    scratch.keys = memory->get<char>(problem->n * element_bytes(problem->type));
    scratch.values = memory->get<char>(problem->n * value_bytes(problem->values));
    scratch.plan = memory->get<plan>(1);
    scratch.statuses = memory->get<tile_status<uint32_t>>(
        std::min(tile_count(problem), portion_tiles(problem)) * DIGITS);
    return scratch;
}

inline bool is_in_place(const struct call *call)
{
    return call->input == call->output ||
           (call->output_values != nullptr && call->input_values == call->output_values);
}

template <class Key, class Value, class Shape> task<Key, Value> task_of(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const scratch scratch = scratch_of<lay_out>(call);
    const uint64_t tiles = tile_count(problem), most = portion_tiles(problem);
    const uint64_t count = ceil_div(tiles, most);
    return {{keys_of<Key>(call, scratch.keys), problem->n, order_of<Key>(problem->type),
             values_of<Value>(call, scratch.values)},
            scratch.plan,
            scratch.statuses,
            {.count = (unsigned)count,
             .most_tiles = (unsigned)most,
             .tiles = (unsigned)tiles,
             .ahead = Shape::BLOCKS * (unsigned)problem->device->multiprocessors,
             .generation = (uint64_t)call->epoch * PASSES<Key> * count}};
}

template <class Key, class Value, class Shape> void sort_tiles(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const task<Key, Value> task = task_of<Key, Value, Shape>(call);
    const bool overlaps = has_sm_90(problem->device);
    const uint64_t multiprocessors = problem->device->multiprocessors;
    const uint64_t bytes = problem->n * (sizeof(Key) + VALUE_BYTES<Value>);
    launch<digit_histogram_kernel<Key>>(queue_of(call),
                                        {.blocks = std::min(ceil_div(problem->n, HISTOGRAM.tile()),
                                                            HISTOGRAM.blocks * multiprocessors),
                                         .threads = HISTOGRAM.threads,
                                         .traffic = {problem->n * sizeof(Key)},
                                         .shared_bytes = PASSES<Key> * DIGITS * sizeof(unsigned),
                                         .overlaps = overlaps},
                                        task.arrays.keys.in, problem->n, task.arrays.order,
                                        is_in_place(call), task.plan);
    for (unsigned pass = 0; pass < PASSES<Key>; pass++)
        for (unsigned number = 0; number < task.portions.count; number++) {
            const portion portion = task.portions.at(pass, number);
            launch<onesweep_kernel<Key, Value, Shape>>(
                queue_of(call),
                {.blocks = portion.tiles,
                 .threads = Shape::THREADS,
                 .traffic = {2 * bytes / task.portions.count},
                 .shared_bytes = sizeof(shared_layout<Key, Value, Shape>),
                 .overlaps = overlaps},
                task, portion);
        }
}

template <class Key, class Value> void sort(const struct call *call)
{
    with_shape<Key, Value>(&call->problem,
                           [&]<class Shape>() { sort_tiles<Key, Value, Shape>(call); });
}

/* Functions as algorithm.h describes them, of sort_onesweep.cu, for sort_adaptive as well. */
void prepare(const struct call *call);
void run(const struct call *call);

/* Sorts keys with values. The kernels for them are compiled apart, in onesweep_pairs.cu. */
void sort_pairs(const struct call *call);

} // namespace SCANBENCH_BACKEND::onesweep
