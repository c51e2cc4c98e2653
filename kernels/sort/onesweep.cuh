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
 * A launch sorts a portion of the tiles, so that statuses need little memory, and counts only 32
 * bits. The last tile of a portion says where the digits of the next portion go. */
#pragma once

#include "onesweep_plan.cuh"
#include "stable_tile.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND::onesweep
{

using namespace stable_tile;

enum {
    /* The most tiles of a portion of keys. The status of each takes 2 KiB. */
    MOST_TILES = 8192,
    /* The same of more than MANY_TILES: the rest of what sort_adaptive may use is for msd's lists.
     */
    FEWER_TILES = 5120,
    MANY_TILES = 1 << 15,
    /* Bytes of statuses of a portion of pairs, or a 64th of the array's if that is more. */
    PAIR_STATUS_BYTES = 32 << 20,
    /* Shared memory that a block needs besides if one launch does all passes. */
    ONE_LAUNCH_BYTES = 64
};

/* The shapes for few keys. Few tiles are more important than many blocks, because each tile looks
 * back at those before it. */
using least = shape<512, 4>;
using few = shape<1024, 4>;
using some = shape<1024, 8>;

/* The keys per thread for many keys: as many as fit the registers. */
template <class Key, class Value> constexpr unsigned most_keys()
{
    constexpr size_t BYTES = sizeof(Key) + VALUE_BYTES<Value>;
    if (!HAS_VALUES_OF<Value>)
        return BYTES <= 4 ? 20 : 12;
    return BYTES <= 8 ? 16 : BYTES > 12 ? 8 : sizeof(Key) == 4 ? 14 : 12;
}

/* A multiprocessor has two blocks, so that one sorts while the other waits; but one of pairs of 16
 * bytes, whose tiles would be small and their runs short. */
template <class Key, class Value>
using most = shape<sizeof(Key) + VALUE_BYTES<Value> <= 12 ? 512 : 1024, most_keys<Key, Value>()>;

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

/* A tile of a portion, for stable_tile.cuh. */
template <class Key, class Value, class Shape> struct tile_of_portion {
    const onesweep::task<Key, Value> &task;
    const onesweep::portion &portion;
    const SCANBENCH_BACKEND::route &route;
    unsigned tile;

    __device__ __forceinline__ uint64_t first() const
    {
        return (uint64_t)tile * Shape::TILE;
    }
    __device__ __forceinline__ uint64_t end() const
    {
        return task.arrays.n;
    }
    __device__ __forceinline__ unsigned number() const
    {
        return tile - portion.first_tile;
    }
    __device__ __forceinline__ tile_status<uint32_t> *statuses() const
    {
        return task.statuses;
    }
    __device__ __forceinline__ uint32_t tag() const
    {
        return 2 * portion.generation;
    }
    __device__ __forceinline__ unsigned tiles_before(unsigned) const
    {
        return number();
    }
    __device__ __forceinline__ uint64_t start_of(unsigned digit) const
    {
        return task.plan->starts[portion.pass][portion.number % 2][digit];
    }
    __device__ __forceinline__ void tell_end(unsigned digit, uint64_t end) const
    {
        if (number() == portion.tiles - 1)
            task.plan->starts[portion.pass][(portion.number + 1) % 2][digit] = end;
    }
    __device__ __forceinline__ bool are_ranks() const
    {
        return !route.is_first();
    }
    __device__ __forceinline__ bool as_ranks() const
    {
        return !route.is_last();
    }
    /* Pairs with values of 8 bytes take longer with it. */
    static constexpr bool PREFETCHES_VALUES = VALUE_BYTES<Value> == 4;

    /* Tiles of pairs that are prefetched would drive each other out of the L2. */
    __device__ __forceinline__ uint64_t later() const
    {
        const uint64_t later = first() + (uint64_t)task.portions.ahead * Shape::TILE;
        return !HAS_VALUES_OF<Value> && later + Shape::TILE <= task.arrays.n ? later : NO_TILE;
    }
};

/* Sorts a tile of the portion by its digit. The warps' counters are clear. */
template <class Shape, class Key, class Value>
__device__ __forceinline__ void sort_tile_of(const task<Key, Value> &task, const portion &portion,
                                             const route &route, unsigned tile)
{
    const auto &arrays = task.arrays;
    sort_tile<Shape>(tile_of_portion<Key, Value, Shape>{task, portion, route, tile},
                     digit_of_pass{portion.pass}, route(arrays.keys), route(arrays.values),
                     arrays.order);
}

/* A block sorts one tile. */
template <class Key, class Value, class Shape>
__global__ void LAUNCH_BOUNDS(Shape::THREADS, Shape::BLOCKS)
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
        shared->ticket = ticket;
    __syncthreads();
    sort_tile_of<Shape>(task, portion, route, shared->ticket);
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
        constexpr size_t RESERVED = 1024; /* per block, for the system */
        constexpr size_t BYTES = sizeof(shared_layout<Key, Value, Shape>) + ONE_LAUNCH_BYTES;
        return share > above && BYTES <= most_bytes &&
               Shape::BLOCKS * (BYTES + RESERVED) <=
                   problem->device->shared_bytes_per_multiprocessor;
    };
    if (suits.template operator()<most<Key, Value>>(some::TILE))
        return f.template operator()<most<Key, Value>>();
    if (suits.template operator()<some>(few::TILE))
        return f.template operator()<some>();
    if (suits.template operator()<few>(least::TILE / 2))
        return f.template operator()<few>();
    return f.template operator()<least>();
}

/* Keys of a tile. */
inline uint64_t tile_size(const struct problem *problem)
{
    return with_types_of(problem, [&]<class Key, class Value>() {
        return with_shape<Key, Value>(problem,
                                      [&]<class Shape>() -> uint64_t { return Shape::TILE; });
    });
}

/* Tiles of a portion. The last portion may have fewer. Before each portion, blocks wait for each
 * other, so portions are as few as memory for statuses and sums of 32 bits allow. */
inline uint64_t portion_tiles(const struct problem *problem)
{
    const uint64_t tiles = ceil_div(problem->n, tile_size(problem));
    uint64_t most = tiles > MANY_TILES ? FEWER_TILES : MOST_TILES;
    if (problem->values != VALUES_NONE) {
        const size_t pair = element_bytes(problem->type) + value_bytes(problem->values);
        most = std::max<uint64_t>(PAIR_STATUS_BYTES, problem->n * pair / 64) /
               (DIGITS * sizeof(tile_status<uint32_t>));
        most = std::min(most, UINT32_MAX / tile_size(problem));
    }
    return std::max<uint64_t>(std::min(tiles, most), 1);
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
    scratch.statuses = memory->get<tile_status<uint32_t>>(portion_tiles(problem) * DIGITS);
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
    const uint64_t tiles = ceil_div(problem->n, Shape::TILE), most = portion_tiles(problem);
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
/* The same in one launch, unless another sort has set the plan's `disabled`. */
void sort_pairs_unless_disabled(const struct call *call);

} // namespace SCANBENCH_BACKEND::onesweep
