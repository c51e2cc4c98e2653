/* sort_msd: radix sort from the most significant digit, then in shared memory.
 * Source:  Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs",
 *          SIGMOD 2017; space is claimed by atomics, because order need not be kept.
 * Work:    O(n) per level; one or two levels for uniform keys, more for skewed keys.
 * Depth:   two barriers of the grid per level, and a sort in shared memory.
 * DRAM:    2n per level, and n to count its keys, or once for two levels; 2n for the sorts in
 *          shared memory.
 * Shared:  a tile or a leaf of up to 68 KiB, and counters.
 * Relies:  on all blocks of msd_kernel being resident, or a barrier of the grid would wait for
 *          ever: the launch is cooperative, its grid from the occupancy query. Not on any order
 *          of atomics: keys that nobody can tell apart need no stable sort.
 *
 * A bucket is a range of the array whose keys all belong there. At first there is one. A level
 * takes the buckets that are too large for shared memory:
 *
 *   1. Their keys are counted by their next digit, and the lowest and the highest key are found.
 * The block that counts a bucket's last keys plans what becomes of the bucket:
 *      - If a digit is one value, the result is written from the counts.
 *      - If the keys lie within half of the range or less, it is a bucket of the next level, with a
 *        range that fits.
 *      - Otherwise it is partitioned. Small neighbours among its parts will share a leaf, and a
 * part that is too large for a leaf will be a bucket of the next level.
 *   2. Tiles of keys are partitioned: by one shared atomic per key and one global atomic per
 *      digit and tile, which claims space for a run.
 *
 * Leaves are sorted in shared memory (leaf_sort.cuh). An array of one leaf takes one block. Small
 * arrays take the launch of the sample and one more. For large arrays, each step of the first
 * levels is a launch of its own, with as many registers and blocks as suit it; the last launch
 * sorts deferred leaves and does the levels that are left. The sample says which digits to count
 * (msd_sample.cuh). Where two levels are needed, the first one counts the digits of both. The
 * second level then reads no key to count it, and does not know the lowest and the highest key of a
 * bucket. */
#include "msd_host.cuh"
#include "msd_levels.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* Loads into the L2, all at once, what the first level touches one after the other. */
__device__ __forceinline__ void prefetch_state(const control *control, const level_lists &lists,
                                               unsigned digits)
{
    prefetch_lines(control, offsetof(struct control, of_level) + 2 * sizeof(lengths));
    prefetch_lines(lists.buckets, sizeof(bucket));
    prefetch_lines(lists.counts, digits * (unsigned)sizeof(*lists.counts));
    prefetch_lines(lists.leaves, digits * (unsigned)sizeof(job));
}

static_assert(THREADS == LEAVES_THREADS, "one launch sorts what the other defers");

/* The launch that does all steps of the levels from first_level on. For a large array, it first
 * sorts the leaves that leaves_kernel deferred. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    msd_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
               const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
               unsigned first_level)
{
    if (control->disabled)
        return;
    if (first_level == 0)
        prefetch_state(control, sets.set[0], 1u << shape.bits);
    if constexpr (LEAF_COUNT == LEAVES_KEYS<Key>)
        if (__ldcg(&control->has_deferred)) {
            sort_deferred<Order>(arrays, control->of_level, sets);
            grid_barrier(&control->arrived); /* levels use the same lists */
        }
    sort_levels<Order, COUNT, LEAF_COUNT>(arrays, control, sets, shape, first_level);
}

/* One block samples the array, chooses the first digits, and decides whether this sort or another
 * one sorts the array. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(SAMPLE)
    choose_digits_kernel(const Key *in, control *control, bucket *first_bucket,
                         const __grid_constant__ shape shape,
                         const __grid_constant__ sampling sampling)
{
    enum { TOO_MANY = SAMPLE / 8 };
    auto *shared = shared_memory<sampling_layout<Key>>();
    let_next_launch_begin();
    unsigned *other_disabled = control->other_disabled;
    const leaf_sort::held<Key, SAMPLE, 1> sample = {
        {Order()(in[sampled_place(threadIdx.x, sampling.part)])}, SAMPLE};
    const leaf_sort::extent<Key> extent = leaf_sort::extent_of(&shared->leaf, sample);
    leaf_sort::extent<Key> values = extent;
    if constexpr (IS_FLOAT<Order>)
        values = wider_extent(extent);
    const auto skewed = [&](const first_digits &digits) {
        return skewed_by(digits, shared, sample.rank[0], values, shape, sampling);
    };
    first_digits digits = digits_by_rank(extent, shape);
    unsigned needing_more = 0;
    if (IS_FLOAT<Order> || other_disabled != nullptr)
        needing_more = skewed(digits);
    if constexpr (IS_FLOAT<Order>)
        if (needing_more > 0) {
            const unsigned others = skewed(digits_by_value<Key>(shape));
            if (others < needing_more)
                digits = digits_by_value<Key>(shape);
            needing_more = min(needing_more, others);
        }
    if (threadIdx.x > 0)
        return;
    first_bucket->base = digits.base;
    first_bucket->bits = digits.bits;
    first_bucket->shift = digits.shift;
    first_bucket->by_value = digits.by_value;
    if (IS_FLOAT<Order>) {
        control->lowest = values.lowest;
        control->highest = values.highest;
    }
    if (other_disabled != nullptr) {
        control->disabled = needing_more > TOO_MANY;
        *other_disabled = needing_more <= TOO_MANY;
    }
}

/* The launch of step 1 of a level, where arrays are large. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(COUNT_THREADS, COUNT_BLOCKS)
    count_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                 const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                 unsigned level)
{
    wait_for_launch_before();
    if (!control->disabled)
        count_level<Order>(arrays, shape, level, control, sets.set[level % 2],
                           sets.set[1 - level % 2]);
}

/* The launch of step 2 of a level, where arrays are large. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(PARTITION_THREADS, PARTITION_BLOCKS)
    partition_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                     const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                     unsigned level)
{
    wait_for_launch_before();
    if (control->disabled)
        return;
    if (level == 1)
        clear_fine_counts(control, 1u << (shape.bits + shape.fine_bits));
    partition_level<Order, PARTITION_THREADS, PARTITION_KEYS<Key>>(arrays, shape, level, control,
                                                                   sets.set[level % 2]);
    write_pieces<Order>(arrays, shape.piece, &control->of_level[level], sets.set[level % 2]);
}

/* The launch that sorts the leaves of one level or two, where arrays are large. Leaves of skewed
 * keys are deferred, because the code for them would take registers. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(LEAVES_THREADS, LEAVES_BLOCKS)
    leaves_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                  const __grid_constant__ list_sets sets, unsigned first_level)
{
    using layout = leaves_layout<Key>;
    const lengths *own = &control->of_level[first_level];
    job leaf;
    wait_for_launch_before();
    if (control->disabled) /* the lists of leaves say the same, but later */
        return;
#pragma unroll 1
    for (unsigned l = blockIdx.x;; l += gridDim.x) {
        job *its = find_leaf(own, sets, l, &leaf);
        if (its == nullptr)
            break;
        if (leaf_sort::sort_by_bins<Order>(shared_memory<layout>(),
                                           arrays.at(leaf.place) + leaf.first, leaf.count,
                                           arrays.out + leaf.first, leaf.bits) &&
            threadIdx.x == 0) {
            its->bits = (uint16_t)DEFERRED;
            control->has_deferred = true;
        }
        __syncthreads(); /* before shared memory is used again */
    }
}

/* The shared memory for an array of one leaf, which is larger than that of other leaves. */
template <class Key>
using leaf_layout = leaf_sort::shared_layout<Key, LEAF_THREADS, ONE_LEAF<Key> / LEAF_THREADS>;

/* The launch that sorts an array of one leaf. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(LEAF_THREADS) leaf_kernel(arrays<Key> arrays, unsigned n)
{
    leaf_sort::sort_leaf<Order>(shared_memory<leaf_layout<Key>>(), arrays.in, n, arrays.out, 0,
                                true);
}

/* ---- the host's side ---- */

template <class Key> static scratch<Key> own_scratch(const struct problem *problem, void *start)
{
    return scratch_of<Key>(problem, shape_of<Key>(problem), start);
}

size_t scratch_bytes(const struct problem *problem)
{
    return with_key_width(problem->type, [&]<class Key>() -> size_t {
        return is_one_leaf<Key>(problem) ? 0 : own_scratch<Key>(problem, nullptr).bytes;
    });
}

const char *supports(const struct problem *problem)
{
    if (problem->device->shared_bytes_per_block <
        std::max({sizeof(leaf_layout<uint64_t>), sizeof(shared_layout<uint64_t>),
                  sizeof(leaves_layout<uint32_t>), sizeof(leaves_layout<uint64_t>)}))
        return "needs more shared memory than this device gives a block";
    const size_t key_bytes = problem->n * element_bytes(problem->type);
    if (scratch_bytes(problem) > key_bytes + MOST_LIST_BYTES)
        return "needs more than 32 MiB beside the other array for so many keys: onesweep sorts "
               "them";
    return nullptr;
}

/* Clears the lists of leaves. For large arrays, a leaf is read before the length of its list is
 * known. */
template <class Key> static void prepare_leaves(const struct call *call, const list_sets &lists)
{
    const shape shape = shape_of<Key>(&call->problem);
    const size_t bytes = capacities_of<Key>(&call->problem, shape).leaves * sizeof(job);
    for (const level_lists &list : lists.set)
        succeeded(queue_of(call), "memset",
                  cudaMemsetAsync(list.leaves, 0, bytes, queue_of(call)->stream));
}

template <class Key> static void prepare_keys(const struct call *call)
{
    if (is_one_leaf<Key>(&call->problem))
        return;
    const scratch<Key> scratch = own_scratch<Key>(&call->problem, call->scratch);
    prepare_scratch(call, shape_of<Key>(&call->problem), scratch);
    if (is_large<Key>(&call->problem))
        prepare_leaves<Key>(call, scratch.lists);
}

void prepare(const struct call *call)
{
    with_key_width(call->problem.type, [&]<class Key>() { prepare_keys<Key>(call); });
}

/* The number of blocks for which there are tiles and leaves. */
template <class Key> static uint64_t useful_blocks(const struct problem *problem)
{
    const shape shape = shape_of<Key>(problem);
    return std::max(ceil_div(problem->n, shape.tile), ceil_div(problem->n, shape.leaf / 2));
}

template <class Order, class Key = typename Order::key>
static void run_choice(const struct call *call, const arrays<Key> &arrays,
                       const scratch<Key> &scratch)
{
    launch<choose_digits_kernel<Order>>(
        queue_of(call), {1, SAMPLE, {}, sizeof(sampling_layout<Key>)}, arrays.in, scratch.state,
        scratch.lists.set[0].buckets, shape_of<Key>(&call->problem),
        sampling_of<Key>(&call->problem));
}

/* Launches the steps of a level, each by itself. */
template <class Order, class Key = typename Order::key>
static void run_level(const struct call *call, const arrays<Key> &arrays,
                      const scratch<Key> &scratch, unsigned level, unsigned levels)
{
    const bool overlaps = has_sm_90(call->problem.device);
    shape shape = shape_of<Key>(&call->problem);
    const uint64_t key_bytes = call->problem.n * sizeof(Key);
    const size_t shared_bytes = count_bytes<Key>(shape.bits + shape.fine_bits);
    if (level + 1 == levels)
        shape.next_tile = tile_of<Key>(&call->problem);
    launch<count_kernel<Order>>(
        queue_of(call),
        {resident_blocks(call, count_kernel<Order>, COUNT_THREADS, shared_bytes),
         COUNT_THREADS,
         {level == 1 && shape.fine_bits > 0 ? 0 : key_bytes},
         shared_bytes,
         false,
         overlaps},
        arrays, scratch.state, scratch.lists, shape, level);
    launch<partition_kernel<Order>>(queue_of(call),
                                    {resident_blocks(call, partition_kernel<Order>,
                                                     PARTITION_THREADS, sizeof(shared_layout<Key>)),
                                     PARTITION_THREADS,
                                     {2 * key_bytes},
                                     sizeof(shared_layout<Key>),
                                     false,
                                     overlaps},
                                    arrays, scratch.state, scratch.lists, shape, level);
}

/* Launches a block for each leaf of evenly spread keys. Leaves of floats have two digits then. */
template <class Order, class Key = typename Order::key>
static void run_leaves(const struct call *call, const arrays<Key> &arrays,
                       const scratch<Key> &scratch, unsigned first_level)
{
    const bool overlaps = has_sm_90(call->problem.device);
    const shape shape = shape_of<Key>(&call->problem);
    const unsigned log2_leaves = shape.bits + shape.next_bits - (IS_FLOAT<Order> ? 1 : 0);
    launch<leaves_kernel<Order>>(queue_of(call),
                                 {(uint64_t)1 << log2_leaves,
                                  LEAVES_THREADS,
                                  {2 * call->problem.n * sizeof(Key)},
                                  sizeof(leaves_layout<Key>),
                                  false,
                                  overlaps},
                                 arrays, scratch.state, scratch.lists, first_level);
}

/* The number of levels whose steps are launches: those that uniform keys need, where arrays are
 * large. */
template <class Key> static unsigned levels_on_their_own(const struct problem *problem)
{
    if (!is_large<Key>(problem))
        return 0;
    const shape shape = shape_of<Key>(problem);
    return shape.n >> shape.bits <= shape.leaf ? 1 : 2;
}

/* Launches all levels from first_level on, together. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
static void run_rest(const struct call *call, const arrays<Key> &arrays,
                     const scratch<Key> &scratch, unsigned first_level)
{
    const struct problem *problem = &call->problem;
    constexpr size_t shared_bytes = std::max(
        sizeof(shared_layout<Key>), sizeof(leaf_sort::shared_layout<Key, THREADS, LEAF_COUNT>));
    shape shape = shape_of<Key>(problem);
    shape.tile = shape.next_tile = tile_of<Key>(problem);
    constexpr auto *kernel = msd_kernel<Order, COUNT, LEAF_COUNT>;
    launch<kernel>(queue_of(call),
                   {std::min(resident_blocks(call, kernel, THREADS, shared_bytes),
                             useful_blocks<Key>(problem)),
                    THREADS,
                    {first_level > 0 ? 0 : 2 * problem->n * sizeof(Key)},
                    shared_bytes,
                    true},
                   arrays, scratch.state, scratch.lists, shape, first_level);
}

template <class Order, class Key = typename Order::key>
static void sort_many(const struct call *call, arrays<Key> arrays)
{
    const struct problem *problem = &call->problem;
    const scratch<Key> scratch = own_scratch<Key>(problem, call->scratch);
    arrays.other = scratch.other;
    const unsigned levels = levels_on_their_own<Key>(problem);
    run_choice<Order>(call, arrays, scratch);
    for (unsigned level = 0; level < levels; level++) {
        run_level<Order>(call, arrays, scratch, level, levels);
        /* The leaves of a level are listed where those of the level after the next will be. */
        if (level % 2 == 1 || level + 1 == levels)
            run_leaves<Order>(call, arrays, scratch, level / 2 * 2);
    }
    /* The most keys per block where no step is a launch of its own. */
    constexpr unsigned MOST_SHARE = LARGE_SHARE / sizeof(Key) / BLOCKS;
    static_assert(MOST_SHARE <= SOME_KEYS * THREADS);
    if (levels > 0)
        run_rest<Order, MANY_KEYS<Key>, LEAVES_KEYS<Key>>(call, arrays, scratch, levels);
    else if (keys_for<Key>(problem) == FEW_KEYS)
        run_rest<Order, FEW_KEYS>(call, arrays, scratch, levels);
    else if constexpr (MOST_SHARE > FEW_KEYS * THREADS / 2)
        run_rest<Order, SOME_KEYS>(call, arrays, scratch, levels);
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

void run(const struct call *call)
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
    .summary = "most significant digit first, then in shared memory",
    .source = "after Stehle and Jacobsen 2017",
    .supports = SCANBENCH_BACKEND::msd::supports,
    .scratch_bytes = SCANBENCH_BACKEND::msd::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::msd::prepare,
    .run = SCANBENCH_BACKEND::msd::run,
};
