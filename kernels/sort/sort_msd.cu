/* sort_msd: radix sort from the most significant digit, then in shared memory.
 * Source:  Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs",
 *          SIGMOD 2017; space is claimed by atomics, because order need not be kept.
 * Work:    O(n) per level; one or two levels for uniform keys, more where keys are skewed.
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
 *   1. Their keys are counted by their next digit, and the lowest and the highest found. The
 *      block that counts a bucket's last keys plans what becomes of it (plan.cuh):
 *      - Few values? The counts say all, and the result is written from them.
 *      - Keys within half of the range or less? It is a bucket of the next level, with a range
 *        that fits.
 *      - Else it is partitioned. Small neighbours among its parts will share a leaf, and what is
 *        too large will be a bucket of the next level.
 *   2. Tiles of keys are partitioned: by one shared atomic per key and one global atomic per
 *      digit and tile, which claims space for a run (levels.cuh, partition.cuh).
 *
 * Leaves are sorted in shared memory (leaf_sort.cuh). An array of one leaf takes one block. Small
 * arrays take one launch, and the sample's. Of large arrays, each step of the first levels is a
 * launch, with as many registers and blocks as suit it; the last launch sorts leaves that were
 * deferred, and does what levels are left. A sample says which digits to count (division.cuh).
 * Where two levels are needed, the first one counts the digits of both. The second then knows no
 * lowest and highest key, and reads none to count it. */
#include "dispatch.cuh"

namespace SCANBENCH_BACKEND::bucket_sort::msd
{

/* Has in the L2, all at once, what the first level touches one after the other. */
__device__ __forceinline__ void prefetch_state(const control *control, const level_lists &lists,
                                               unsigned digits)
{
    prefetch_array(reinterpret_cast<const char *>(control),
                   offsetof(struct control, of_level) + 2 * sizeof(lengths));
    prefetch_array(lists.buckets, 1);
    prefetch_array(lists.counts, digits);
    prefetch_array(lists.leaves, digits);
}

/* Does all levels from the first on in one launch. Of a large array, it first sorts the leaves that
 * leaves_kernel deferred. */
template <class Order, unsigned COUNT, unsigned LEAF_COUNT = COUNT, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS, policy::all_steps.blocks)
    msd_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
               const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
               unsigned first_level)
{
    if (control->disabled)
        return;
    if (first_level == 0)
        prefetch_state(control, sets.set[0], 1u << shape.bits);
    if constexpr (LEAF_COUNT == LEAVES_KEYS<Key>)
        if (__ldcg(&control->has_skewed)) {
            sort_deferred<Order>(arrays, control->of_level, sets);
            grid_barrier(&control->arrived); /* levels use the same lists */
        }
    sort_levels<Order, COUNT, LEAF_COUNT>(arrays, control, sets, shape, first_level);
}

/* One block samples the array, and chooses the first digits and whether this sort or the next one
 * works. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(SAMPLE_KEYS)
    choose_digits_kernel(const Key *in, control *control, bucket *first_bucket, hand_over *next,
                         const __grid_constant__ shape shape,
                         const __grid_constant__ sampling sampling)
{
    enum { TOO_MANY = SAMPLE_KEYS / 8 };
    auto *shared = shared_memory<sampling_layout<Key>>();
    let_next_launch_begin();
    const leaf_sort::held<Key, SAMPLE_KEYS, 1> sample = {
        {Order()(in[sampled_place(threadIdx.x, sampling.part)])}, SAMPLE_KEYS};
    const leaf_sort::extent<Key> extent = leaf_sort::extent_of(&shared->leaf, sample);
    leaf_sort::extent<Key> values = extent;
    if constexpr (IS_FLOAT<Order>)
        values = wider_extent(extent);
    const auto skewed = [&](const first_digits &digits) {
        return skewed_by(digits, shared, sample.rank[0], values, shape, sampling);
    };
    first_digits digits = digits_by_rank(extent, shape);
    unsigned needing_more = 0;
    if (IS_FLOAT<Order> || next != nullptr)
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
    if (next != nullptr) {
        control->disabled = needing_more > TOO_MANY;
        next->disabled = needing_more <= TOO_MANY;
    }
}

/* Step 1 of a level of a large array. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(policy::count.threads, policy::count.blocks)
    count_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                 const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                 unsigned level)
{
    wait_for_launch_before();
    if (!control->disabled)
        count_level<Order>(arrays, shape, level, control, sets.set[level % 2],
                           sets.set[1 - level % 2]);
}

/* Step 2. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(policy::partition.threads, policy::partition.blocks)
    partition_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                     const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                     unsigned level)
{
    wait_for_launch_before();
    if (control->disabled)
        return;
    if (level == 1)
        clear_fine_counts(control, 1u << (shape.bits + shape.fine_bits));
    partition_level<Order, policy::partition.threads, PARTITION_KEYS<Key>>(
        arrays, shape, level, control, sets.set[level % 2]);
    write_pieces<Order>(arrays, shape.piece, &control->of_level[level], sets.set[level % 2]);
}

/* Sorts the leaves of one level or two. Skewed leaves are deferred: code for them would take
 * registers. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(policy::leaves.threads, policy::leaves.blocks)
    leaves_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                  const __grid_constant__ list_sets sets, unsigned first_level)
{
    const lengths *own = &control->of_level[first_level];
    job leaf;
    wait_for_launch_before();
    if (control->disabled) /* sooner than it would see that there are no leaves */
        return;
#pragma unroll 1
    for (unsigned l = blockIdx.x;; l += gridDim.x) {
        job *its = find_leaf(own, sets, l, &leaf);
        if (its == nullptr)
            break;
        if (leaf_agent<Order, leaves_layout<Key>>(arrays, leaf).sort_by_bins(leaf.bits) &&
            threadIdx.x == 0) {
            its->bits = (uint16_t)SKEWED;
            control->has_skewed = true;
        }
        __syncthreads(); /* before shared memory is used again */
    }
}

/* Sorts an array of one leaf. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(policy::one_leaf.threads)
    leaf_kernel(arrays<Key> arrays, unsigned n)
{
    using layout = one_leaf_layout<Key>;
    leaf_sort::agent<Order, layout>{shared_memory<layout>(), arrays.in, n, arrays.out}.sort(0,
                                                                                            true);
}

/* ---- the host's side ---- */

void prepare(const struct call *call)
{
    if (is_one_leaf(&call->problem))
        return;
    with_key_width(call->problem.type, [&]<class Key>() {
        const scratch<Key> scratch = scratch_of<Key>(call, MSD);
        prepare_scratch(call, scratch);
        /* In large arrays, leaves are read before it is known that there are so many. */
        if (is_large<Key>(&call->problem))
            for (const level_lists &list : scratch.lists.set)
                clear(call, list.leaves, scratch.leaves);
    });
}

/* Launches the kernels of a call. */
template <class Order> struct launcher {
    using Key = typename Order::key;
    const struct call *call;
    const struct problem *problem;
    scratch<Key> memory;
    bucket_sort::arrays<Key> arrays;
    size_t key_bytes;
    bool overlaps;

    explicit launcher(const struct call *call)
        : call(call), problem(&call->problem), memory(scratch_of<Key>(call, MSD)),
          arrays(arrays_of(call, memory.other)), key_bytes(problem->n * sizeof(Key)),
          overlaps(has_sm_90(problem->device))
    {
    }

    void choose_digits(hand_over *next) const
    {
        launch<choose_digits_kernel<Order>>(
            queue_of(call),
            {.blocks = 1, .threads = SAMPLE_KEYS, .shared_bytes = sizeof(sampling_layout<Key>)},
            arrays.in, memory.state, memory.lists.set[0].buckets, next, memory.shape,
            sampling_of<Key>(problem));
    }

    /* Launches the steps of one of `levels` levels. */
    void run_level(unsigned level, unsigned levels) const
    {
        shape shape = memory.shape;
        const size_t shared_bytes = count_bytes<Key>(shape.bits + shape.fine_bits);
        const bool is_counted = level == 1 && shape.fine_bits > 0;
        if (level + 1 == levels)
            shape.next_tile = tile_of<Key>(problem);
        launch<count_kernel<Order>>(queue_of(call),
                                    {.blocks = resident_blocks(call, count_kernel<Order>,
                                                               policy::count.threads, shared_bytes),
                                     .threads = policy::count.threads,
                                     .traffic = {is_counted ? 0 : key_bytes},
                                     .shared_bytes = shared_bytes,
                                     .overlaps = overlaps},
                                    arrays, memory.state, memory.lists, shape, level);
        launch<partition_kernel<Order>>(
            queue_of(call),
            {.blocks = resident_blocks(call, partition_kernel<Order>, policy::partition.threads,
                                       sizeof(shared_layout<Key>)),
             .threads = policy::partition.threads,
             .traffic = {2 * key_bytes},
             .shared_bytes = sizeof(shared_layout<Key>),
             .overlaps = overlaps},
            arrays, memory.state, memory.lists, shape, level);
    }

    /* Launches a block for each leaf of evenly spread keys. The leaves of floats are of two digits
     * then. */
    void run_leaves(unsigned first_level) const
    {
        const unsigned log2_leaves =
            memory.shape.bits + memory.shape.next_bits - (IS_FLOAT<Order> ? 1 : 0);
        launch<leaves_kernel<Order>>(queue_of(call),
                                     {.blocks = (uint64_t)1 << log2_leaves,
                                      .threads = policy::leaves.threads,
                                      .traffic = {2 * key_bytes},
                                      .shared_bytes = sizeof(leaves_layout<Key>),
                                      .overlaps = overlaps},
                                     arrays, memory.state, memory.lists, first_level);
    }

    /* Launches all levels from the first on, by as many blocks as there are tiles and leaves for.
     */
    template <unsigned COUNT, unsigned LEAF_COUNT = COUNT> void run_rest(unsigned first_level) const
    {
        constexpr size_t shared_bytes = std::max(
            sizeof(shared_layout<Key>), sizeof(leaf_sort::shared_layout<Key, THREADS, LEAF_COUNT>));
        constexpr auto *kernel = msd_kernel<Order, COUNT, LEAF_COUNT>;
        shape shape = memory.shape;
        const uint64_t useful =
            std::max(ceil_div(problem->n, shape.tile), ceil_div(problem->n, shape.leaf / 2));
        shape.tile = shape.next_tile = tile_of<Key>(problem);
        launch<kernel>(
            queue_of(call),
            {.blocks = std::min(resident_blocks(call, kernel, THREADS, shared_bytes), useful),
             .threads = THREADS,
             .traffic = {first_level > 0 ? 0 : 2 * key_bytes},
             .shared_bytes = shared_bytes,
             .cooperative = true},
            arrays, memory.state, memory.lists, shape, first_level);
    }

    /* Levels whose steps are launches: those that uniform keys need, where arrays are large. */
    unsigned levels_in_launches() const
    {
        if (!is_large<Key>(problem))
            return 0;
        return problem->n >> memory.shape.bits <= memory.shape.leaf ? 1 : 2;
    }

    void run(hand_over *next) const
    {
        const unsigned levels = levels_in_launches();
        choose_digits(next);
        for (unsigned level = 0; level < levels; level++) {
            run_level(level, levels);
            /* Leaves of one level are listed where those of the one after the next will be. */
            if (level % 2 == 1 || level + 1 == levels)
                run_leaves(level / 2 * 2);
        }
        /* The most keys per block where no step is a launch. */
        constexpr unsigned MOST_SHARE = LARGE_BYTES / sizeof(Key) / policy::all_steps.blocks;
        static_assert(MOST_SHARE <= SOME_KEYS * THREADS);
        if (levels > 0)
            run_rest<MANY_KEYS<Key>, LEAVES_KEYS<Key>>(levels);
        else if (keys_for<Key>(problem) == FEW_KEYS)
            run_rest<FEW_KEYS>(levels);
        else if constexpr (MOST_SHARE > FEW_KEYS * THREADS / 2)
            run_rest<SOME_KEYS>(levels);
    }
};

template <class Order> static void sort_one_leaf(const struct call *call)
{
    using Key = typename Order::key;
    launch<leaf_kernel<Order>>(queue_of(call),
                               {.blocks = call->problem.n > 0 ? 1u : 0u,
                                .threads = policy::one_leaf.threads,
                                .traffic = {2 * call->problem.n * sizeof(Key)},
                                .shared_bytes = sizeof(one_leaf_layout<Key>)},
                               arrays_of<Key>(call, nullptr), (unsigned)call->problem.n);
}

void run(const struct call *call, hand_over *next)
{
    with_order(call->problem.type, [&]<class Order>(Order) {
        if (is_one_leaf(&call->problem))
            sort_one_leaf<Order>(call);
        else
            launcher<Order>(call).run(next);
    });
}

} // namespace SCANBENCH_BACKEND::bucket_sort::msd

ALGORITHM_DESCRIPTOR(sort_msd) = {
    .name = "msd",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "most significant digit first, then in shared memory",
    .source = "after Stehle and Jacobsen 2017",
    .supports = SCANBENCH_BACKEND::bucket_sort::why_not_msd,
    .scratch_bytes =
        SCANBENCH_BACKEND::bucket_sort::scratch_bytes<SCANBENCH_BACKEND::bucket_sort::MSD>,
    .prepare = SCANBENCH_BACKEND::bucket_sort::msd::prepare,
    .run = [](const struct call *call) { SCANBENCH_BACKEND::bucket_sort::msd::run(call, nullptr); },
};
