/* msd_count_level.cuh: step 1 of a level of sort_msd, by all blocks: the keys of its buckets are
 * counted, or the level before has counted them, and each bucket is planned. */
#pragma once

#include "msd_plan.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Does step 1 where the level before has counted the keys: takes its counts, a bucket at a time.
 * The extremes of a bucket are not known then, and are those of its range, or of all ranks if it
 * has bins. An earlier launch listed the buckets, because digits of two levels are counted only
 * where each step is a launch: loads may be plain, as those of the bucket are. */
template <class Key>
__device__ __forceinline__ void take_fine_counts(const task<Key> &task, unsigned level)
{
    const level_lists &lists = task.lists_of(level);
    const unsigned buckets = __ldcg(&task.lengths_of(level)->buckets);
    for (unsigned index = blockIdx.x; index < buckets; index += gridDim.x) {
        bucket *bucket = &lists.buckets[index];
        const unsigned fine = __ldcg(&bucket->fine), bits = __ldcg(&bucket->bits);
        unsigned long long *counts = lists.counts + __ldcg(&bucket->counts);
        for (unsigned d = threadIdx.x; d < 1u << bits; d += blockDim.x)
            counts[d] = __ldcg(&task.control->fine[fine + d]);
        if (threadIdx.x == 0) {
            bucket->lowest = bucket->base;
            bucket->highest = Key(bucket->base + highest_of<Key>(bucket->shift + bucket->bits));
        }
        __syncthreads();
        plan_bucket(index, task, level);
    }
}

/* Clears the counts of two levels' digits. All blocks of the launch after take_fine_counts() call
 * it. */
__device__ __forceinline__ void clear_fine_counts(control *control, unsigned digits)
{
    for (uint64_t d = global_thread(); d < digits; d += (uint64_t)gridDim.x * blockDim.x)
        control->fine[d] = 0;
    if (global_thread() == 0)
        control->has_fine = false;
}

/* Counts from[begin..end), of the bucket that the block works on, by its digit and fine_bits bits
 * more, and adds the counts to those of all. */
template <class Order, class Key>
__device__ __forceinline__ void count_by_digit(const task<Key> &task, unsigned level,
                                               bucket *bucket, const Key *from, uint64_t begin,
                                               uint64_t end)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const auto &current = shared->current;
    const unsigned fine_bits = current.fine_bits;
    const unsigned digits = 1u << (current.bits + fine_bits), shift = current.shift - fine_bits;
    const auto base = (Key)current.base;
    for (unsigned d = threadIdx.x; d < digits; d += blockDim.x)
        shared->counts[d] = 0;
    __syncthreads();
    const auto count = [&](auto by) { count_keys<Order>(by, bucket, from, begin, end); };
    if (current.kind != BITS_OF_RANK)
        count(binned_digits<Order>{sampled_bins<bins_of<Order>>(task), current.bin_bits - fine_bits,
                                   current.fine});
    else if (level == 0 || IS_FLOAT<Order>)
        count(clamped_digits<Key>{base, shift, digits - 1});
    else
        count(rank_digits<Key>{base, shift});
    if (fine_bits > 0)
        add_counts(shared->counts, digits, task.control->fine);
    else
        add_counts(shared->counts, digits, task.lists_of(level).counts + current.counts);
}

/* Counts `tiles` tiles of a bucket, from number first_tile on, and plans the bucket if its other
 * tiles are counted. */
template <class Order, class Key>
__device__ __forceinline__ void count_tiles(const task<Key> &task, unsigned level, unsigned index,
                                            unsigned tile, unsigned end)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const auto &shape = task.shape;
    bucket *its = &task.lists_of(level).buckets[index];
    const bucket &bucket = shared->current;
    const unsigned first_tile = bucket.first_tile;
    const Key *from = task.arrays.at(bucket.place);
    const uint64_t begin = bucket.first + (uint64_t)(tile - first_tile) * shape.tile;
    const uint64_t stop =
        bucket.first + min((uint64_t)(end - first_tile) * shape.tile, bucket.count);
    if (bucket.kind == LISTED_VALUES)
        count_by_value<Order>(task.control, its, from, begin, stop,
                              task.lists_of(level).counts + bucket.counts);
    else
        count_by_digit<Order>(task, level, its, from, begin, stop);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        shared->last = atomicAdd(&its->tiles_done, end - tile) + end - tile == bucket.tiles;
    __syncthreads();
    if (shared->last) {
        __threadfence();
        plan_bucket(index, task, level);
    }
    __syncthreads();
}

/* Does step 1 of a level. A block counts tiles that follow each other, and so few buckets. */
template <class Order, class Key>
__device__ __noinline__ void count_level(const task<Key> &task, unsigned level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const level_lists &lists = task.lists_of(level);
    if (level == 1 && __ldcg(&task.control->has_fine))
        return take_fine_counts(task, level);
    const uint64_t tiles = __ldcg(&task.lengths_of(level)->tiles);
    auto tile = (unsigned)(tiles * blockIdx.x / gridDim.x);
    const auto end = (unsigned)(tiles * (blockIdx.x + 1) / gridDim.x);
    while (tile < end) {
        const unsigned index = level == 0 ? 0 : __ldcg(&lists.bucket_of_tile[tile]);
        fetch_bucket(&shared->current, &lists.buckets[index]);
        const unsigned stop = min(end, shared->current.first_tile + shared->current.tiles);
        count_tiles<Order>(task, level, index, tile, stop);
        tile = stop;
    }
}

} // namespace SCANBENCH_BACKEND::msd
