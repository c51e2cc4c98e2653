/* msd_partition.cuh: step 2 of a level of sort_msd: tiles of keys are partitioned by their digit.
 */
#ifndef SCANBENCH_KERNELS_SORT_MSD_PARTITION_CUH
#define SCANBENCH_KERNELS_SORT_MSD_PARTITION_CUH

#include "msd_sample.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* A tile's keys in registers: rank[k] of a thread is number k * THREADS + threadIdx.x of `count`. A
 * FULL tile has all of them. */
template <class Key, unsigned THREADS, unsigned COUNT, bool FULL> struct tile_keys {
    Key rank[COUNT];
    unsigned count;

    __device__ __forceinline__ bool has(unsigned k) const
    {
        return FULL || k * THREADS + threadIdx.x < count;
    }
    /* Loads keys, not yet as ranks, so that nothing waits for them here. */
    __device__ __forceinline__ void load(const Key *from)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = has(k) ? from[k * THREADS + threadIdx.x] : Key(0);
    }
};

/* Gives each key a place among those of its digit, in no order. DIGITS: a number that is no key's
 * digit. */
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
        /* Keys past the end have a digit that no other has. */
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

/* The digits of a tile that a thread looks after: where their runs start in the tile, and where the
 * block may write them. */
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
    /* Stores the destinations. It is called as late as possible, as it waits for the claims. */
    template <class Key> __device__ __forceinline__ void tell(shared_layout<Key> *shared) const
    {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count)
                shared->tile.partition.destination[first + k] = (unsigned)cursor[k] - start[k];
    }
};

/* Loads what the block touches next into the L2. */
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

/* Writes the sorted tile, a few keys per thread at a time. */
template <class Order, class Digits, unsigned THREADS, unsigned COUNT, bool FULL, class Key>
__device__ __forceinline__ void write_runs(const shared_layout<Key> *shared,
                                           const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                           Key base, Digits digits, Key *out)
{
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
    static_assert(COUNT % STEP == 0);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        Key moved[STEP];
        unsigned to[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            moved[j] = keys.has(k + j) ? shared->tile.keys[(k + j) * THREADS + threadIdx.x] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            to[j] = keys.has(k + j) ? shared->tile.partition.destination[digits.of(moved[j])] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j))
                out[to[j] + ((k + j) * THREADS + threadIdx.x)] =
                    Order().inverse(Key(moved[j] + base));
    }
}

/* Partitions a tile whose keys are loaded. The counters are zero before it and after it.
 * load_next() may load the next tile's keys, which are on their way while this tile is written. */
template <class Order, class Digits, unsigned THREADS, unsigned COUNT, bool FULL, class Key,
          class LoadNext>
__device__ __forceinline__ void partition_tile(shared_layout<Key> *shared, Digits digits,
                                               tile_keys<Key, THREADS, COUNT, FULL> &keys, Key *to,
                                               unsigned long long *cursors, LoadNext load_next)
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
    runs.tell(shared);
    load_next();
    __syncthreads();
    for (unsigned d = threadIdx.x; d < digit_count; d += THREADS)
        partition->counts[d] = 0;
    write_runs<Order>(shared, keys, base, digits, to);
    __syncthreads();
}

/* Where a tile's keys are, and how many. */
template <class Key> struct tile_place {
    const Key *from;
    unsigned count;
};

template <class Key>
__device__ __forceinline__ tile_place<Key>
place_of_tile(const arrays<Key> &arrays, const bucket &bucket, unsigned tile, unsigned tile_size)
{
    const uint64_t begin = (uint64_t)(tile - bucket.first_tile) * tile_size;
    return {arrays.at(bucket.place) + bucket.first + begin,
            (unsigned)min(bucket.count - begin, (uint64_t)tile_size)};
}

/* Partitions tiles one after the other. The keys of a full tile are loaded while the tile before it
 * is written: next() returns where they are, or null. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key> struct partitioner {
    static constexpr unsigned TILE = COUNT * THREADS;
    shared_layout<Key> *shared;
    arrays<Key> where;
    tile_keys<Key, THREADS, COUNT, true> keys;

    __device__ __forceinline__ void start(const Key *first)
    {
        for (unsigned d = threadIdx.x; d < MAX_DIGITS; d += THREADS)
            shared->tile.partition.counts[d] = 0;
        load(first);
        __syncthreads();
    }
    __device__ __forceinline__ void load(const Key *from)
    {
        if (from != nullptr)
            keys.load(from);
    }
    /* Partitions a tile of the bucket that the block works on. */
    template <class Digits, class Next>
    __device__ __forceinline__ void partition(Digits digits, tile_place<Key> tile, Next next,
                                              unsigned long long *cursors)
    {
        Key *to = shared->current.place == IN_OTHER ? where.out : where.other;
        if (tile.count == TILE)
            return partition_tile<Order>(shared, digits, keys, to, cursors, [&] { load(next()); });
        tile_keys<Key, THREADS, COUNT, false> some;
        some.count = tile.count;
        some.load(tile.from);
        partition_tile<Order>(shared, digits, some, to, cursors, [] {});
        load(next());
    }
};

/* Does step 2 of the first level: all blocks go through its one bucket side by side. */
template <class Order, unsigned THREADS, unsigned COUNT, class Digits, class Key>
__device__ __forceinline__ void
partition_bucket(partitioner<Order, THREADS, COUNT, Key> &partitioner, Digits digits,
                 const shape &shape, unsigned tiles, unsigned long long *cursors)
{
    const bucket &bucket = partitioner.shared->current;
    const auto place_of = [&](unsigned tile) {
        return place_of_tile(partitioner.where, bucket, tile, shape.tile);
    };
    const auto full_tile = [&](unsigned tile) {
        const tile_place<Key> place = tile < tiles ? place_of(tile) : tile_place<Key>{};
        return place.count == partitioner.TILE ? place.from : nullptr;
    };
    partitioner.start(full_tile(blockIdx.x));
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        partitioner.partition(
            digits, place_of(tile), [&] { return full_tile(tile + gridDim.x); }, cursors);
}

/* A tile of a later level, and the members of its bucket that say where the tile is. */
template <class Key> struct bucket_tile {
    unsigned tile;
    uint64_t first, count;
    unsigned place, first_tile, action;

    __device__ __forceinline__ void load(const bucket *from)
    {
        first = __ldcg(&from->first), count = __ldcg(&from->count);
        place = __ldcg(&from->place), first_tile = __ldcg(&from->first_tile);
        action = __ldcg(&from->action);
    }
    /* Where the tile begins, or null if it is not to be partitioned or not full. */
    __device__ __forceinline__ const Key *full(const arrays<Key> &arrays, unsigned tile_size,
                                               unsigned full_size) const
    {
        bucket bucket;
        bucket.first = first, bucket.count = count;
        bucket.place = place, bucket.first_tile = first_tile;
        const tile_place<Key> at = place_of_tile(arrays, bucket, tile, tile_size);
        return action == PARTITION && at.count == full_size ? at.from : nullptr;
    }
};

/* The tiles that a block partitions: every `stride`th. */
struct tile_range {
    unsigned first, end, stride;
};

/* The tiles of a block in later levels. Where digits have many bits, blocks take tiles in turns, so
 * that few buckets are written at a time. Otherwise a block takes neighbours. */
__device__ __forceinline__ tile_range own_tiles(unsigned tiles, unsigned bits)
{
    if (bits >= BY_TURNS)
        return {blockIdx.x, tiles, gridDim.x};
    return {(unsigned)((uint64_t)tiles * blockIdx.x / gridDim.x),
            (unsigned)((uint64_t)tiles * (blockIdx.x + 1) / gridDim.x), 1};
}

/* Does step 2 of a later level. While a tile is partitioned, the bucket of the next tile is
 * fetched, and the number of the bucket of the tile after that. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void
partition_buckets(partitioner<Order, THREADS, COUNT, Key> &partitioner, const shape &shape,
                  unsigned tiles, const control *control, const level_lists &lists)
{
    auto *shared = partitioner.shared;
    [[maybe_unused]] value_digits<Key> value_digits = {};
    if constexpr (IS_FLOAT<Order>)
        value_digits.bins = value_bins_of<Key>(control, shape);
    const tile_range own = own_tiles(tiles, shape.bits);
    const auto bucket_of = [&](unsigned tile) {
        return tile < own.end ? __ldcg(&lists.bucket_of_tile[tile]) : 0;
    };
    unsigned index = bucket_of(own.first), next_index = bucket_of(own.first + own.stride);
    bucket_fetch fetch;
    bucket_tile<Key> next = {own.first};
    const auto fetch_next = [&] {
        if (next.tile < own.end) {
            fetch.load(&lists.buckets[index]);
            next.load(&lists.buckets[index]);
        }
    };
    const auto place_of_next = [&]() -> const Key * {
        return next.tile < own.end ? next.full(partitioner.where, shape.tile, partitioner.TILE)
                                   : nullptr;
    };
    fetch_next();
    partitioner.start(place_of_next());
    for (unsigned tile = own.first; tile < own.end; tile += own.stride) {
        fetch.store(&shared->current);
        __syncthreads();
        const bucket &bucket = shared->current;
        index = next_index;
        next.tile = tile + own.stride;
        next_index = bucket_of(next.tile + own.stride);
        fetch_next();
        const auto partition = [&](auto digits) {
            partitioner.partition(digits,
                                  place_of_tile(partitioner.where, bucket, tile, shape.tile),
                                  place_of_next, lists.counts + bucket.counts);
        };
        if (bucket.action != PARTITION) {
            partitioner.load(place_of_next());
        } else if (IS_FLOAT<Order> && bucket.by_value) {
            value_digits.first = bucket.fine;
            partition(value_digits);
        } else {
            partition(even_digits{bucket.shift});
        }
        __syncthreads();
    }
}

/* Does step 2 of a level. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void partition_level(const arrays<Key> &arrays, const shape &shape,
                                                unsigned level, const control *control,
                                                const level_lists &lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const unsigned tiles = __ldcg(&control->of_level[level].tiles);
    partitioner<Order, THREADS, COUNT, Key> partitioner = {shared, arrays};
    if (level > 0)
        return partition_buckets(partitioner, shape, tiles, control, lists);
    fetch_bucket(&shared->current, &lists.buckets[0]);
    const bucket &bucket = shared->current;
    const auto partition = [&](auto digits) {
        partition_bucket(partitioner, digits, shape, tiles, lists.counts + bucket.counts);
    };
    if (bucket.action != PARTITION)
        __syncthreads(); /* before another bucket is fetched */
    else if (IS_FLOAT<Order> && bucket.by_value)
        partition(value_digits<Key>{value_bins_of<Key>(control, shape), shape.next_bits, 0});
    else
        partition(even_digits{bucket.shift});
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
