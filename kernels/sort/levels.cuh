/* levels.cuh: the steps of a level after its plan, and all levels in one launch: tiles of buckets
 * are partitioned, few values are written from their counts, and leaves are sorted. */
#pragma once

#include "partition.cuh"
#include "plan.cuh"

namespace SCANBENCH_BACKEND::bucket_sort
{

/* ---- Step 2: partition ---- */

/* The place of a tile's keys. */
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

/* The places of a bucket that was counted: each of its digits has as many as it needs. */
struct exact_places {
    using cursor = unsigned long long;
    cursor *cursors;

    __device__ __forceinline__ cursor claim(unsigned digit, unsigned count) const
    {
        return atomicAdd(&cursors[digit], (cursor)count);
    }
    __device__ __forceinline__ unsigned destination(unsigned, cursor claimed, unsigned start) const
    {
        return (unsigned)claimed - start;
    }
    static __device__ __forceinline__ bool has(unsigned)
    {
        return true;
    }
};

/* Partitions tiles one after the other. Keys of a full tile are loaded while the one before is
 * written: next() returns where they are, or null. */
template <class Order, unsigned THREADS, unsigned COUNT> struct partitioner {
    using Key = typename Order::key;
    static constexpr unsigned TILE = COUNT * THREADS;
    shared_layout<Key> *shared;
    arrays<Key> where;
    held<Key, THREADS, COUNT, true> keys;

    __device__ __forceinline__ void start(const Key *first)
    {
        for (unsigned d = threadIdx.x; d < MAX_DIGITS; d += THREADS)
            shared->tile.counts[d] = 0;
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
        Key *to = bucket.place == IN_OTHER ? where.out : where.other;
        const auto partition_keys = [&](auto &keys, auto load_next) {
            const digit_division<Order, Digits> division = {digits, (Key)bucket.base,
                                                            1u << bucket.bits, shared->tile.keys};
            partition_tile(&shared->tile, shared->warp_totals, keys, division,
                           exact_places{cursors}, to, load_next);
        };
        if (tile.count == TILE)
            return partition_keys(keys, [&] { load(next()); });
        held<Key, THREADS, COUNT, false> some;
        some.count = tile.count;
        some.load(tile.from);
        partition_keys(some, [] {});
        load(next());
    }
};

/* All blocks go through the one bucket of the first level side by side. */
template <class Partitioner, class Digits>
__device__ __forceinline__ void partition_bucket(Partitioner &partitioner, Digits digits,
                                                 const shape &shape, unsigned tiles,
                                                 unsigned long long *cursors)
{
    using Key = typename Partitioner::Key;
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

/* A tile of a later level, with what of its bucket tells where it is. */
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
    /* Returns where it begins, or null if it is not a full one to be partitioned. */
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

/* The tiles of later levels. Where digits have many bits, a block takes every gridDim.x-th tile, so
 * that few buckets are written at a time; else it takes neighbours. */
__device__ __forceinline__ tile_range own_tiles(unsigned tiles, unsigned bits)
{
    enum { MANY_BITS = 8 };
    if (bits >= MANY_BITS)
        return {blockIdx.x, tiles, gridDim.x};
    return {(unsigned)((uint64_t)tiles * blockIdx.x / gridDim.x),
            (unsigned)((uint64_t)tiles * (blockIdx.x + 1) / gridDim.x), 1};
}

/* Partitions the buckets of a later level. While a tile is partitioned, the bucket of the next one
 * is fetched, and the number of the bucket of the one after it. */
template <class Order, class Partitioner>
__device__ __forceinline__ void partition_buckets(Partitioner &partitioner, const shape &shape,
                                                  unsigned tiles, const control *control,
                                                  const level_lists &lists)
{
    using Key = typename Partitioner::Key;
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

/* Step 2 of a level. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void partition_level(const arrays<Key> &arrays, const shape &shape,
                                                unsigned level, const control *control,
                                                const level_lists &lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const unsigned tiles = __ldcg(&control->of_level[level].tiles);
    partitioner<Order, THREADS, COUNT> partitioner = {shared, arrays};
    if (level > 0)
        return partition_buckets<Order>(partitioner, shape, tiles, control, lists);
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

/* ---- Step 2 where values are few: pieces of a bucket are written from its counts ---- */

/* Writes to[begin..end), by all threads, whole packs where it can. */
template <class Key>
__device__ __forceinline__ void fill(Key *to, uint64_t begin, uint64_t end, Key key)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>;
    pack<Key, WIDTH> equal;
    const unsigned skew = (unsigned)(reinterpret_cast<uint64_t>(to) / sizeof(Key) % WIDTH);
    to -= skew, begin += skew, end += skew;
    const uint64_t first_pack = min((begin + WIDTH - 1) / WIDTH, end / WIDTH);
    const uint64_t last_pack = end / WIDTH;
#pragma unroll
    for (unsigned i = 0; i < WIDTH; i++)
        equal.at[i] = key;
    for (uint64_t p = first_pack + threadIdx.x; p < last_pack; p += blockDim.x)
        reinterpret_cast<pack<Key, WIDTH> *>(to)[p] = equal;
    /* The rest is less than a pack before them, and less than a pack after them. */
    const uint64_t head = begin + threadIdx.x, tail = max(begin, last_pack * WIDTH) + threadIdx.x;
    if (head < min(first_pack * WIDTH, end))
        to[head] = key;
    if (tail < end)
        to[tail] = key;
}

/* Writes a piece of a bucket from its counts, which are starts now: digit after digit. */
template <class Order, class Key>
__device__ void write_piece(shared_layout<Key> *shared, const arrays<Key> &arrays, uint64_t piece,
                            unsigned size, const unsigned long long *counts)
{
    const bucket &bucket = shared->current;
    const uint64_t begin = piece * size, end = min(begin + size, bucket.count);
    Key *out = arrays.out + bucket.first;
    const bool is_constant = bucket.lowest == bucket.highest;
    const unsigned digits = is_constant ? 1 : 1u << bucket.bits;
    unsigned long long *starts = shared->plan.starts;
    for (unsigned d = threadIdx.x; d < digits; d += blockDim.x)
        starts[d] = is_constant ? 0 : __ldcg(&counts[d]);
    if (threadIdx.x == 0)
        starts[digits] = bucket.count;
    __syncthreads();
    unsigned digit = 0; /* the last that starts at `begin` or before */
    for (unsigned step = digits / 2; step > 0; step /= 2)
        if (starts[digit + step] <= begin)
            digit += step;
    const auto base = (Key)(is_constant ? bucket.lowest : bucket.base);
    for (uint64_t from = begin; from < end; digit++) {
        const uint64_t to = min((uint64_t)starts[digit + 1], end);
        if (from < to)
            fill(out, from, to, Order().inverse(Key(base + (Key)digit)));
        from = max(from, to);
    }
    __syncthreads();
}

template <class Order, class Key>
__device__ __noinline__ void write_pieces(const arrays<Key> &arrays, unsigned size,
                                          const lengths *own, const level_lists &lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const unsigned pieces = __ldcg(&own->pieces);
    for (unsigned p = blockIdx.x; p < pieces; p += gridDim.x) {
        const uint64_t number = __ldcg(reinterpret_cast<const uint64_t *>(&lists.pieces[p].first));
        fetch_bucket(&shared->current, &lists.buckets[__ldcg(&lists.pieces[p].count)]);
        write_piece<Order>(shared, arrays, number, size, lists.counts + shared->current.counts);
    }
}

/* ---- Leaves ---- */

__device__ __forceinline__ job fetch_job(const job *from)
{
    const auto *words = reinterpret_cast<const unsigned long long *>(from);
    const unsigned long long first = __ldcg(words), rest = __ldcg(words + 1);
    static_assert(sizeof(job) == 16 && offsetof(job, place) == 12 && offsetof(job, bits) == 14);
    return {first, (unsigned)rest, (uint16_t)(rest >> 32), (uint16_t)(rest >> 48)};
}

template <class Order, class Layout, class Key>
__device__ __forceinline__ leaf_sort::agent<Order, Layout> leaf_agent(const arrays<Key> &arrays,
                                                                      const job &leaf)
{
    return {shared_memory<Layout>(), arrays.at(leaf.place) + leaf.first, leaf.count,
            arrays.out + leaf.first};
}

template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void sort_leaves(const arrays<Key> &arrays, const lengths *own,
                                            const level_lists &lists)
{
    using layout = leaf_sort::shared_layout<Key, THREADS, COUNT>;
    const unsigned leaves = __ldcg(&own->leaves);
    job next = {};
    if (blockIdx.x < leaves)
        next = fetch_job(&lists.leaves[blockIdx.x]);
    for (unsigned l = blockIdx.x; l < leaves; l += gridDim.x) {
        const job leaf = next;
        if (l + gridDim.x < leaves) {
            next = fetch_job(&lists.leaves[l + gridDim.x]);
            prefetch_array(arrays.at(next.place) + next.first, next.count);
        }
        leaf_agent<Order, layout>(arrays, leaf).sort(leaf.bits);
    }
}

/* Returns leaf l of the lists of two levels, one after the other, or null. If one of them is empty,
 * all that this reads is on its way together. It may read past a list, where scratch goes on. */
__device__ __forceinline__ job *find_leaf(const lengths *own, const list_sets &sets, unsigned l,
                                          job *leaf)
{
    const unsigned even = __ldcg(&own[0].leaves), odd = __ldcg(&own[1].leaves);
    job *in_even = &sets.set[0].leaves[l], *in_odd = &sets.set[1].leaves[l];
    const job of_even = fetch_job(in_even);
    *leaf = fetch_job(in_odd);
    if (l < even) {
        *leaf = of_even;
        return in_even;
    }
    if (l - even >= odd)
        return nullptr;
    if (even > 0)
        *leaf = fetch_job(in_odd - even);
    return in_odd - even;
}

/* The shared memory in which leaves of large arrays are sorted. */
template <class Key>
using leaves_layout = leaf_sort::shared_layout<Key, policy::leaves.threads, LEAVES_KEYS<Key>>;

/* Sorts the leaves of a block that were deferred. */
template <class Order, class Key>
__device__ __noinline__ void sort_deferred(const arrays<Key> &arrays, const lengths *own,
                                           const list_sets &sets)
{
    job leaf;
#pragma unroll 1
    for (unsigned l = blockIdx.x; find_leaf(own, sets, l, &leaf) != nullptr; l += gridDim.x) {
        if (leaf.bits == SKEWED)
            leaf_agent<Order, leaves_layout<Key>>(arrays, leaf)
                .sort_skewed(arrays.at(leaf.place) + leaf.first);
        __syncthreads();
    }
}

/* ---- All steps in one launch ---- */

/* The phases of the launch, each with registers of its own. */
template <class Order, unsigned COUNT, class Key>
__device__ __noinline__ void partition_phase(const arrays<Key> &arrays, const shape &shape,
                                             unsigned level, const control *control,
                                             const level_lists &lists)
{
    partition_level<Order, THREADS, COUNT>(arrays, shape, level, control, lists);
}

template <class Order, unsigned COUNT, class Key>
__device__ __noinline__ void leaves_phase(const arrays<Key> &arrays, const lengths *own,
                                          const level_lists &lists)
{
    sort_leaves<Order, THREADS, COUNT>(arrays, own, lists);
}

/* Does levels from the first on, until there are no more. COUNT, LEAF_COUNT: keys per thread of a
 * tile and of a leaf. All blocks of the grid are resident. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
__device__ __forceinline__ void sort_levels(const arrays<Key> &arrays, control *control,
                                            const list_sets &sets, const shape &shape,
                                            unsigned first_level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    for (unsigned level = first_level; level + 1 < MAX_LEVELS; level++) {
        lengths *own = &control->of_level[level];
        if (__ldcg(&own->buckets) == 0)
            break;
        const level_lists &lists = sets.set[level % 2], &others = sets.set[1 - level % 2];
        count_level<Order>(arrays, shape, level, control, lists, others);
        grid_barrier(&control->arrived);
        const bool partitions = __ldcg(&own->partitions) > 0;
        if (partitions)
            partition_phase<Order, COUNT>(arrays, shape, level, control, lists);
        if (level > first_level)
            leaves_phase<Order, LEAF_COUNT>(arrays, own - 1, others);
        write_pieces<Order>(arrays, shape.piece, own, lists);
        const bool is_last = __ldcg(&own[1].buckets) == 0;
        /* The next level uses the lists that pieces are read from. */
        if (partitions || !is_last)
            grid_barrier(&control->arrived);
        if (is_last)
            leaves_phase<Order, LEAF_COUNT>(arrays, own, lists);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        shared->last = atomicAdd(&control->blocks_done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (shared->last)
        reset<Key>(control, sets.set[0], shape);
}

} // namespace SCANBENCH_BACKEND::bucket_sort
