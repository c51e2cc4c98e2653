/* sort_msd: radix sort from the most significant digit, then in shared memory.
 * Source:  Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs",
 *          SIGMOD 2017; space is claimed by atomics, because order need not be kept.
 * Work:    O(n) per level; one or two levels for uniform keys, more where keys crowd.
 * Depth:   two barriers of the grid per level, and a sort in shared memory.
 * DRAM:    3n per level, 2n for the sorts in shared memory.
 * Shared:  a tile or a leaf of 32 KiB, and counters.
 * Relies:  on all blocks of msd_kernel being resident, or a barrier of the grid would wait for
 *          ever: the launch is cooperative, its grid from the occupancy query. Not on any order
 *          of atomics: keys that nobody can tell apart need no stable sort.
 *
 * A bucket is a range of the array whose keys all belong there. At first there is one. A level
 * takes the buckets that are too large for shared memory:
 *
 *   1. Their keys are counted by their next digit, and the lowest and the highest found. The
 *      block that counts a bucket's last keys plans what becomes of it:
 *      - Few values? The counts say all, and the result is written from them.
 *      - Keys within half of the range or less? It is a bucket of the next level, with a range
 *        that fits.
 *      - Else it is partitioned. Small neighbours among its parts will share a leaf, and what is
 *        too large will be a bucket of the next level.
 *   2. Tiles of keys are partitioned: by one shared atomic per key and one global atomic per
 *      digit and tile, which claims space for a run.
 *
 * Leaves are sorted in shared memory (leaf_sort.cuh). An array of one leaf takes one block. Small
 * arrays take one launch. Of large arrays, each step of the first levels is a launch of its own,
 * with as many registers and blocks as suit it; the last launch does what levels are left. */
#include "msd_partition.cuh"
#include "msd_plan.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* ---- What is sorted by then ---- */

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

/* What the first level touches one after the other, on its way to the L2 all at once. */
__device__ __forceinline__ void prefetch_state(const control *control, const level_lists &lists,
                                               unsigned digits)
{
    prefetch_lines(control, sizeof(control->arrived) + sizeof(unsigned) + 2 * sizeof(lengths));
    prefetch_lines(lists.buckets, sizeof(bucket));
    prefetch_lines(lists.counts, digits * (unsigned)sizeof(*lists.counts));
    prefetch_lines(lists.leaves, digits * (unsigned)sizeof(job));
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

/* Levels from the first on, until there are no more. COUNT: keys per thread. */
template <class Order, unsigned COUNT, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    msd_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
               const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
               unsigned first_level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    if (first_level == 0)
        prefetch_state(control, sets.set[0], 1u << shape.bits);
    for (unsigned level = first_level; level + 1 < MAX_LEVELS; level++) {
        lengths *own = &control->of_level[level];
        if (__ldcg(&own->buckets) == 0)
            break;
        const level_lists &lists = sets.set[level % 2], &others = sets.set[1 - level % 2];
        count_level<Order>(arrays, shape, level, control, lists, others);
        grid_barrier(control);
        const bool partitions = __ldcg(&own->partitions) > 0;
        if (partitions)
            partition_phase<Order, COUNT>(arrays, shape, level, control, lists);
        if (level > first_level)
            leaves_phase<Order, COUNT>(arrays, own - 1, others);
        write_pieces<Order>(arrays, shape.piece, own, lists);
        const bool is_last = __ldcg(&own[1].buckets) == 0;
        /* The next level uses the lists that pieces are read from. */
        if (partitions || !is_last)
            grid_barrier(control);
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

/* Where arrays are large, launches of their own for the steps of the first levels. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(COUNT_THREADS, COUNT_BLOCKS)
    count_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                 const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                 unsigned level)
{
    count_level<Order>(arrays, shape, level, control, sets.set[level % 2], sets.set[1 - level % 2]);
}

template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(PARTITION_THREADS, PARTITION_BLOCKS)
    partition_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                     const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                     unsigned level)
{
    partition_level<Order, PARTITION_THREADS, PARTITION_KEYS<Key>>(arrays, shape, level, control,
                                                                   sets.set[level % 2]);
    write_pieces<Order>(arrays, shape.piece, &control->of_level[level], sets.set[level % 2]);
}

/* Of two levels. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(LEAVES_THREADS, LEAVES_BLOCKS)
    leaves_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                  const __grid_constant__ list_sets sets, unsigned first_level, unsigned levels)
{
    for (unsigned level = first_level; level < first_level + levels; level++)
        sort_leaves<Order, LEAVES_THREADS, LEAF_OF_BYTES / sizeof(Key) / LEAVES_THREADS>(
            arrays, &control->of_level[level], sets.set[level % 2]);
}

/* An array of one leaf, which may be larger. */
template <class Key>
using leaf_layout = leaf_sort::shared_layout<Key, LEAF_THREADS, ONE_LEAF<Key> / LEAF_THREADS>;

template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(LEAF_THREADS) leaf_kernel(arrays<Key> arrays, unsigned n)
{
    leaf_sort::sort_leaf<Order>(shared_memory<leaf_layout<Key>>(), arrays.in, n, arrays.out);
}

/* ---- the host's side ---- */

template <class Key> static bool is_large(const struct problem *problem)
{
    return problem->n * sizeof(Key) >= LARGE_BYTES;
}

/* Keys per block that keep every multiprocessor busy. */
static uint64_t share_of(const struct problem *problem)
{
    return ceil_div(problem->n, (uint64_t)BLOCKS * problem->device->multiprocessors);
}

/* Keys per thread of a tile and a leaf: as few as keep all blocks busy. */
template <class Key> static unsigned keys_for(const struct problem *problem)
{
    const uint64_t share = share_of(problem);
    if (share <= FEW_KEYS * THREADS / 2)
        return FEW_KEYS;
    return share <= SOME_KEYS * THREADS ? std::min<unsigned>(SOME_KEYS, MANY_KEYS<Key>)
                                        : MANY_KEYS<Key>;
}

template <class Key> static shape shape_of(const struct problem *problem)
{
    const uint64_t share = share_of(problem);
    const unsigned keys = keys_for<Key>(problem);
    shape shape = {};
    shape.n = problem->n;
    shape.capacity = keys * THREADS;
    shape.tile = is_large<Key>(problem)
                     ? PARTITION_KEYS<Key> * PARTITION_THREADS
                     : std::min((unsigned)ceil_div(share, THREADS), keys) * THREADS;
    shape.piece = 2 * shape.tile;
    shape.leaf = (unsigned)std::min<uint64_t>(std::max<uint64_t>(share * 5 / 4, THREADS),
                                              shape.capacity / 4 * 3);
    shape.window = std::min(shape.capacity / 4, shape.leaf / 2);
    shape.bits = digit_bits(problem->n, shape.leaf);
    return shape;
}

/* How long the lists of a level can get. */
struct capacities {
    uint64_t buckets, tiles, counts, leaves, pieces;
};

template <class Key> static capacities capacities_of(const struct problem *problem)
{
    const uint64_t n = problem->n;
    const shape shape = shape_of<Key>(problem);
    const uint64_t buckets = n / shape.capacity + 1;
    /* A bucket has a digit for each shape.leaf / 2 or COUNTED keys, or 2^MIN_BITS. */
    const uint64_t counts =
        MAX_DIGITS + std::max({2 * n / shape.leaf, buckets << MIN_BITS, n / COUNTED}) + buckets;
    /* Between two that are larger than the window lies at most one leaf, and one in a window. */
    return {buckets, n / shape.tile + 2 * buckets, counts,
            3 * (n / shape.window) + 3 * buckets + MAX_DIGITS, n / shape.piece + buckets};
}

/* Gives out scratch memory, piece after piece; from null, only counts it. */
struct allocator {
    char *start;
    size_t used;

    template <class T> T *get(uint64_t count)
    {
        char *piece = start == nullptr ? nullptr : start + used;
        used += next_place(count * sizeof(T));
        return reinterpret_cast<T *>(piece);
    }
};

template <class Key> struct scratch {
    Key *other;
    control *state;
    list_sets lists;
    size_t bytes;
};

template <class Key> static scratch<Key> scratch_of(const struct problem *problem, void *start)
{
    allocator allocator = {static_cast<char *>(start), 0};
    const capacities most = capacities_of<Key>(problem);
    scratch<Key> scratch = {};
    scratch.other = allocator.get<Key>(problem->n);
    scratch.state = allocator.get<control>(1);
    for (level_lists &lists : scratch.lists.set) {
        lists.buckets = allocator.get<bucket>(most.buckets);
        lists.bucket_of_tile = allocator.get<unsigned>(most.tiles);
        lists.counts = allocator.get<unsigned long long>(most.counts);
        lists.leaves = allocator.get<job>(most.leaves);
        lists.pieces = allocator.get<job>(most.pieces);
    }
    scratch.bytes = allocator.used;
    return scratch;
}

template <class Key> static bool is_one_leaf(const struct problem *problem)
{
    return problem->n <= ONE_LEAF<Key>;
}

static size_t scratch_bytes(const struct problem *problem)
{
    if (element_bytes(problem->type) == 8)
        return is_one_leaf<uint64_t>(problem) ? 0 : scratch_of<uint64_t>(problem, nullptr).bytes;
    return is_one_leaf<uint32_t>(problem) ? 0 : scratch_of<uint32_t>(problem, nullptr).bytes;
}

static const char *supports(const struct problem *problem)
{
    if (problem->device->shared_bytes_per_block <
        std::max(sizeof(leaf_layout<uint64_t>), sizeof(shared_layout<uint64_t>)))
        return "needs more shared memory than this device gives a block";
    const size_t key_bytes = problem->n * element_bytes(problem->type);
    if (scratch_bytes(problem) > key_bytes + MOST_LIST_BYTES)
        return "needs more than 32 MiB beside the other array for so many keys: onesweep sorts "
               "them";
    return nullptr;
}

template <class Key> static void prepare_keys(const struct call *call)
{
    if (is_one_leaf<Key>(&call->problem))
        return;
    const scratch<Key> scratch = scratch_of<Key>(&call->problem, call->scratch);
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(scratch.state, 0, sizeof(control), queue_of(call)->stream));
    launch<reset_kernel<Key>>(queue_of(call), {1, THREADS}, scratch.state, scratch.lists,
                              shape_of<Key>(&call->problem));
}

static void prepare(const struct call *call)
{
    if (element_bytes(call->problem.type) == 8)
        prepare_keys<uint64_t>(call);
    else
        prepare_keys<uint32_t>(call);
}

/* All blocks of a kernel that the device holds at once. */
template <class Kernel>
static uint64_t resident_blocks(const struct call *call, Kernel *kernel, unsigned threads,
                                size_t shared_bytes)
{
    int blocks = 0;
    if (!succeeded(queue_of(call), "shared memory", allow_shared_bytes(kernel, shared_bytes)) ||
        !succeeded(queue_of(call), "occupancy",
                   cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads,
                                                                 shared_bytes)))
        return 0;
    return (uint64_t)blocks * call->problem.device->multiprocessors;
}

/* As many blocks as there are tiles and leaves for. */
template <class Key> static uint64_t useful_blocks(const struct problem *problem)
{
    const shape shape = shape_of<Key>(problem);
    return std::max(ceil_div(problem->n, shape.tile), ceil_div(problem->n, shape.leaf / 2));
}

/* Launches of their own for the steps of a level. */
template <class Order, class Key = typename Order::key>
static void run_level(const struct call *call, const arrays<Key> &arrays,
                      const scratch<Key> &scratch, unsigned level)
{
    constexpr size_t shared_bytes = sizeof(shared_layout<Key>);
    const shape shape = shape_of<Key>(&call->problem);
    const uint64_t key_bytes = call->problem.n * sizeof(Key);
    launch<count_kernel<Order>>(
        queue_of(call),
        {resident_blocks(call, count_kernel<Order>, COUNT_THREADS, shared_bytes),
         COUNT_THREADS,
         {key_bytes},
         shared_bytes},
        arrays, scratch.state, scratch.lists, shape, level);
    launch<partition_kernel<Order>>(
        queue_of(call),
        {resident_blocks(call, partition_kernel<Order>, PARTITION_THREADS, shared_bytes),
         PARTITION_THREADS,
         {2 * key_bytes},
         shared_bytes},
        arrays, scratch.state, scratch.lists, shape, level);
}

template <class Order, class Key = typename Order::key>
static void run_leaves(const struct call *call, const arrays<Key> &arrays,
                       const scratch<Key> &scratch, unsigned first_level, unsigned levels)
{
    constexpr size_t shared_bytes =
        sizeof(leaf_sort::shared_layout<Key, LEAVES_THREADS,
                                        LEAF_OF_BYTES / sizeof(Key) / LEAVES_THREADS>);
    launch<leaves_kernel<Order>>(
        queue_of(call),
        {resident_blocks(call, leaves_kernel<Order>, LEAVES_THREADS, shared_bytes),
         LEAVES_THREADS,
         {2 * call->problem.n * sizeof(Key)},
         shared_bytes},
        arrays, scratch.state, scratch.lists, first_level, levels);
}

/* Levels that uniform keys need, where arrays are large, and more for floats, which crowd below
 * powers of two. */
template <class Key> static unsigned levels_on_their_own(const struct problem *problem)
{
    if (!is_large<Key>(problem))
        return 0;
    const bool is_float = type_class(problem->type) == TYPE_FLOAT;
    return is_float || problem->n * sizeof(Key) >= VERY_LARGE_BYTES ? 4 : 2;
}

/* All levels from the first on. */
template <class Order, unsigned COUNT, class Key = typename Order::key>
static void run_rest(const struct call *call, const arrays<Key> &arrays,
                     const scratch<Key> &scratch, unsigned first_level)
{
    const struct problem *problem = &call->problem;
    constexpr size_t shared_bytes = sizeof(shared_layout<Key>);
    launch<msd_kernel<Order, COUNT>>(
        queue_of(call),
        {std::min(resident_blocks(call, msd_kernel<Order, COUNT>, THREADS, shared_bytes),
                  useful_blocks<Key>(problem)),
         THREADS,
         {2 * problem->n * sizeof(Key)},
         shared_bytes,
         true},
        arrays, scratch.state, scratch.lists, shape_of<Key>(problem), first_level);
}

template <class Order, class Key = typename Order::key>
static void sort_many(const struct call *call, arrays<Key> arrays)
{
    const struct problem *problem = &call->problem;
    const scratch<Key> scratch = scratch_of<Key>(problem, call->scratch);
    arrays.other = scratch.other;
    const unsigned levels = levels_on_their_own<Key>(problem);
    for (unsigned level = 0; level < levels; level++) {
        run_level<Order>(call, arrays, scratch, level);
        /* Leaves of one level are listed where those of the one but next will be. */
        if (level % 2 == 1 || level + 1 == levels)
            run_leaves<Order>(call, arrays, scratch, level / 2 * 2, level % 2 + 1);
    }
    const unsigned keys = keys_for<Key>(problem);
    if (keys == FEW_KEYS)
        run_rest<Order, FEW_KEYS>(call, arrays, scratch, levels);
    else if (keys == SOME_KEYS)
        run_rest<Order, SOME_KEYS>(call, arrays, scratch, levels);
    else
        run_rest<Order, MANY_KEYS<Key>>(call, arrays, scratch, levels);
}

template <class Order, class Key = typename Order::key>
static void sort_keys(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const arrays<Key> arrays = {static_cast<const Key *>(call->input),
                                static_cast<Key *>(call->output), nullptr};
    if (!is_one_leaf<Key>(problem))
        sort_many<Order>(call, arrays);
    else if (problem->n > 0)
        launch<leaf_kernel<Order>>(
            queue_of(call),
            {1, LEAF_THREADS, {2 * problem->n * sizeof(Key)}, sizeof(leaf_layout<Key>)}, arrays,
            (unsigned)problem->n);
}

static void run(const struct call *call)
{
    with_order(call->problem.type, [&](auto order) { sort_keys<decltype(order)>(call); });
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_msd) = {
    .name = "msd",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "most significant digit first, then in shared memory; one launch",
    .source = "after Stehle and Jacobsen 2017",
    .supports = SCANBENCH_BACKEND::msd::supports,
    .scratch_bytes = SCANBENCH_BACKEND::msd::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::msd::prepare,
    .run = SCANBENCH_BACKEND::msd::run,
};
