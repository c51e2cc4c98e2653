/* onesweep.cuh: stable radix sort, 8 bits a pass, each pass one read and one write; of keys, or of
 * keys with values.
 * Source:  Adinets and Merrill, "Onesweep: a faster least significant digit radix sort
 *          for GPUs", arXiv:2206.01784, 2022.
 * Work:    O(n) per pass, a pass for each byte in which any two keys differ.
 * Depth:   per pass, the look-back over the tiles.
 * DRAM:    n read once for the histograms; 2n per pass, and 2 KiB of status per tile.
 * Shared:  counters for each warp; then the tile's keys in the order of their digits.
 * Relies:  on every earlier tile being under way: tickets, not blockIdx; on passes being
 *          stable: ranks come from ballots, never from the order of atomics.
 *
 *   1. One launch counts all digits of all keys. Its last block finds out which passes have
 *      work, and between which arrays they move the keys so that the last one ends in the
 *      output. A pass without work ends at once.
 *   2. In a pass, a block ranks the keys of a tile by digit, publishes the counts of its
 *      digits, and finds by look-back how many keys of each digit lie in the tiles before.
 *   3. It sorts its keys by digit in shared memory, and writes a run for each digit.
 *
 * A launch sorts a portion of at most 2^27 keys, so that statuses need little memory and
 * counts of 32 bits. Its last tile says where the digits of the next portion go.
 *
 * Values follow their keys: a thread keeps the places of the keys that it read in the sorted tile,
 * and the digits of those that it wrote. */
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
    THREADS = 512, /* per block */
    WARPS = THREADS / WARP,
    BLOCKS = 2,           /* per multiprocessor */
    KEY_BYTES = 80,       /* of keys, or of wider values, per thread */
    PORTION_TILES = 8192, /* and of the status of each, 2 KiB */
    HISTOGRAM_KEYS = 4    /* a thread has so many loads in flight */
};

template <class Key> constexpr unsigned PASSES = 8 * sizeof(Key) / BITS;
/* Bytes of the larger of key and value. */
template <class Key, class Value>
constexpr unsigned WIDER_BYTES = sizeof(Key) > sizeof(Value) ? sizeof(Key) : sizeof(Value);

inline size_t wider_bytes(const struct problem *problem)
{
    return std::max(element_bytes(problem->type), value_bytes(problem->values));
}

/* Keys per thread; a tile of values fits where one of keys does. */
template <class Key, class Value> constexpr unsigned KEYS = KEY_BYTES / WIDER_BYTES<Key, Value>;
template <class Key, class Value> constexpr unsigned TILE = THREADS *KEYS<Key, Value>;

template <class Key> __device__ __forceinline__ unsigned digit_of(Key rank, unsigned pass)
{
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

/* Adds one to the counter of each lane's digit. Lanes that all agree add once. */
__device__ __forceinline__ void count_digit(unsigned *counts, unsigned digit)
{
    const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
    if (!__all_sync(ALL_LANES, digit == first))
        atomicAdd(&counts[digit], 1u);
    else if (lane_index() == 0)
        atomicAdd(&counts[digit], (unsigned)WARP);
}

/* The last block's work: thread d < DIGITS turns the counts of digit d into starts. */
template <class Key> __device__ void make_plan(plan *plan, uint64_t n, unsigned *shared)
{
    auto *totals = reinterpret_cast<unsigned long long *>(shared);
    unsigned working = 0;
    for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
        const unsigned digit = threadIdx.x;
        unsigned long long count = 0;
        if (digit < DIGITS) {
            count = __ldcg(&plan->counts[pass][digit]);
            plan->counts[pass][digit] = 0;
        }
        const bool idle = __syncthreads_or(count == n);
        const unsigned long long inclusive = warp_inclusive_sum(count);
        if (lane_index() == WARP - 1)
            totals[threadIdx.x / WARP] = inclusive;
        __syncthreads();
        if (digit < DIGITS)
            plan->starts[pass][0][digit] =
                sum_of_first(threadIdx.x / WARP, totals) + inclusive - count;
        if (threadIdx.x == 0) {
            plan->position[pass] = idle ? (unsigned)plan::IDLE : working;
            plan->tickets[pass] = 0;
        }
        working += !idle;
    }
    if (threadIdx.x == 0) {
        plan->working = working;
        plan->blocks_done = 0;
    }
}

template <class Key>
__global__ void __launch_bounds__(THREADS)
    digit_histogram_kernel(const Key *in, uint64_t n, key_order<Key> order, plan *plan)
{
    unsigned *counts = shared_memory<unsigned>();
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += THREADS)
        counts[d] = 0;
    __syncthreads();
    /* Fewer than 2^32 keys per block: a block's counters have 32 bits. */
    constexpr uint64_t STEP = HISTOGRAM_KEYS * THREADS;
    for (uint64_t i = blockIdx.x * STEP; i < n; i += gridDim.x * STEP) {
        Key rank[HISTOGRAM_KEYS];
#pragma unroll
        for (unsigned k = 0; k < HISTOGRAM_KEYS; k++) {
            const uint64_t at = i + k * THREADS + threadIdx.x;
            rank[k] = at < n ? order(in[at]) : 0;
        }
        if (i + STEP <= n) {
#pragma unroll
            for (unsigned k = 0; k < HISTOGRAM_KEYS; k++)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    count_digit(counts + pass * DIGITS, digit_of(rank[k], pass));
        } else {
            for (unsigned k = 0; k < HISTOGRAM_KEYS; k++)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    if (i + k * THREADS + threadIdx.x < n)
                        atomicAdd(&counts[pass * DIGITS + digit_of(rank[k], pass)], 1u);
        }
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += THREADS)
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
        make_plan<Key>(plan, n, counts);
    }
}

/* ---- 2. and 3. A pass ---- */

template <class Key, class Value> struct shared_layout {
    union {
        warp_counts<WARPS, DIGITS> counts;
        Key keys[TILE<Key, Value>];
        Value values[TILE<Key, Value>];
    };
    uint64_t destination[DIGITS]; /* of key 0 of the sorted tile, were it of that digit */
    unsigned warp_totals[WARPS];
    unsigned tile;
};

/* The number of keys of a digit in all tiles before, by one thread for each digit. */
__device__ __forceinline__ uint32_t look_back(const tile_status<uint32_t> *status, unsigned tile,
                                              uint32_t generation)
{
    uint32_t before = 0;
    while (tile-- > 0) {
        observation<uint32_t> seen = look_at(&status[tile * DIGITS]);
        while (seen.tag / 2 != generation) {
            spin_wait();
            seen = look_at(&status[tile * DIGITS]);
        }
        before += seen.value;
        if (seen.tag % 2 == 1)
            break;
    }
    return before;
}

/* What a block knows of its portion. */
struct portion {
    unsigned number;
    unsigned first_tile; /* of the portion */
    uint32_t generation; /* tells its statuses from all others */
};

/* Thread d < DIGITS publishes the tile's count of digit d, and finds where its keys go. */
__device__ __forceinline__ void place_digit(unsigned count, unsigned start, plan *plan,
                                            unsigned pass, portion portion, unsigned tile,
                                            tile_status<uint32_t> *statuses, uint64_t *destination)
{
    const unsigned digit = threadIdx.x;
    tile_status<uint32_t> *status = statuses + digit;
    const uint32_t tag = 2 * portion.generation;
    if (tile > 0)
        publish(&status[tile * DIGITS], (uint32_t)count, tag);
    const uint32_t before = look_back(status, tile, portion.generation);
    publish(&status[tile * DIGITS], (uint32_t)(before + count), tag + 1);
    const unsigned long long first = plan->starts[pass][portion.number % 2][digit] + before;
    destination[digit] = first - start;
    if (tile == PORTION_TILES - 1)
        plan->starts[pass][(portion.number + 1) % 2][digit] = first + count;
}

/* Two ranks in one register. */
template <unsigned COUNT> struct packed_ranks {
    unsigned pair[(COUNT + 1) / 2];

    __device__ __forceinline__ void set(unsigned k, unsigned rank)
    {
        pair[k / 2] = k % 2 == 0 ? rank : pair[k / 2] | rank << 16;
    }
    __device__ __forceinline__ unsigned get(unsigned k) const
    {
        return pair[k / 2] >> (16 * (k % 2)) & 0xFFFF;
    }
};

/* Four digits in one register. */
template <unsigned COUNT> struct packed_digits {
    unsigned four[(COUNT + 3) / 4] = {};

    __device__ __forceinline__ void set(unsigned k, unsigned digit)
    {
        four[k / 4] |= digit << (BITS * (k % 4));
    }
    __device__ __forceinline__ unsigned get(unsigned k) const
    {
        return four[k / 4] >> (BITS * (k % 4)) & (DIGITS - 1);
    }
};

/* Sorts a tile's keys, which the warps hold in rows of 32, by digit into shared->keys. Sets the
 * places where they are there. */
template <class Key, class Value, unsigned COUNT>
__device__ __forceinline__ void
sort_tile(shared_layout<Key, Value> *shared, const Key (&key)[COUNT], packed_ranks<COUNT> &ranks,
          plan *plan, unsigned pass, portion portion, tile_status<uint32_t> *statuses,
          const key_order<Key> &order)
{
    const unsigned warp = threadIdx.x / WARP, tile = shared->tile - portion.first_tile;
    unsigned *own = shared->counts.of_warp[warp];
    for (unsigned d = lane_index(); d < DIGITS; d += WARP)
        own[d] = 0;
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        ranks.set(k, rank_in_warp<BITS>(digit_of(order(key[k]), pass), own));
    __syncthreads();
    const unsigned count = starts_of_digits(&shared->counts, shared->warp_totals);
    const unsigned start = threadIdx.x < DIGITS ? shared->counts.of_warp[0][threadIdx.x] : 0;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        const unsigned rank = ranks.get(k) + own[digit_of(order(key[k]), pass)];
        ranks.pair[k / 2] = k % 2 == 0 ? (ranks.pair[k / 2] & 0xFFFF0000) | rank
                                       : (ranks.pair[k / 2] & 0xFFFF) | rank << 16;
    }
    __syncthreads(); /* the keys take the counters' place */
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        shared->keys[ranks.get(k)] = key[k];
    if (threadIdx.x < DIGITS)
        place_digit(count, start, plan, pass, portion, tile, statuses, shared->destination);
    __syncthreads();
}

/* A thread's share of the tile that begins at `first`, in the input's order: for each k a row of
 * 32, warp by warp. */
template <unsigned COUNT> __device__ __forceinline__ unsigned index_in_tile(unsigned k)
{
    return threadIdx.x / WARP * WARP * COUNT + lane_index() + k * WARP;
}

template <unsigned COUNT, class T>
__device__ __forceinline__ void load_share(T (&share)[COUNT], const T *from, uint64_t first,
                                           uint64_t n, T rest)
{
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        const uint64_t i = first + index_in_tile<COUNT>(k);
        share[k] = i < n ? from[i] : rest;
    }
}

/* Copies it, at `destination`. */
template <unsigned COUNT, class T>
__device__ __forceinline__ void copy_share(const T (&share)[COUNT], T *to, uint64_t destination,
                                           uint64_t first, uint64_t n)
{
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (first + index_in_tile<COUNT>(k) < n)
            to[destination + index_in_tile<COUNT>(k)] = share[k];
}

/* Copies the values of keys that are copied. */
template <unsigned COUNT, class Value>
__device__ __forceinline__ void copy_values(const moved<Value> &values, uint64_t destination,
                                            uint64_t first, uint64_t n)
{
    if constexpr (HAS_VALUES_OF<Value>) {
        Value value[COUNT];
        load_share(value, values.from, first, n, Value(0));
        copy_share(value, values.to, destination, first, n);
    }
}

/* Writes the keys of a sorted tile. */
template <class Key>
__device__ __forceinline__ void write_keys(const shared_layout<Key, no_value> *shared, Key *to,
                                           unsigned count, unsigned pass,
                                           const key_order<Key> &order)
{
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const Key moved = shared->keys[i];
        to[shared->destination[digit_of(order(moved), pass)] + i] = moved;
    }
}

/* Writes the keys of a sorted tile, then sorts the tile's values as the keys were, in the same
 * memory, and writes them. */
template <class Key, class Value, unsigned COUNT>
__device__ __forceinline__ void
write_pairs(shared_layout<Key, Value> *shared, const packed_ranks<COUNT> &ranks,
            const Value (&value)[COUNT], Key *to, Value *values_to, unsigned count, unsigned pass,
            const key_order<Key> &order)
{
    packed_digits<COUNT> digits;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        const unsigned i = k * THREADS + threadIdx.x;
        const Key moved = shared->keys[i];
        const unsigned digit = digit_of(order(moved), pass);
        digits.set(k, digit);
        if (i < count)
            to[shared->destination[digit] + i] = moved;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        shared->values[ranks.get(k)] = value[k];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        const unsigned i = k * THREADS + threadIdx.x;
        if (i < count)
            values_to[shared->destination[digits.get(k)] + i] = shared->values[i];
    }
}

template <class Key, class Value>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    onesweep_kernel(arrays<Key, Value> arrays, plan *plan, unsigned pass, portion portion,
                    tile_status<uint32_t> *statuses)
{
    constexpr unsigned COUNT = KEYS<Key, Value>;
    auto *shared = shared_memory<shared_layout<Key, Value>>();
    const route route = {plan->position[pass], plan->working};
    if (route.position == plan::IDLE && !(route.passes == 0 && pass == 0))
        return;
    if (threadIdx.x == 0)
        shared->tile = atomicAdd(&plan->tickets[pass], 1u);
    __syncthreads();
    const uint64_t first = (uint64_t)shared->tile * TILE<Key, Value>;
    const Key *from = route.from(arrays.keys);
    Key *to = route.to(arrays.keys);
    Key key[COUNT];
    /* What lies past the end is of the highest rank, and comes last. */
    load_share(key, from, first, arrays.n, arrays.order.inverse(Key(~Key(0))));
    const unsigned digit = digit_of(arrays.order(from[first]), pass);
    bool agree = true;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        agree &= digit_of(arrays.order(key[k]), pass) == digit;
    if (__syncthreads_and(agree)) { /* it is in order already */
        if (threadIdx.x < DIGITS)
            place_digit(threadIdx.x == digit ? TILE<Key, Value> : 0, 0, plan, pass, portion,
                        shared->tile - portion.first_tile, statuses, shared->destination);
        __syncthreads();
        copy_share(key, to, shared->destination[digit], first, arrays.n);
        copy_values<COUNT>(route(arrays.values), shared->destination[digit], first, arrays.n);
        return;
    }
    packed_ranks<COUNT> ranks;
    sort_tile(shared, key, ranks, plan, pass, portion, statuses, arrays.order);
    const uint64_t left = arrays.n - first;
    const unsigned count = left < TILE<Key, Value> ? (unsigned)left : TILE<Key, Value>;
    if constexpr (HAS_VALUES_OF<Value>) {
        Value value[COUNT];
        load_share(value, route.from(arrays.values), first, arrays.n, Value(0));
        write_pairs(shared, ranks, value, to, route.to(arrays.values), count, pass, arrays.order);
    } else {
        write_keys(shared, to, count, pass, arrays.order);
    }
}

/* ---- the host's side ---- */

constexpr size_t align(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

inline uint64_t tile_count(const struct problem *problem)
{
    return ceil_div(problem->n, THREADS * (KEY_BYTES / wider_bytes(problem)));
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

template <class Key, class Value> void sort(const struct call *call)
{
    const struct problem *problem = &call->problem;
    char *other = static_cast<char *>(call->scratch), *rest = other + arrays_bytes(problem);
    const arrays<Key, Value> arrays = {keys_of<Key>(call, other), problem->n,
                                       order_of<Key>(problem->type),
                                       values_of<Value>(call, other + keys_bytes(problem))};
    auto *its_plan = reinterpret_cast<plan *>(rest);
    auto *statuses = reinterpret_cast<tile_status<uint32_t> *>(rest + align(sizeof(plan)));
    const uint64_t bytes = problem->n * (sizeof(Key) + (HAS_VALUES_OF<Value> ? sizeof(Value) : 0));
    const uint64_t blocks = ceil_div(problem->n, HISTOGRAM_KEYS * THREADS);
    const uint64_t resident = 4 * (uint64_t)problem->device->multiprocessors;
    launch<digit_histogram_kernel<Key>>(queue_of(call),
                                        {std::min(blocks, resident),
                                         THREADS,
                                         {problem->n * sizeof(Key)},
                                         PASSES<Key> * DIGITS * sizeof(unsigned)},
                                        arrays.keys.in, problem->n, arrays.order, its_plan);
    const uint64_t tiles = tile_count(problem), portions = ceil_div(tiles, PORTION_TILES);
    for (unsigned pass = 0; pass < PASSES<Key>; pass++)
        for (unsigned p = 0; p < portions; p++) {
            const uint64_t first = (uint64_t)p * PORTION_TILES;
            const auto generation =
                (uint32_t)(((uint64_t)call->epoch * PASSES<Key> + pass) * portions + p);
            const uint64_t in_portion = std::min<uint64_t>(tiles - first, PORTION_TILES);
            launch<onesweep_kernel<Key, Value>>(
                queue_of(call),
                {in_portion, THREADS, {2 * bytes / portions}, sizeof(shared_layout<Key, Value>)},
                arrays, its_plan, pass, portion{p, (unsigned)first, generation % 0x80000000u},
                statuses);
        }
}

/* Keys alone and pairs are compiled apart, in files of their own. */
void sort_pairs(const struct call *call);

} // namespace onesweep

} // namespace SCANBENCH_BACKEND

#endif
