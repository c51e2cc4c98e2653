/* msd_levels.cuh: the levels of sort_msd, one after the other in one launch; and the sorts of
 * leaves, with which each ends. */
#ifndef SCANBENCH_KERNELS_MSD_LEVELS_CUH
#define SCANBENCH_KERNELS_MSD_LEVELS_CUH

#include "msd_partition.cuh"
#include "msd_plan.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* Writes a piece of a bucket from its counts, which are starts now. */
template <class Order, class Key>
__device__ void write_piece(shared_layout<Key> *shared, const arrays<Key> &arrays, uint64_t piece,
                            unsigned size, const unsigned long long *counts)
{
    const bucket &bucket = shared->current;
    const uint64_t begin = piece * size, end = min(begin + size, bucket.count);
    Key *out = arrays.out + bucket.first;
    const bool is_constant = bucket.lowest == bucket.highest;
    const unsigned digits = is_constant ? 1 : 1u << bucket.bits;
    for (unsigned d = threadIdx.x; d < digits && !is_constant; d += blockDim.x)
        shared->plan.starts[d] = __ldcg(&counts[d]);
    __syncthreads();
    for (uint64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        /* The last digit that starts at i or before. */
        unsigned digit = 0;
        for (unsigned step = digits / 2; step > 0; step /= 2)
            if (shared->plan.starts[digit + step] <= i)
                digit += step;
        out[i] =
            Order().inverse(is_constant ? (Key)bucket.lowest : Key((Key)bucket.base + (Key)digit));
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

__device__ __forceinline__ job fetch_job(const job *from)
{
    job job = {__ldcg(&from->first), __ldcg(&from->count), __ldcg(&from->place)};
    return job;
}

template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void sort_leaves(const arrays<Key> &arrays, const lengths *own,
                                            const level_lists &lists)
{
    auto *shared = shared_memory<leaf_sort::shared_layout<Key, THREADS, COUNT>>();
    const unsigned leaves = __ldcg(&own->leaves);
    job next = {};
    if (blockIdx.x < leaves)
        next = fetch_job(&lists.leaves[blockIdx.x]);
    for (unsigned l = blockIdx.x; l < leaves; l += gridDim.x) {
        const job leaf = next;
        if (l + gridDim.x < leaves) {
            next = fetch_job(&lists.leaves[l + gridDim.x]);
            prefetch_lines(arrays.at(next.place) + next.first, next.count * sizeof(Key));
        }
        leaf_sort::sort_leaf<Order>(shared, arrays.at(leaf.place) + leaf.first, leaf.count,
                                    arrays.out + leaf.first);
    }
}

/* The phases of the launch that does all, each with registers of its own. */
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

/* Levels from the first on, until there are no more. COUNT: keys per thread. All blocks of the grid
 * are resident. */
template <class Order, unsigned COUNT, class Key = typename Order::key>
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
            leaves_phase<Order, COUNT>(arrays, own - 1, others);
        write_pieces<Order>(arrays, shape.piece, own, lists);
        const bool is_last = __ldcg(&own[1].buckets) == 0;
        /* The next level uses the lists that pieces are read from. */
        if (partitions || !is_last)
            grid_barrier(&control->arrived);
        if (is_last)
            leaves_phase<Order, COUNT>(arrays, own, lists);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        shared->last = atomicAdd(&control->blocks_done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (shared->last)
        reset<Key>(control, sets.set[0], shape);
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
