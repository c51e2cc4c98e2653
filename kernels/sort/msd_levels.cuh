/* msd_levels.cuh: the levels of sort_msd, one after the other in one launch, and the leaf sorts
 * with which each level ends. */
#pragma once

#include "msd_count_level.cuh"
#include "msd_partition.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Writes `key` to to[begin..end), in whole packs where that is possible. All threads call it. */
template <class Key>
__device__ __forceinline__ void fill(Key *to, uint64_t begin, uint64_t end, Key key)
{
    const packed_array<Key> keys(to, begin, end);
    const key_pack<Key> pack = pack_of(key);
    const uint64_t first = keys.first_whole(), stop = keys.end_of_whole();
    for (uint64_t p = first + threadIdx.x; p < stop; p += blockDim.x)
        keys.packs()[p] = pack;
    keys.for_ends([&](Key &element) { element = key; });
}

/* Writes a piece of a bucket from its counts, which are starts now, digit after digit. */
template <class Order, class Key>
__device__ void write_piece(shared_layout<Key> *shared, const task<Key> &task, uint64_t piece,
                            const unsigned long long *counts)
{
    const bucket &bucket = shared->current;
    const uint64_t begin = piece * task.shape.piece;
    const uint64_t end = min(begin + task.shape.piece, bucket.count);
    Key *out = task.arrays.out + bucket.first;
    const bool is_constant = bucket.lowest == bucket.highest;
    const unsigned digits = is_constant ? 1 : 1u << bucket.bits;
    unsigned long long *starts = shared->plan.starts;
    for (unsigned d = threadIdx.x; d < digits; d += blockDim.x)
        starts[d] = is_constant ? 0 : __ldcg(&counts[d]);
    if (threadIdx.x == 0)
        starts[digits] = bucket.count;
    __syncthreads();
    unsigned digit = 0; /* the last digit that starts at `begin` or before */
    for (unsigned step = digits / 2; step > 0; step /= 2)
        if (starts[digit + step] <= begin)
            digit += step;
    const auto base = (Key)(is_constant ? bucket.lowest : bucket.base);
    const auto rank_of = [&](unsigned digit) {
        return bucket.kind == LISTED_VALUES ? (Key)__ldcg(&task.control->values[digit])
                                            : Key(base + (Key)digit);
    };
    for (uint64_t from = begin; from < end; digit++) {
        const uint64_t to = min((uint64_t)starts[digit + 1], end);
        if (from < to)
            fill(out, from, to, Order().inverse(rank_of(digit)));
        from = max(from, to);
    }
    __syncthreads();
}

template <class Order, class Key>
__device__ __noinline__ void write_pieces(const task<Key> &task, unsigned level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const level_lists &lists = task.lists_of(level);
    const unsigned pieces = __ldcg(&task.lengths_of(level)->pieces);
    for (unsigned p = blockIdx.x; p < pieces; p += gridDim.x) {
        const uint64_t number = __ldcg(reinterpret_cast<const uint64_t *>(&lists.pieces[p].first));
        fetch_bucket(&shared->current, &lists.buckets[__ldcg(&lists.pieces[p].count)]);
        write_piece<Order>(shared, task, number, lists.counts + shared->current.counts);
    }
}

__device__ __forceinline__ job fetch_job(const job *from)
{
    const auto *words = reinterpret_cast<const unsigned long long *>(from);
    const unsigned long long first = __ldcg(words), rest = __ldcg(words + 1);
    static_assert(sizeof(job) == 16 && offsetof(job, place) == 12 && offsetof(job, bits) == 14);
    return {first, (unsigned)rest, (uint16_t)(rest >> 32), (uint16_t)(rest >> 48)};
}

/* Returns leaf l of two levels' lists, one after the other, or null. Both candidates are read
 * before the lengths are known, so that all reads are under way together unless both lists have
 * leaves. That may read past a list, where scratch goes on. */
template <class Key>
__device__ __forceinline__ job *find_leaf(const task<Key> &task, unsigned first_level, unsigned l,
                                          job *leaf)
{
    const lengths *own = task.lengths_of(first_level);
    const unsigned even = __ldcg(&own[0].leaves), odd = __ldcg(&own[1].leaves);
    job *in_even = &task.lists[0].leaves[l], *in_odd = &task.lists[1].leaves[l];
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

/* The shared memory of a leaf sort where arrays are large. */
template <class Key>
using leaves_layout = leaf_sort::agent<Key, POLICY<Key>.leaves.threads, POLICY<Key>.leaves.keys>;

/* Sorts those of a block's leaves that were deferred. */
template <class Order, class Key> __device__ __noinline__ void sort_deferred(const task<Key> &task)
{
    job leaf;
#pragma unroll 1
    for (unsigned l = blockIdx.x; find_leaf(task, 0, l, &leaf) != nullptr; l += gridDim.x) {
        if (leaf.bits == DEFERRED)
            shared_memory<leaves_layout<Key>>()->template sort_skewed<Order>(
                task.arrays.at(leaf.place) + leaf.first, leaf.count, task.arrays.out + leaf.first);
        __syncthreads();
    }
}

/* The phases of the launch that does all steps are functions of their own, so that each has its own
 * registers. */
template <class Order, unsigned COUNT, class Key>
__device__ __noinline__ void partition_phase(const task<Key> &task, unsigned level)
{
    partition_level<Order, THREADS, COUNT>(task, level);
}

/* Sorts the leaves of a level. */
template <class Order, unsigned COUNT, class Key>
__device__ __noinline__ void leaves_phase(const task<Key> &task, unsigned level)
{
    auto *agent = shared_memory<leaf_sort::agent<Key, THREADS, COUNT>>();
    const auto &arrays = task.arrays;
    const job *list = task.lists_of(level).leaves;
    const unsigned leaves = __ldcg(&task.lengths_of(level)->leaves);
    job next = {};
    if (blockIdx.x < leaves)
        next = fetch_job(&list[blockIdx.x]);
    for (unsigned l = blockIdx.x; l < leaves; l += gridDim.x) {
        const job leaf = next;
        if (l + gridDim.x < leaves) {
            next = fetch_job(&list[l + gridDim.x]);
            prefetch_lines(arrays.at(next.place) + next.first, next.count * sizeof(Key));
        }
        agent->template sort<Order>(arrays.at(leaf.place) + leaf.first, leaf.count,
                                    arrays.out + leaf.first, leaf.bits);
    }
}

/* Sorts by levels from first_level on, until there are no more. COUNT, LEAF_COUNT: keys per thread
 * of a tile and of a leaf. All blocks of the grid are resident. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
__device__ __forceinline__ void sort_levels(const task<Key> &task, unsigned first_level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    control *control = task.control;
    for (unsigned level = first_level; level + 1 < MAX_LEVELS; level++) {
        lengths *own = task.lengths_of(level);
        if (__ldcg(&own->buckets) == 0)
            break;
        count_level<Order>(task, level);
        grid_barrier(&control->arrived);
        const bool partitions = __ldcg(&own->partitions) > 0;
        if (partitions)
            partition_phase<Order, COUNT>(task, level);
        if (level > first_level)
            leaves_phase<Order, LEAF_COUNT>(task, level - 1);
        write_pieces<Order>(task, level);
        const bool is_last = __ldcg(&own[1].buckets) == 0;
        /* The next level uses the lists that pieces are read from. */
        if (partitions || !is_last)
            grid_barrier(&control->arrived);
        if (is_last)
            leaves_phase<Order, LEAF_COUNT>(task, level);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        shared->last = atomicAdd(&control->blocks_done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (shared->last)
        reset(task);
}

} // namespace SCANBENCH_BACKEND::msd
