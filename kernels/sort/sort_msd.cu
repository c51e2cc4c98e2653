/* sort_msd: radix sort from the most significant digit, then in shared memory.
 * Source:  Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs",
 *          SIGMOD 2017; space is claimed by atomics, because order need not be kept.
 * Work:    O(n) per level; one or two levels for smoothly spread keys, more for skewed keys.
 * Depth:   two barriers of the grid per level, and a sort in shared memory.
 * DRAM:    2n per level, and n to count its keys, or once for two levels; 2n for the sorts in
 *          shared memory.
 * Shared:  a tile or a leaf of up to 68 KiB, and counters.
 * Relies:  on all blocks of msd_kernel being resident, or a barrier of the grid would wait for
 *          ever: the launch is cooperative, its grid from the occupancy query. Not on any order
 *          of atomics: keys that nobody can tell apart need no stable sort.
 *
 * A bucket is a range of the array whose keys all belong there. At first there is one, or, if keys
 * lie in parts already, level 0 is left out (msd_parts.cuh). A level takes the buckets that are too
 * large for shared memory:
 *
 *   1. Their keys are counted by their next digit, and the lowest and the highest key are found
 *      (msd_count.cuh). The block that counts a bucket's last keys plans what becomes of the bucket
 *      (msd_plan.cuh). If a digit is one value, the result is written from the counts. If the keys
 *      lie within a small part of the range, it is a bucket of the next level, with a range that
 *      fits. Otherwise it is partitioned: small neighbours among its parts will share a leaf, and a
 *      part that is too large for a leaf will be a bucket of the next level.
 *   2. Tiles of keys are partitioned (msd_partition.cuh): by one shared atomic per key and one
 *      global atomic per digit and tile, which claims space for a run.
 *
 * Leaves are sorted in shared memory (leaf_sort.cuh). An array of one leaf takes one block. Small
 * arrays take the launch of the sample and one more. For large arrays, each step of the first
 * levels is a launch of its own, with as many registers and blocks as suit it; the last launch
 * sorts deferred leaves and does the levels that are left. The sample says which digits to count
 * (msd_sample.cuh). Where two levels are needed, the first one counts the digits of both, unless
 * they are too many. The second level then reads no key to count it, and does not know the lowest
 * and the highest key of a bucket. If the sample has few values, keys are counted by value instead
 * (msd_values.cuh). */
#include "msd_host.cuh"
#include "msd_levels.cuh"
#include "msd_parts.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Loads into the L2, all at once, what the first level touches one after the other. */
template <class Key> __device__ __forceinline__ void prefetch_state(const task<Key> &task)
{
    const unsigned digits = 1u << task.shape.bits;
    const level_lists &lists = task.lists[0];
    prefetch_lines(task.control, offsetof(struct control, of_level) + 2 * sizeof(lengths));
    prefetch_lines(lists.buckets, sizeof(bucket));
    prefetch_lines(lists.counts, digits * (unsigned)sizeof(*lists.counts));
    prefetch_lines(lists.leaves, digits * (unsigned)sizeof(job));
}

/* The launch that does all steps of the levels from first_level on. For a large array, it first
 * sorts the leaves that leaves_kernel deferred. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS(POLICY<Key>.levels.threads, POLICY<Key>.levels.blocks)
    msd_kernel(const __grid_constant__ task<Key> task, unsigned first_level)
{
    control *control = task.control;
    if (control->disabled)
        return;
    if (first_level == 0)
        prefetch_state(task);
    if constexpr (LEAF_COUNT == POLICY<Key>.leaves.keys)
        if (__ldcg(&control->has_deferred)) {
            sort_deferred<Order>(task);
            grid_barrier(&control->arrived); /* levels use the same lists */
        }
    sort_levels<Order, COUNT, LEAF_COUNT>(task, first_level);
}

/* The choice of a block, by a sample of a key per thread. Keys of few values are counted, unless a
 * digit is one value already. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ choice choice_by_sample(sampling_layout<Key> *shared, Key rank,
                                                   leaf_sort::extent<Key> extent,
                                                   const task<Key> &task, const sampling &sampling)
{
    control *control = task.control;
    if (digits_by_rank(extent, task.shape).shift > 0 && !sampling.has_parts && seem_few(rank)) {
        const unsigned values = list_values(shared, rank, control->values);
        if (values > 0) {
            if (threadIdx.x == 0)
                control->log2_bins = 0;
            return {{.bits = bit_length(values), .kind = LISTED_VALUES}, 0, 0, true};
        }
    }
    const bool is_even = are_even<Order>(shared, rank, extent);
    const leaf_sort::extent<Key> wide = wider<Order>(extent, parts_per_margin(is_even, task.shape));
    const choice choice =
        choose_digits<Order>(shared, rank, extent, wide, is_even, task.shape, sampling);
    if (threadIdx.x == 0) {
        const first_digits &digits = choice.digits;
        const auto range = range_of_digits(digits, wide);
        control->lowest = range.lowest;
        control->highest = range.highest;
        /* Bits of integers are bins too, if a bin has two ranks or more. */
        const bool are_bits = digits.kind == BITS_OF_RANK;
        const bool have_bins = !are_bits || (!IS_FLOAT<Order> && digits.shift > choice.next_bits);
        control->log2_bins = have_bins ? choice.all_bits() : 0;
        control->bin_shift = are_bits && have_bins ? digits.shift - choice.next_bits : 0;
        const unsigned leaf = task.shape.leaf;
        task.lists[0].buckets->leaf = (uint16_t)(is_even ? leaf : leaf_of_uneven(leaf));
    }
    return choice;
}

/* One block chooses the first digits, and decides whether this sort or another one sorts the array.
 */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(POLICY<Key>.choice.threads)
    choose_digits_kernel(const __grid_constant__ task<Key> task,
                         const __grid_constant__ sampling sampling)
{
    auto *shared = shared_memory<sampling_layout<Key>>();
    control *control = task.control;
    let_next_launch_begin();
    unsigned *other_disabled = control->other_disabled;
    const tile_keys<Key, SAMPLE, 1> sample = {
        {Order()(task.arrays.in[sampled_place(threadIdx.x, sampling.part)])}, SAMPLE};
    const leaf_sort::extent<Key> extent = shared->leaf.extent_of(sample);
    const choice choice = choice_by_sample<Order>(shared, sample.rank[0], extent, task, sampling);
    if (threadIdx.x > 0)
        return;
    const first_digits &digits = choice.digits;
    bucket *first_bucket = task.lists[0].buckets;
    first_bucket->base = digits.base;
    first_bucket->bits = digits.bits;
    first_bucket->shift = digits.shift;
    first_bucket->kind = (uint16_t)digits.kind;
    first_bucket->bin_bits = choice.next_bits;
    const bool are_counted_at_once = choice.all_bits() <= task.shape.most_bits;
    first_bucket->fine_bits = are_counted_at_once ? choice.next_bits : 0;
    if (other_disabled != nullptr) {
        control->disabled = !choice.suits;
        *other_disabled = choice.suits;
    }
}

/* The launch of step 1 of a level, where arrays are large. */
template <class Order, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS(POLICY<Key>.count.threads, POLICY<Key>.count.blocks)
    count_kernel(const __grid_constant__ task<Key> task, unsigned level)
{
    wait_for_launch_before();
    if (!task.control->disabled)
        count_level<Order>(task, level);
}

/* The launch of step 2 of a level, where arrays are large. */
template <class Order, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS(POLICY<Key>.partition.threads, POLICY<Key>.partition.blocks)
    partition_kernel(const __grid_constant__ task<Key> task, unsigned level)
{
    constexpr launch_policy PARTITION = POLICY<Key>.partition;
    wait_for_launch_before();
    if (task.control->disabled)
        return;
    if (level == 1)
        clear_fine_counts(task.control, 1u << task.shape.most_bits);
    partition_level<Order, PARTITION.threads, PARTITION.keys>(task, level);
    write_pieces<Order>(task, level);
}

/* The launch that sorts the leaves of one level or two, where arrays are large. Leaves of skewed
 * keys are deferred, because the code for them would take registers. */
template <class Order, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS(POLICY<Key>.leaves.threads, POLICY<Key>.leaves.blocks)
    leaves_kernel(const __grid_constant__ task<Key> task, unsigned first_level)
{
    auto *agent = shared_memory<leaves_layout<Key>>();
    const auto &arrays = task.arrays;
    job leaf;
    wait_for_launch_before();
    if (task.control->disabled) /* the lists of leaves say the same, but later */
        return;
#pragma unroll 1
    for (unsigned l = blockIdx.x;; l += gridDim.x) {
        job *its = find_leaf(task, first_level, l, &leaf);
        if (its == nullptr)
            break;
        const bool is_skewed = agent->template sort_by_bins<Order>(
            arrays.at(leaf.place) + leaf.first, leaf.count, arrays.out + leaf.first, leaf.bits);
        if (is_skewed && threadIdx.x == 0) {
            its->bits = (uint16_t)DEFERRED;
            task.control->has_deferred = true;
        }
        __syncthreads(); /* before shared memory is used again */
    }
}

/* The shared memory for an array of one leaf, which is larger than that of other leaves. */
template <class Key>
using leaf_layout = leaf_sort::agent<Key, POLICY<Key>.one_leaf.threads, POLICY<Key>.one_leaf.keys>;

/* The launch that sorts an array of one leaf. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(POLICY<Key>.one_leaf.threads)
    leaf_kernel(const Key *in, Key *out, unsigned n)
{
    shared_memory<leaf_layout<Key>>()->template sort<Order>(in, n, out, 0, true);
}

/* ---- the host's side ---- */

template <class Key> static task<Key> own_task(const struct call *call, allocator *scratch)
{
    return task_of<Key>(call, shape_of<Key>(&call->problem), call->problem.n, scratch);
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct call call = {.problem = *problem};
    allocator scratch = {nullptr};
    with_key_width(problem->type, [&]<class Key>() {
        if (!is_one_leaf<Key>(problem))
            own_task<Key>(&call, &scratch);
    });
    return scratch.used;
}

static const char *supports(const struct problem *problem)
{
    if (problem->device->shared_bytes_per_block <
        std::max({sizeof(leaf_layout<uint64_t>), sizeof(shared_layout<uint64_t>),
                  sizeof(leaves_layout<uint32_t>), sizeof(leaves_layout<uint64_t>)}))
        return "needs more shared memory than this device gives a block";
    if (problem->n > UINT32_MAX)
        return "sorts at most 2^32-1 keys: onesweep sorts more";
    return why_too_much(problem, scratch_bytes(problem));
}

/* Clears the lists of leaves of a large array too, of which a leaf is read before the length of its
 * list is known. */
static void prepare(const struct call *call)
{
    const struct problem *problem = &call->problem;
    with_key_width(problem->type, [&]<class Key>() {
        if (is_one_leaf<Key>(problem))
            return;
        allocator scratch = {call->scratch};
        const task<Key> task = own_task<Key>(call, &scratch);
        prepare_task(call, task);
        if (is_large<Key>(problem))
            for (const level_lists &lists : task.lists)
                clear(call, lists.leaves,
                      capacities_of<Key>(problem, task.shape).leaves * sizeof(job));
    });
}

/* Launches the steps of a level, each by itself. */
template <class Order, class Key = typename Order::key>
static void run_level(const struct call *call, const task<Key> &task, unsigned level)
{
    constexpr sort_policy POLICY = msd::POLICY<Key>;
    const bool overlaps = has_sm_90(call->problem.device);
    const uint64_t key_bytes = task.shape.n * sizeof(Key);
    /* If keys lie in parts, level 0 touches none of them, and level 1 counts them. */
    const bool has_parts = call->parts != nullptr,
               is_planned = level == 0 || task.shape.next_bits > 0;
    const bool is_idle = has_parts ? level == 0 : !is_planned;
    const bool counts = level == 0 ? !has_parts : has_parts || task.shape.most_bits == 0;
    launch_resident<count_kernel<Order>>(call,
                                         {.blocks = ALL_RESIDENT,
                                          .threads = POLICY.count.threads,
                                          .traffic = {counts ? key_bytes : 0},
                                          .shared_bytes = count_bytes<Key>(task.shape.most_bits),
                                          .overlaps = overlaps},
                                         task, level);
    launch_resident<partition_kernel<Order>>(call,
                                             {.blocks = ALL_RESIDENT,
                                              .threads = POLICY.partition.threads,
                                              .traffic = {is_idle ? 0 : 2 * key_bytes},
                                              .shared_bytes = sizeof(shared_layout<Key>),
                                              .overlaps = overlaps},
                                             task, level);
}

/* Launches a block for each leaf of evenly spread keys. */
template <class Order, class Key = typename Order::key>
static void run_leaves(const struct call *call, const task<Key> &task, unsigned first_level)
{
    launch<leaves_kernel<Order>>(queue_of(call),
                                 {.blocks = 1ull << (task.shape.bits + task.shape.next_bits),
                                  .threads = POLICY<Key>.leaves.threads,
                                  .traffic = {2 * task.shape.n * sizeof(Key)},
                                  .shared_bytes = sizeof(leaves_layout<Key>),
                                  .overlaps = has_sm_90(call->problem.device)},
                                 task, first_level);
}

/* Launches all levels from first_level on, together. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
static void run_rest(const struct call *call, task<Key> task, unsigned first_level)
{
    /* There are tiles and leaves for so many. */
    const uint64_t useful = std::max(ceil_div(task.shape.n, task.shape.tile),
                                     ceil_div(task.shape.n, task.shape.leaf / 2));
    task.shape.tile = task.shape.next_tile = tile_of<Key>(&call->problem);
    launch_resident<msd_kernel<Order, COUNT, LEAF_COUNT>>(
        call,
        {.blocks = useful,
         .threads = THREADS,
         .traffic = {first_level > 0 ? 0 : 2 * task.shape.n * sizeof(Key)},
         .shared_bytes = std::max(sizeof(shared_layout<Key>),
                                  sizeof(leaf_sort::agent<Key, THREADS, LEAF_COUNT>)),
         .cooperative = true},
        task, first_level);
}

/* Sorts more than one leaf. Each step of the levels that normally distributed keys need is a launch
 * of its own where the array is large. */
template <class Order, class Key = typename Order::key>
static void sort_many(const struct call *call)
{
    const struct problem *problem = &call->problem;
    allocator scratch = {call->scratch};
    const task<Key> task = own_task<Key>(call, &scratch);
    const unsigned levels = task.shape.levels > 0 && call->parts != nullptr ? 2 : task.shape.levels;
    launch<choose_digits_kernel<Order>>(
        queue_of(call),
        {.blocks = 1, .threads = SAMPLE, .shared_bytes = sizeof(sampling_layout<Key>)}, task,
        sampling_of<Key>(call));
    for (unsigned level = 0; level < levels; level++) {
        msd::task<Key> its = task;
        if (level + 1 == levels)
            its.shape.next_tile = tile_of<Key>(problem);
        if (level == 0 && call->parts != nullptr)
            launch<take_parts_kernel<Key>>(queue_of(call), {.blocks = 1, .threads = THREADS}, its,
                                           call->parts, leaf_of_parts(problem, task.shape));
        run_level<Order>(call, its, level);
        /* The leaves of a level are listed where those of the level after the next will be. */
        if (level % 2 == 1 || level + 1 == levels)
            run_leaves<Order>(call, task, level / 2 * 2);
    }
    /* The most keys per block where no step is a launch of its own. */
    constexpr unsigned MOST_SHARE = LARGE_SHARE / sizeof(Key) / POLICY<Key>.levels.blocks;
    static_assert(MOST_SHARE <= SOME_KEYS * THREADS);
    if (levels > 0)
        run_rest<Order, MANY_KEYS<Key>, POLICY<Key>.leaves.keys>(call, task, levels);
    else if (keys_for<Key>(problem) == FEW_KEYS)
        run_rest<Order, FEW_KEYS>(call, task, levels);
    else if constexpr (MOST_SHARE > FEW_KEYS * THREADS / 2)
        run_rest<Order, SOME_KEYS>(call, task, levels);
}

template <class Order, class Key = typename Order::key>
static void sort_keys(const struct call *call)
{
    const uint64_t n = call->problem.n;
    if (!is_one_leaf<Key>(&call->problem))
        sort_many<Order>(call);
    else if (n > 0)
        launch<leaf_kernel<Order>>(queue_of(call),
                                   {.blocks = 1,
                                    .threads = POLICY<Key>.one_leaf.threads,
                                    .traffic = {2 * n * sizeof(Key)},
                                    .shared_bytes = sizeof(leaf_layout<Key>)},
                                   static_cast<const Key *>(call->input),
                                   static_cast<Key *>(call->output), (unsigned)n);
}

static void run(const struct call *call)
{
    with_order(call->problem.type, [&](auto order) { sort_keys<decltype(order)>(call); });
}

static unsigned **other_disabled(const struct call *call)
{
    return &static_cast<control *>(call->scratch)->other_disabled;
}

} // namespace SCANBENCH_BACKEND::msd

const SCANBENCH_BACKEND::bucket_policy SCANBENCH_BACKEND::MSD_SORT = {
    msd::supports, msd::scratch_bytes, msd::prepare, msd::run, msd::other_disabled};

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
