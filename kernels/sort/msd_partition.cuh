/* msd_partition.cuh: step 2 of a level of sort_msd: tiles of keys are partitioned by their digit.
 */
#pragma once

#include "msd_sample.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Loads what the block touches next into the L2. */
__device__ __forceinline__ void prefetch_lines(const void *from, unsigned bytes)
{
    enum { LINE = 128 };
    if (threadIdx.x * LINE < bytes)
        prefetch_to_l2(static_cast<const char *>(from) + threadIdx.x * LINE);
}

/* The division of a bucket's keys by their next digit. They are mapped to ranks, counted from the
 * bucket's base. */
template <class Order, class Digits, class Key = typename Order::key> struct by_digit {
    Digits digits;
    Key base;
    unsigned buckets;

    template <class Keys> __device__ __forceinline__ void find(Keys &keys) const
    {
        for (Key &rank : keys.rank)
            rank = Order()(rank) - base;
    }
    template <class Keys> __device__ __forceinline__ unsigned of(const Keys &keys, unsigned k) const
    {
        return digits.of(keys.rank[k]);
    }
    __device__ __forceinline__ void move(unsigned, unsigned) const
    {
    }
    __device__ __forceinline__ unsigned at(unsigned, Key relative) const
    {
        return digits.of(relative);
    }
    __device__ __forceinline__ Key key_of(Key relative) const
    {
        return Order().inverse(Key(relative + base));
    }
};

/* The destination of parts whose sizes are counted: a cursor says where the next run of a digit
 * goes. */
template <class Key> struct counted_parts {
    enum { IS_BOUNDED = false };
    Key *out;
    unsigned long long *cursors;

    __device__ __forceinline__ unsigned long long claim(unsigned digit, unsigned count) const
    {
        return atomicAdd(&cursors[digit], (unsigned long long)count);
    }
    __device__ __forceinline__ unsigned place(unsigned, unsigned long long claimed, unsigned) const
    {
        return (unsigned)claimed;
    }
};

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
        shared->tile.template clear_counts<THREADS>(MAX_DIGITS);
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
        const bucket &bucket = shared->current;
        const by_digit<Order, Digits> division = {digits, (Key)bucket.base, 1u << bucket.bits};
        const counted_parts<Key> parts = {bucket.place == IN_OTHER ? where.out : where.other,
                                          cursors};
        if (tile.count == TILE)
            return partition_tile(&shared->tile, division, parts, keys, [&] { load(next()); });
        tile_keys<Key, THREADS, COUNT, false> some;
        some.count = tile.count;
        some.load(tile.from);
        partition_tile(&shared->tile, division, parts, some, [] {});
        load(next());
    }
};

/* Does step 2 of the first level: all blocks go through its one bucket side by side. */
template <class Order, unsigned THREADS, unsigned COUNT, class Digits, class Key>
__device__ __forceinline__ void
partition_bucket(partitioner<Order, THREADS, COUNT, Key> &partitioner, Digits digits,
                 unsigned tile_size, unsigned tiles, unsigned long long *cursors)
{
    const bucket &bucket = partitioner.shared->current;
    const auto place_of = [&](unsigned tile) {
        return place_of_tile(partitioner.where, bucket, tile, tile_size);
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

/* Loads the members of a bucket that say where its tiles are, and whether they are partitioned. */
__device__ __forceinline__ bucket load_place(const bucket *from)
{
    bucket bucket;
    bucket.first = __ldcg(&from->first), bucket.count = __ldcg(&from->count);
    bucket.place = __ldcg(&from->place), bucket.first_tile = __ldcg(&from->first_tile);
    bucket.action = __ldcg(&from->action);
    return bucket;
}

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
partition_buckets(partitioner<Order, THREADS, COUNT, Key> &partitioner, const task<Key> &task,
                  unsigned level)
{
    const auto &shape = task.shape;
    const level_lists &lists = task.lists_of(level);
    auto *shared = partitioner.shared;
    binned_digits<Order> binned_digits = {sampled_bins<bins_of<Order>>(task), 0, 0};
    const tile_range own = own_tiles(__ldcg(&task.lengths_of(level)->tiles), shape.bits);
    const auto bucket_of = [&](unsigned tile) {
        return tile < own.end ? __ldcg(&lists.bucket_of_tile[tile]) : 0;
    };
    unsigned index = bucket_of(own.first), next_index = bucket_of(own.first + own.stride);
    bucket_fetch fetch;
    bucket next = {}; /* of the next tile */
    unsigned next_tile = own.first;
    const auto fetch_next = [&] {
        if (next_tile < own.end) {
            fetch.load(&lists.buckets[index]);
            next = load_place(&lists.buckets[index]);
        }
    };
    const auto place_of_next = [&]() -> const Key * {
        if (next_tile >= own.end)
            return nullptr;
        const auto place = place_of_tile(partitioner.where, next, next_tile, shape.tile);
        return next.action == PARTITION && place.count == partitioner.TILE ? place.from : nullptr;
    };
    fetch_next();
    partitioner.start(place_of_next());
    for (unsigned tile = own.first; tile < own.end; tile += own.stride) {
        fetch.store(&shared->current);
        __syncthreads();
        const bucket &bucket = shared->current;
        index = next_index;
        next_tile = tile + own.stride;
        next_index = bucket_of(next_tile + own.stride);
        fetch_next();
        const auto partition = [&](auto digits) {
            partitioner.partition(digits,
                                  place_of_tile(partitioner.where, bucket, tile, shape.tile),
                                  place_of_next, lists.counts + bucket.counts);
        };
        if (bucket.action != PARTITION) {
            partitioner.load(place_of_next());
        } else if (bucket.kind != BITS_OF_RANK) {
            binned_digits.shift = bucket.bin_bits, binned_digits.first = bucket.fine;
            partition(binned_digits);
        } else {
            partition(rank_bins<Key>{bucket.shift});
        }
        __syncthreads();
    }
}

/* Does step 2 of a level. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void partition_level(const task<Key> &task, unsigned level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    partitioner<Order, THREADS, COUNT, Key> partitioner = {shared, task.arrays};
    if (level > 0)
        return partition_buckets(partitioner, task, level);
    const level_lists &lists = task.lists[0];
    const unsigned tiles = __ldcg(&task.lengths_of(0)->tiles);
    fetch_bucket(&shared->current, &lists.buckets[0]);
    const bucket &bucket = shared->current;
    const auto partition = [&](auto digits) {
        partition_bucket(partitioner, digits, task.shape.tile, tiles, lists.counts + bucket.counts);
    };
    if (bucket.action != PARTITION)
        __syncthreads(); /* before another bucket is fetched */
    else if (bucket.kind != BITS_OF_RANK)
        partition(binned_digits<Order>{sampled_bins<bins_of<Order>>(task), bucket.bin_bits, 0});
    else
        partition(rank_bins<Key>{bucket.shift});
}

} // namespace SCANBENCH_BACKEND::msd
