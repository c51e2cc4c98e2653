/* onesweep.cuh: stable radix sort, 8 bits a pass, each pass one read and one write; of keys, or of
 * keys with values.
 * Source:  Adinets and Merrill, "Onesweep: a faster least significant digit radix sort
 *          for GPUs", arXiv:2206.01784, 2022.
 * Work:    O(n) per pass, a pass for each byte in which any two keys differ.
 * Depth:   per pass, the look-back over the tiles.
 * DRAM:    n read once for the histograms; 2n per pass, and 2 KiB of status per tile.
 * Shared:  counters for each warp, and the tile in the order of its digits.
 * Relies:  on every earlier tile being under way: tickets, not blockIdx; on passes being
 *          stable: ranks come from ballots, never from the order of atomics.
 *
 *   1. One launch counts all digits of all keys. Its last block finds out which passes have
 *      work, and between which arrays they move the keys so that the last one ends in the
 *      output. A pass without work ends at once.
 *   2. In a pass, a block counts the digits of a tile and publishes the counts, so that later tiles
 *      need not wait for it. It ranks the keys, sorts them by digit in shared memory, and finds by
 *      look-back how many keys of each digit lie in the tiles before.
 *   3. It writes a run for each digit. Values follow their keys all the way.
 *
 * Keys are mapped to unsigned numbers when first read, and back when last written. Few keys are
 * sorted in small tiles, and their launches overlap: latency is all that counts there.
 *
 * A launch sorts a portion of the tiles, so that statuses need little memory and counts of 32 bits.
 * Its last tile says where the digits of the next portion go.
 */
#ifndef SCANBENCH_KERNELS_ONESWEEP_CUH
#define SCANBENCH_KERNELS_ONESWEEP_CUH

#include "key_order.cuh"
#include "ping_pong.cuh"
#include "radix_rank.cuh"
#include "tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace onesweep
{

enum {
    BITS = 8,
    DIGITS = 1 << BITS,
    PORTION_TILES = 8192, /* and of the status of each, 2 KiB */
    WINDOW = 8,           /* statuses that a thread looks at together */
    HISTOGRAM_THREADS = 512,
    HISTOGRAM_WARPS = HISTOGRAM_THREADS / WARP,
    HISTOGRAM_KEYS = 4 /* a thread has so many loads in flight */
};

template <class Key> constexpr unsigned PASSES = 8 * sizeof(Key) / BITS;

/* A block's threads, and the keys that each of them has. */
template <unsigned THREADS_, unsigned KEYS_> struct shape {
    static constexpr unsigned THREADS = THREADS_, KEYS = KEYS_;
    static constexpr unsigned TILE = THREADS * KEYS, WARPS = THREADS / WARP;
    static constexpr unsigned BLOCKS = 1024 / THREADS; /* per multiprocessor */
};

/* Where there are few keys. Few tiles are more important than many blocks, for each tile looks
 * back at those before. */
using least = shape<512, 4>;
using few = shape<1024, 4>;
using some = shape<1024, 8>;

/* Where there are many: what registers and shared memory hold. Pairs are written in shorter runs,
 * and gain more from large tiles than from a second block. */
constexpr unsigned most_threads(size_t value_bytes)
{
    return value_bytes > 0 ? 1024 : 512;
}

constexpr unsigned most_keys(size_t key_bytes, size_t value_bytes)
{
    return key_bytes + value_bytes <= 4 ? 20 : key_bytes + value_bytes <= 12 ? 12 : 8;
}

/* Shared memory for a tile: its pairs, the counters of each warp, destinations; and a little more.
 */
constexpr size_t shared_bytes(unsigned threads, unsigned tile, size_t pair_bytes)
{
    return tile * pair_bytes + threads / WARP * DIGITS * sizeof(unsigned) +
           DIGITS * sizeof(uint64_t) + 256;
}

/* The largest tile that suits the number of keys and fits the device. */
inline unsigned tile_of(const struct problem *problem)
{
    const uint64_t share = ceil_div(problem->n, problem->device->multiprocessors);
    const size_t key_bytes = element_bytes(problem->type), bytes = value_bytes(problem->values);
    const unsigned most = most_threads(bytes) * most_keys(key_bytes, bytes);
    const auto fits = [&](unsigned threads, unsigned tile) {
        return shared_bytes(threads, tile, key_bytes + bytes) <=
               problem->device->shared_bytes_per_block;
    };
    if (share > some::TILE && fits(most_threads(bytes), most))
        return most;
    if (share > few::TILE && fits(some::THREADS, some::TILE))
        return some::TILE;
    return share > least::TILE / 2 && fits(few::THREADS, few::TILE) ? few::TILE : least::TILE;
}

template <class Key> __device__ __forceinline__ unsigned digit_of(Key rank, unsigned pass)
{
#ifdef __CUDACC__
    if constexpr (sizeof(Key) == 4) /* in one instruction */
        return __byte_perm(rank, 0, 0x4440 + pass);
#endif
    return (unsigned)(rank >> (BITS * pass)) % DIGITS;
}

/* What the first launch finds out for the passes, in scratch. Zero before the first call;
 * each call leaves zero what it adds to. */
struct plan {
    enum { MOST_PASSES = 8, IDLE = 0xFF };
    unsigned long long counts[MOST_PASSES][DIGITS];
    /* Where the keys of a digit go, for portions of even and of odd number. */
    unsigned long long starts[MOST_PASSES][2][DIGITS];
    unsigned tickets[MOST_PASSES];
    unsigned position[MOST_PASSES]; /* among the passes with work, or IDLE */
    unsigned working;               /* passes with work */
    unsigned blocks_done;
};

/* The input is read by the first pass with work. */
template <class Key, class Value> struct arrays {
    three_arrays<Key> keys;
    uint64_t n;
    key_order<Key> order;
    [[no_unique_address]] three_arrays<Value> values;
};

/* ---- 1. Counting ---- */

/* Passes that have work, a bit each. A pass whose digit is the same in all keys has none, but for
 * one that is needed for sorting in place: the input, which is the output, is read by the first of
 * an even number of passes, or it would be overwritten as it is read. */
template <class Key>
__device__ __forceinline__ unsigned working_passes(const unsigned long long (&counts)[PASSES<Key>],
                                                   uint64_t n, bool in_place)
{
    unsigned working = 0;
#pragma unroll
    for (unsigned pass = 0; pass < PASSES<Key>; pass++)
        if (!__syncthreads_or(counts[pass] == n))
            working |= 1u << pass;
    if (in_place && __popc(working) % 2 == 1)
        working |= ~working & (working + 1);
    return working;
}

/* The last block's work: thread d < DIGITS turns the counts of digit d into starts. */
template <class Key>
__device__ void make_plan(plan *plan, uint64_t n, bool in_place, unsigned *shared)
{
    auto *totals = reinterpret_cast<unsigned long long *>(shared);
    const unsigned digit = threadIdx.x, warp = threadIdx.x / WARP;
    unsigned long long counts[PASSES<Key>] = {}, inclusive[PASSES<Key>];
    if (digit < DIGITS)
#pragma unroll
        for (unsigned pass = 0; pass < PASSES<Key>; pass++)
            counts[pass] = __ldcg(&plan->counts[pass][digit]);
#pragma unroll
    for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
        inclusive[pass] = warp_inclusive_sum(counts[pass]);
        if (lane_index() == WARP - 1)
            totals[pass * HISTOGRAM_WARPS + warp] = inclusive[pass];
    }
    const unsigned working = working_passes<Key>(counts, n, in_place);
    if (digit < DIGITS)
#pragma unroll
        for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
            plan->starts[pass][0][digit] = sum_of_first(warp, totals + pass * HISTOGRAM_WARPS) +
                                           inclusive[pass] - counts[pass];
            plan->counts[pass][digit] = 0;
        }
    if (threadIdx.x < PASSES<Key>) {
        const unsigned pass = threadIdx.x, before = working & ((1u << pass) - 1);
        plan->position[pass] = (working >> pass & 1) != 0 ? __popc(before) : (unsigned)plan::IDLE;
        plan->tickets[pass] = 0;
    }
    if (threadIdx.x == 0) {
        plan->working = __popc(working);
        plan->blocks_done = 0;
    }
}

template <class Key>
__global__ void __launch_bounds__(HISTOGRAM_THREADS)
    digit_histogram_kernel(const Key *in, uint64_t n, key_order<Key> order, bool in_place,
                           plan *plan)
{
    unsigned *counts = shared_memory<unsigned>();
    let_next_launch_begin();
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += HISTOGRAM_THREADS)
        counts[d] = 0;
    __syncthreads();
    /* Fewer than 2^32 keys per block: a block's counters have 32 bits. */
    constexpr uint64_t STEP = HISTOGRAM_KEYS * HISTOGRAM_THREADS;
    for (uint64_t i = blockIdx.x * STEP; i < n; i += gridDim.x * STEP) {
        Key rank[HISTOGRAM_KEYS];
#pragma unroll
        for (unsigned k = 0; k < HISTOGRAM_KEYS; k++) {
            const uint64_t at = i + k * HISTOGRAM_THREADS + threadIdx.x;
            rank[k] = at < n ? order(in[at]) : 0;
        }
        if (i + STEP <= n) {
#pragma unroll
            for (unsigned k = 0; k < HISTOGRAM_KEYS; k++)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    atomicAdd(&counts[pass * DIGITS + digit_of(rank[k], pass)], 1u);
        } else {
            for (unsigned k = 0; k < HISTOGRAM_KEYS; k++)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    if (i + k * HISTOGRAM_THREADS + threadIdx.x < n)
                        atomicAdd(&counts[pass * DIGITS + digit_of(rank[k], pass)], 1u);
        }
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += HISTOGRAM_THREADS)
        if (counts[d] != 0)
            atomicAdd(&plan->counts[d / DIGITS][d % DIGITS], (unsigned long long)counts[d]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        counts[0] = atomicAdd(&plan->blocks_done, 1u);
    __syncthreads();
    const bool last = counts[0] == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        make_plan<Key>(plan, n, in_place, counts);
    }
}

/* ---- 2. and 3. A pass ---- */

/* What a block knows of its portion. */
struct portion {
    unsigned number;
    unsigned first_tile;
    unsigned ahead;      /* tiles under way at the same time */
    uint32_t generation; /* tells its statuses from all others */
};

template <class Key, class Value, class Shape> struct shared_layout {
    static constexpr unsigned TILE = Shape::TILE;
    warp_counts<Shape::WARPS, DIGITS> counts; /* and then places, of the next key of each digit */
    Key keys[TILE];
    Value values[HAS_VALUES_OF<Value> ? TILE : 1];
    uint64_t destination[DIGITS]; /* of key 0 of the sorted tile, were it of that digit */
    unsigned warp_totals[Shape::WARPS];
    unsigned tile;
};

/* The number of keys of a digit in all tiles before, by one thread for each digit. It looks at
 * several tiles at once. */
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

    /* Tile 0 has nothing to wait for: its count is published once, as the sum of all. */
    __device__ __forceinline__ void publish_count(unsigned count) const
    {
        if (tile > 0)
            publish(&status[tile * DIGITS], (uint32_t)count, tag);
    }
    /* Returns the number of keys before the tile. */
    __device__ __forceinline__ uint32_t publish_sum(unsigned count) const
    {
        const uint32_t before = look_back(status, tile, tag / 2);
        publish(&status[tile * DIGITS], (uint32_t)(before + count), tag + 1);
        return before;
    }
};

/* Thread d < DIGITS finds where the tile's keys of digit d go. */
__device__ __forceinline__ void place_digit(const digit_board &board, unsigned count,
                                            unsigned start, plan *plan, unsigned pass,
                                            portion portion, uint64_t *destination)
{
    const unsigned digit = threadIdx.x;
    const uint32_t before = board.publish_sum(count);
    const unsigned long long first = plan->starts[pass][portion.number % 2][digit] + before;
    destination[digit] = first - start;
    if (board.tile == PORTION_TILES - 1)
        plan->starts[pass][(portion.number + 1) % 2][digit] = first + count;
}

/* A thread's share of the tile that begins at `first`, in the input's order: for each k a row of
 * 32, warp by warp. */
template <unsigned COUNT> __device__ __forceinline__ unsigned index_in_tile(unsigned k)
{
    return threadIdx.x / WARP * WARP * COUNT + lane_index() + k * WARP;
}

template <unsigned TILE, unsigned COUNT, class T>
__device__ __forceinline__ void load_share(T (&share)[COUNT], const T *from, uint64_t first,
                                           unsigned count)
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

/* Has a whole tile in the L2 by the time that its block comes. */
template <unsigned TILE, class T>
__device__ __forceinline__ void prefetch_tile(const T *from, uint64_t first, uint64_t n)
{
#ifdef __CUDACC__
    constexpr unsigned LINE = 128 / sizeof(T); /* elements */
    if (first + TILE <= n)
        for (unsigned i = threadIdx.x * LINE; i < TILE; i += blockDim.x * LINE)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(from + first + i));
#else
    (void)from, (void)first, (void)n;
#endif
}

/* Copies it, at `destination`. */
template <unsigned COUNT, class T>
__device__ __forceinline__ void copy_share(const T (&share)[COUNT], T *to, uint64_t destination,
                                           unsigned count)
{
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (index_in_tile<COUNT>(k) < count)
            to[destination + index_in_tile<COUNT>(k)] = share[k];
}

/* Keys are stored as their ranks between the first pass and the last. What lies past the end is of
 * the highest rank, and comes last. */
template <unsigned TILE, unsigned COUNT, class Key>
__device__ __forceinline__ void rank_keys(Key (&key)[COUNT], unsigned count, bool are_ranks,
                                          const key_order<Key> &order)
{
    if (!are_ranks)
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            key[k] = order(key[k]);
    if (count < TILE)
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (index_in_tile<COUNT>(k) >= count)
                key[k] = Key(~Key(0));
}

/* Writes the sorted tile. */
template <bool AS_RANKS, class Shape, class Key, class Value>
__device__ __forceinline__ void write_tile(const shared_layout<Key, Value, Shape> *shared, Key *to,
                                           Value *values_to, unsigned count, unsigned pass,
                                           const key_order<Key> &order)
{
#pragma unroll
    for (unsigned k = 0; k < Shape::KEYS; k++) {
        const unsigned i = k * Shape::THREADS + threadIdx.x;
        const Key rank = shared->keys[i];
        const uint64_t at = shared->destination[digit_of(rank, pass)] + i;
        if (i < count) {
            to[at] = AS_RANKS ? rank : order.inverse(rank);
            if constexpr (HAS_VALUES_OF<Value>)
                values_to[at] = shared->values[i];
        }
    }
}

template <class Key, class Value, class Shape>
__global__ void __launch_bounds__(Shape::THREADS, Shape::BLOCKS)
    onesweep_kernel(const __grid_constant__ arrays<Key, Value> arrays, plan *plan, unsigned pass,
                    const __grid_constant__ portion portion, tile_status<uint32_t> *statuses)
{
    constexpr unsigned COUNT = Shape::KEYS, TILE = Shape::TILE;
    auto *shared = shared_memory<shared_layout<Key, Value, Shape>>();
    unsigned *own = shared->counts.of_warp[threadIdx.x / WARP];
    for (unsigned d = lane_index(); d < DIGITS; d += WARP)
        own[d] = 0;
    let_next_launch_begin();
    wait_for_launch_before();
    unsigned ticket = 0; /* on its way together with the route */
    if (threadIdx.x == 0)
        ticket = atomicAdd(&plan->tickets[pass], 1u);
    const route route = {plan->position[pass], plan->working};
    if (route.position == plan::IDLE && !(route.passes == 0 && pass == 0))
        return;
    if (threadIdx.x == 0)
        shared->tile = ticket;
    __syncthreads();
    const unsigned tile = shared->tile;
    const uint64_t first = (uint64_t)tile * TILE;
    const auto count = (unsigned)min(arrays.n - first, (uint64_t)TILE);
    const digit_board board = {statuses + threadIdx.x, tile - portion.first_tile,
                               2 * portion.generation};
    const bool is_first = route.position == 0 || route.passes == 0;
    const bool is_last = route.position + 1 == route.passes || route.passes == 0;
    Key *to = route.to(arrays.keys);
    const moved<Value> values = route(arrays.values);

    const uint64_t later = first + (uint64_t)portion.ahead * TILE;
    Key rank[COUNT];
    load_share<TILE>(rank, route.from(arrays.keys), first, count);
    prefetch_tile<TILE>(route.from(arrays.keys), later, arrays.n);
    [[maybe_unused]] Value value[COUNT];
    if constexpr (HAS_VALUES_OF<Value>) {
        load_share<TILE>(value, values.from, first, count);
        prefetch_tile<TILE>(values.from, later, arrays.n);
    }
    rank_keys<TILE>(rank, count, !is_first, arrays.order);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        atomicAdd(&own[digit_of(rank[k], pass)], 1u);
    __syncthreads();
    /* Counts are published before the keys are ranked, so that later tiles need not wait. */
    unsigned start = 0;
    const unsigned its_count =
        starts_of_digits(&shared->counts, shared->warp_totals, &start,
                         [&](unsigned count) { board.publish_count(count); });
    if (__syncthreads_or(its_count == TILE)) { /* one digit: it is in order already */
        if (threadIdx.x < DIGITS)
            place_digit(board, its_count, 0, plan, pass, portion, shared->destination);
        __syncthreads();
        const uint64_t destination = shared->destination[digit_of(rank[0], pass)];
        if (is_last)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                rank[k] = arrays.order.inverse(rank[k]);
        copy_share(rank, to, destination, count);
        if constexpr (HAS_VALUES_OF<Value>)
            copy_share(value, values.to, destination, count);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        const unsigned place = rank_in_warp<BITS>(digit_of(rank[k], pass), own);
        shared->keys[place] = rank[k];
        if constexpr (HAS_VALUES_OF<Value>)
            shared->values[place] = value[k];
    }
    if (threadIdx.x < DIGITS)
        place_digit(board, its_count, start, plan, pass, portion, shared->destination);
    __syncthreads();
    Value *values_to = nullptr;
    if constexpr (HAS_VALUES_OF<Value>)
        values_to = values.to;
    if (is_last)
        write_tile<false>(shared, to, values_to, count, pass, arrays.order);
    else
        write_tile<true>(shared, to, values_to, count, pass, arrays.order);
}

/* ---- the host's side ---- */

constexpr size_t align(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

inline uint64_t tile_count(const struct problem *problem)
{
    return ceil_div(problem->n, tile_of(problem));
}

/* Of the other arrays of keys and values. */
inline size_t keys_bytes(const struct problem *problem)
{
    return align(problem->n * element_bytes(problem->type));
}

inline size_t arrays_bytes(const struct problem *problem)
{
    return keys_bytes(problem) + align(problem->n * value_bytes(problem->values));
}

/* Scratch: the other arrays, the plan, and the statuses of a portion. */
inline size_t scratch_bytes(const struct problem *problem)
{
    return arrays_bytes(problem) + align(sizeof(plan)) +
           std::min<uint64_t>(tile_count(problem), PORTION_TILES) * DIGITS *
               sizeof(tile_status<uint32_t>);
}

inline bool is_in_place(const struct call *call)
{
    return call->input == call->output ||
           (call->output_values != nullptr && call->input_values == call->output_values);
}

template <class Key, class Value, class Shape> void sort_tiles(const struct call *call)
{
    const struct problem *problem = &call->problem;
    char *other = static_cast<char *>(call->scratch), *rest = other + arrays_bytes(problem);
    const arrays<Key, Value> arrays = {keys_of<Key>(call, other), problem->n,
                                       order_of<Key>(problem->type),
                                       values_of<Value>(call, other + keys_bytes(problem))};
    auto *its_plan = reinterpret_cast<plan *>(rest);
    auto *statuses = reinterpret_cast<tile_status<uint32_t> *>(rest + align(sizeof(plan)));
    const uint64_t bytes = problem->n * (sizeof(Key) + (HAS_VALUES_OF<Value> ? sizeof(Value) : 0));
    const uint64_t blocks = ceil_div(problem->n, HISTOGRAM_KEYS * HISTOGRAM_THREADS);
    const uint64_t most_blocks = 4 * (uint64_t)problem->device->multiprocessors;
    launch<digit_histogram_kernel<Key>>(queue_of(call),
                                        {std::min(blocks, most_blocks),
                                         HISTOGRAM_THREADS,
                                         {problem->n * sizeof(Key)},
                                         PASSES<Key> * DIGITS * sizeof(unsigned)},
                                        arrays.keys.in, problem->n, arrays.order, is_in_place(call),
                                        its_plan);
    const uint64_t tiles = tile_count(problem), portions = ceil_div(tiles, PORTION_TILES);
    const unsigned ahead = Shape::BLOCKS * (unsigned)problem->device->multiprocessors;
    for (unsigned pass = 0; pass < PASSES<Key>; pass++)
        for (unsigned p = 0; p < portions; p++) {
            const uint64_t first = (uint64_t)p * PORTION_TILES;
            const auto generation =
                (uint32_t)(((uint64_t)call->epoch * PASSES<Key> + pass) * portions + p);
            launch<onesweep_kernel<Key, Value, Shape>>(
                queue_of(call),
                {std::min<uint64_t>(tiles - first, PORTION_TILES),
                 Shape::THREADS,
                 {2 * bytes / portions},
                 sizeof(shared_layout<Key, Value, Shape>),
                 false,
                 tiles <= ahead && problem->device->compute_capability >= 90},
                arrays, its_plan, pass,
                portion{p, (unsigned)first, ahead, generation % 0x80000000u}, statuses);
        }
}

template <class Key, class Value> void sort(const struct call *call)
{
    constexpr size_t VALUE_BYTES = HAS_VALUES_OF<Value> ? sizeof(Value) : 0;
    using most = shape<most_threads(VALUE_BYTES), most_keys(sizeof(Key), VALUE_BYTES)>;
    static_assert(sizeof(shared_layout<Key, Value, most>) <=
                  shared_bytes(most::THREADS, most::TILE, sizeof(Key) + VALUE_BYTES));
    switch (tile_of(&call->problem)) {
    case least::TILE:
        return sort_tiles<Key, Value, least>(call);
    case few::TILE:
        return sort_tiles<Key, Value, few>(call);
    case some::TILE:
        return sort_tiles<Key, Value, some>(call);
    default:
        return sort_tiles<Key, Value, most>(call);
    }
}

/* Keys alone and pairs are compiled apart, in files of their own. */
void sort_pairs(const struct call *call);

} // namespace onesweep

} // namespace SCANBENCH_BACKEND

#endif
