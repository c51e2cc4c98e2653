/* msd_partition.cuh: step 2 of a level of sort_msd: tiles of keys are partitioned by their digit.
 */
#ifndef SCANBENCH_KERNELS_MSD_PARTITION_CUH
#define SCANBENCH_KERNELS_MSD_PARTITION_CUH

#include "msd_guess.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* A tile's keys in registers: number k * THREADS + threadIdx.x of `count`, which a FULL tile
 * need not be asked for. */
template <class Key, unsigned THREADS, unsigned COUNT, bool FULL> struct tile_keys {
    Key rank[COUNT];
    unsigned count;

    __device__ __forceinline__ bool has(unsigned k) const
    {
        return FULL || k * THREADS + threadIdx.x < count;
    }
    /* Keys as they are: nothing waits for them yet. */
    __device__ __forceinline__ void load(const Key *from)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = has(k) ? from[k * THREADS + threadIdx.x] : Key(0);
    }
};

/* Gives each key a place among those of its digit, in no order. DIGITS: a digit that none has. */
template <unsigned DIGITS, class DigitOf, class Key, unsigned THREADS, unsigned COUNT, bool FULL>
__device__ __forceinline__ void claim_places(unsigned *counts,
                                             const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                             DigitOf digit_of, packed_places<COUNT> &places)
{
    unsigned place[COUNT] = {};
    if (!are_alike(digit_of(0))) {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (keys.has(k))
                place[k] = atomicAdd(&counts[digit_of(k)], 1u);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            places.set(k, place[k]);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        /* What is not there has a digit that no other has. */
        const unsigned digit = keys.has(k) ? digit_of(k) : DIGITS;
        const unsigned peers = __match_any_sync(ALL_LANES, digit);
        const unsigned leader = __ffs((int)peers) - 1;
        unsigned before = 0;
        if (lane_index() == leader && digit < DIGITS)
            before = atomicAdd(&counts[digit], (unsigned)__popc(peers));
        before = __shfl_sync(ALL_LANES, before, (int)leader);
        places.set(k, before + __popc(peers & lanes_below()));
    }
}

/* A thread's digits of a tile: where they start in it, and where the block may write them. */
template <unsigned THREADS> struct claimed_runs {
    static constexpr unsigned OWN = MAX_DIGITS / THREADS > 0 ? MAX_DIGITS / THREADS : 1;
    unsigned first, count;
    unsigned start[OWN];
    unsigned long long cursor[OWN];

    /* Turns the counts into starts, and claims space for each run. */
    template <class Key>
    __device__ __forceinline__ void claim(shared_layout<Key> *shared, unsigned digits,
                                          unsigned long long *cursors)
    {
        unsigned *counts = shared->tile.partition.counts;
        const unsigned each = (digits + THREADS - 1) / THREADS;
        unsigned sum = 0;
        first = threadIdx.x * each;
        count = first < digits ? min(each, digits - first) : 0;
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count) {
                start[k] = counts[first + k];
                cursor[k] = atomicAdd(&cursors[first + k], (unsigned long long)start[k]);
                sum += start[k];
            }
        const unsigned warp = threadIdx.x / WARP;
        const bool has_digits = warp * WARP * each < digits;
        const unsigned inclusive = has_digits ? warp_inclusive_sum(sum) : 0;
        if (has_digits && lane_index() == WARP - 1)
            shared->warp_totals[warp] = inclusive;
        __syncthreads();
        unsigned next = has_digits ? sum_of_first(warp, shared->warp_totals) + inclusive - sum : 0;
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count) {
                const unsigned here = start[k];
                start[k] = counts[first + k] = next;
                next += here;
            }
    }
    /* Not sooner than needed: this waits for the claims. */
    template <class Key>
    __device__ __forceinline__ void tell(shared_layout<Key> *shared, Key *to) const
    {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count)
                shared->tile.partition.destination[first + k] =
                    reinterpret_cast<uint64_t>(to) + (cursor[k] - start[k]) * sizeof(Key);
    }
};

/* To global memory; the compiler would not know that of a pointer out of shared memory. */
template <class Key> __device__ __forceinline__ void store_global(uint64_t address, Key key)
{
#ifdef __CUDACC__
    if constexpr (sizeof(Key) == 8)
        asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(key));
    else
        asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(key));
#else
    *reinterpret_cast<Key *>(address) = key;
#endif
}

/* Has what a block touches next in the L2 by then. */
__device__ __forceinline__ void prefetch_lines(const void *from, unsigned bytes)
{
#ifdef __CUDACC__
    enum { LINE = 128 };
    if (threadIdx.x * LINE < bytes)
        asm volatile(
            "prefetch.global.L2 [%0];" ::"l"(static_cast<const char *>(from) + threadIdx.x * LINE));
#else
    (void)from, (void)bytes;
#endif
}

/* Writes the sorted tile, some keys at a time. */
template <class Order, class Digits, unsigned THREADS, unsigned COUNT, bool FULL, class Key>
__device__ __forceinline__ void write_runs(const shared_layout<Key> *shared,
                                           const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                           Key base, Digits digits)
{
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
    static_assert(COUNT % STEP == 0);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        Key moved[STEP];
        uint64_t to[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            moved[j] = keys.has(k + j) ? shared->tile.keys[(k + j) * THREADS + threadIdx.x] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            to[j] = shared->tile.partition.destination[digits.of(moved[j])];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j))
                store_global(to[j] + ((k + j) * THREADS + threadIdx.x) * (uint64_t)sizeof(Key),
                             Order().inverse(Key(moved[j] + base)));
    }
}

/* Partitions a tile whose keys are loaded. The counters are zero, and will be. If `next` is not
 * null it has the next tile's keys loaded, which is on its way while this one is written. */
template <class Order, class Digits, unsigned THREADS, unsigned COUNT, bool FULL, class Key>
__device__ __forceinline__ void partition_tile(shared_layout<Key> *shared, Digits digits,
                                               tile_keys<Key, THREADS, COUNT, FULL> &keys, Key *to,
                                               unsigned long long *cursors, const Key *next)
{
    partition_layout *partition = &shared->tile.partition;
    const unsigned digit_count = 1u << shared->current.bits;
    const auto base = (Key)shared->current.base;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        keys.rank[k] = Order()(keys.rank[k]) - base;
    packed_places<COUNT> places;
    claim_places<MAX_DIGITS>(
        partition->counts, keys, [&](unsigned k) { return digits.of(keys.rank[k]); }, places);
    __syncthreads();
    claimed_runs<THREADS> runs;
    runs.claim(shared, digit_count, cursors);
    __syncthreads();
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        unsigned start[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            start[j] = keys.has(k + j) ? partition->counts[digits.of(keys.rank[k + j])] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j))
                shared->tile.keys[start[j] + places.get(k + j)] = keys.rank[k + j];
    }
    runs.tell(shared, to);
    if (next != nullptr)
        keys.load(next);
    __syncthreads();
    for (unsigned d = threadIdx.x; d < digit_count; d += THREADS)
        partition->counts[d] = 0;
    write_runs<Order>(shared, keys, base, digits);
    __syncthreads();
}

/* Of the bucket that the block works on: tiles [tile..stop), every `stride`th. */
template <class Order, unsigned THREADS, unsigned COUNT, class Digits, class Key>
__device__ __forceinline__ void
partition_tiles(shared_layout<Key> *shared, Digits digits, const arrays<Key> &arrays, unsigned tile,
                unsigned stop, unsigned stride, unsigned tile_size, unsigned long long *counts)
{
    const bucket &bucket = shared->current;
    const uint64_t begin = (uint64_t)(tile - bucket.first_tile) * tile_size;
    const uint64_t end = min((uint64_t)(stop - bucket.first_tile) * tile_size, bucket.count);
    const uint64_t step = (uint64_t)stride * tile_size;
    const Key *from = arrays.at(bucket.place) + bucket.first;
    Key *to = bucket.place == IN_OTHER ? arrays.out : arrays.other;
    uint64_t i = begin;
    for (unsigned d = threadIdx.x; d < 1u << bucket.bits; d += THREADS)
        shared->tile.partition.counts[d] = 0;
    __syncthreads();
    constexpr unsigned TILE = COUNT * THREADS;
    if (tile_size == TILE && i + TILE <= end) {
        tile_keys<Key, THREADS, COUNT, true> keys;
        keys.load(from + i);
        for (; i + TILE <= end; i += step)
            partition_tile<Order>(shared, digits, keys, to, counts,
                                  i + step + TILE <= end ? from + i + step : nullptr);
    }
    for (; i < end; i += step) {
        tile_keys<Key, THREADS, COUNT, false> keys;
        keys.count = (unsigned)min(end - i, (uint64_t)tile_size);
        keys.load(from + i);
        const Key *none = nullptr;
        partition_tile<Order>(shared, digits, keys, to, counts, none);
    }
}

/* The first level's table, as it was planned. Returns whether there is one. */
template <class Key>
__device__ __forceinline__ bool fetch_table(shared_layout<Key> *shared, const digit_table *from)
{
    const bool is_used = __ldcg(&from->is_used);
    if (is_used && threadIdx.x < ENTRIES)
        shared->table.entry[threadIdx.x] = __ldcg(&from->entry[threadIdx.x]);
    return is_used;
}

/* Step 2 of a level: like step 1, a block takes tiles that follow each other; where there is one
 * bucket, all blocks go through it side by side. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void partition_level(const arrays<Key> &arrays, const shape &shape,
                                                unsigned level, const control *control,
                                                const level_lists &lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const uint64_t tiles = __ldcg(&control->of_level[level].tiles);
    const bool is_one = level == 0, by_turns = is_one || shape.bits >= BY_TURNS;
    const bool has_table = GUESSES<Order> && is_one && fetch_table(shared, &control->table);
    auto tile = by_turns ? blockIdx.x : (unsigned)(tiles * blockIdx.x / gridDim.x);
    const auto end = (unsigned)(by_turns ? tiles : tiles * (blockIdx.x + 1) / gridDim.x);
    while (tile < end) {
        const unsigned index = is_one ? 0 : __ldcg(&lists.bucket_of_tile[tile]);
        fetch_bucket(&shared->current, &lists.buckets[index]);
        const bucket &bucket = shared->current;
        const unsigned stop = is_one     ? end
                              : by_turns ? tile + 1
                                         : min(end, bucket.first_tile + bucket.tiles);
        unsigned long long *counts = lists.counts + bucket.counts;
        if (bucket.action == PARTITION && has_table)
            partition_tiles<Order, THREADS, COUNT>(
                shared, table_digits{shared->table.entry, bucket.shift}, arrays, tile, stop,
                gridDim.x, shape.tile, counts);
        else if (bucket.action == PARTITION)
            partition_tiles<Order, THREADS, COUNT>(shared, even_digits{bucket.shift}, arrays, tile,
                                                   stop, is_one ? gridDim.x : 1, shape.tile,
                                                   counts);
        tile = by_turns && !is_one ? tile + gridDim.x : stop;
        __syncthreads();
    }
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
