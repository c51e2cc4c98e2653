/* sort_sample: sample sort of keys that fit the L2: one partition by splitters, then in shared
 * memory.
 * Source:  Frazer and McKellar, "Samplesort: a sampling approach to minimal storage tree sorting",
 *          JACM 1970; Leischner, Osipov and Sanders, "GPU sample sort", IPDPS 2010.
 * Work:    O(n log b) for b buckets, and sorts in shared memory.
 * Depth:   one to three barriers of the grid and one or two sorts in shared memory, unless a
 *          bucket overflows.
 * DRAM:    2n, and 2n in the L2.
 * Shared:  a tile or a leaf of 32 KiB, splitters, and counters.
 * Relies:  on all blocks being resident, or a barrier of the grid would wait for ever: the launch
 *          is cooperative, its grid from the occupancy query. Not on any order of atomics.
 *
 * Each block does these steps:
 *
 *   1. It divides keys into buckets by a sample of OVERSAMPLING keys per bucket, as every other
 *      block does (sample_division.cuh). The range of a large sample is cut into bins, and the sums
 *      of their counts say to which bucket a bin belongs. If keys are skewed in bins, or the sample
 *      is small, every OVERSAMPLINGth key of the sorted sample is a splitter. Each block sorts a
 *      small sample itself, because to share the work, all blocks would have to meet at one more
 *      barrier of the grid. They do share a large one, unless bins sort its few values, and rank
 *      its keys without sorting them.
 *   2. It partitions tiles into the buckets (partition_tile.cuh). No counts are needed first,
 *      because the capacity of a bucket is at least four times the keys that it should get. A value
 *      that equals two splitters has a bucket to itself, whose keys are only counted.
 *   3. It sorts buckets in shared memory (leaf_sort.cuh), one after the other, as long as any is
 *      left. All blocks write the buckets of one value.
 *
 * If sort_adaptive has queued another sort, it gets the skewed keys of large arrays, unless they
 * have only few values.
 *
 * A bucket hardly ever gets more keys than a block can sort, except of keys that were chosen to
 * defeat this sample. If it does, the levels of sort_msd sort the array. */
#include "msd_host.cuh"
#include "msd_levels.cuh"
#include "sample_division.cuh"

#include <bit>

namespace SCANBENCH_BACKEND::sample_sort
{

/* ---- 3. Buckets ---- */

/* Fetches the counts of all buckets, and finds where each starts in the result and which have one
 * value. */
template <class Order>
__device__ __forceinline__ void fetch_counts(const divided<Order> &divided,
                                             const call_counts *counts)
{
    auto *shared = divided.shared;
    if (threadIdx.x == 0)
        shared->alike_count = 0;
    own_buckets<THREADS, MAX_BUCKETS>(divided.buckets)
        .counts_to_starts(
            shared->tile.warp_totals,
            [&](unsigned, unsigned bucket) {
                return shared->counts[bucket] = __ldcg(&counts->of_bucket[bucket]);
            },
            [&](unsigned, unsigned bucket, unsigned start) {
                shared->starts[bucket] = start;
                if (divided.is_one_value(bucket) && shared->counts[bucket] > 0)
                    shared->alike[atomicAdd(&shared->alike_count, 1u)] = bucket;
            });
    __syncthreads();
}

/* Writes the buckets of one value. All blocks call it. */
template <class Order, class Key>
__device__ __forceinline__ void write_alike(const shared_layout<Order> *shared, Key *out)
{
    for (unsigned a = 0; a < shared->alike_count; a++) {
        const unsigned bucket = shared->alike[a];
        const Key key = Order().inverse(shared->splitters[bucket]);
        Key *to = out + shared->starts[bucket];
        for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < shared->counts[bucket];
             i += gridDim.x * THREADS)
            to[i] = key;
    }
}

/* Sorts the other buckets. A block that is done with one takes the next that no block has. */
template <class Order, class Key>
__device__ __forceinline__ void sort_buckets(const divided<Order> &divided, call_counts *counts,
                                             const Key *from, Key *out)
{
    auto *shared = divided.shared;
    const bool looks = divided.task.shape.is_large() && divided.kind != BY_BINS;
    const bool has_more = gridDim.x < divided.buckets;
    for (unsigned b = blockIdx.x, turn = 0; b < divided.buckets; turn = 1 - turn) {
        if (shared->counts[b] > 0 && !divided.is_one_value(b))
            sort_keys_of_block<Order>(from + (size_t)b * CAPACITY<Key>, shared->counts[b],
                                      out + shared->starts[b], looks);
        if (!has_more)
            return;
        if (threadIdx.x == 0)
            shared->next_bucket[turn] = gridDim.x + atomicAdd(&counts->tickets, 1u);
        __syncthreads();
        b = shared->next_bucket[turn];
    }
}

/* Clears the counts of the next call. */
__device__ __forceinline__ void clear_counts(call_counts *counts)
{
    const unsigned first = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned b = first; b < MAX_BUCKETS; b += gridDim.x * THREADS)
        counts->of_bucket[b] = 0;
    if (first == 0)
        counts->overflows = counts->tickets = 0;
}

/* Sorts an array of ranks by the levels of sort_msd. It is compiled for ranks alone, because it is
 * long and hardly ever runs. */
template <class Key> __device__ __noinline__ void sort_ranks(const msd::task<Key> &task)
{
    msd::sort_levels<unsigned_order<Key>, msd::MANY_KEYS<Key>>(task, 0);
}

/* Sorts the array if a bucket has overflown. Keys are mapped to ranks before and back after. */
template <class Order, class Key>
__device__ __forceinline__ void sort_overflown(const task<Key> &task)
{
    const unsigned first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;
    msd::task<Key> of_ranks = task.msd;
    Key *out = task.msd.arrays.out;
    for (unsigned i = first; i < task.shape.n; i += step)
        out[i] = Order()(task.msd.arrays.in[i]);
    grid_barrier(&task.state->arrived);
    of_ranks.arrays.in = out;
    sort_ranks(of_ranks);
    grid_barrier(&task.state->arrived);
    for (unsigned i = first; i < task.shape.n; i += step)
        out[i] = Order().inverse(out[i]);
}

/* The one launch of the sort. COUNT: keys per thread of a tile. */
template <class Order, unsigned COUNT, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS(THREADS, msd::POLICY<Key>.levels.blocks)
    sample_sort_kernel(const __grid_constant__ task<Key> task)
{
    auto *shared = shared_memory<shared_layout<Order>>();
    const auto &shape = task.shape;
    const auto &arrays = task.msd.arrays;
    state<Key> *state = task.state;
    tile_keys<Key, THREADS, COUNT, false> keys;
    uint64_t first = (uint64_t)blockIdx.x * shape.tile;
    const auto load_tile = [&] {
        keys.count = first < shape.n ? min(shape.tile, (unsigned)(shape.n - first)) : 0;
        keys.load(arrays.in + first);
    };
    if (first < shape.n) /* the first tile is on its way to the L2 while buckets are chosen */
        msd::prefetch_lines(arrays.in + first,
                            min(shape.tile, (unsigned)(shape.n - first)) * sizeof(Key));
    /* The parity is read before a barrier, because it changes after the last one. */
    const unsigned parity = __ldcg(&state->parity);
    unsigned *const other_disabled = state->other_disabled;
    divided<Order> divided = {shared, task, shape.buckets, BY_SPLITTERS};
    divided.kind = divided.choose(other_disabled != nullptr);
    if (other_disabled != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
        *other_disabled = divided.kind != BY_ANOTHER_SORT;
    if (divided.kind == BY_ANOTHER_SORT)
        return;
    call_counts *counts = &state->counts[parity];
    clear_counts(&state->counts[1 - parity]);
    const by_sample<Order, COUNT> buckets = {divided, arrays.other, counts, {}};
    load_tile(); /* keys are on their way while counts are cleared */
    shared->tile.template clear_counts<THREADS>(shape.buckets);
    __syncthreads();
    while (first < shape.n) {
        partition_tile(&shared->tile, buckets, buckets, keys, [] {});
        first += (uint64_t)gridDim.x * shape.tile;
        load_tile();
    }
    grid_barrier(&state->arrived);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        state->parity = 1 - parity;
    if (__ldcg(&counts->overflows)) {
        sort_overflown<Order>(task);
    } else {
        fetch_counts(divided, counts);
        write_alike(shared, arrays.out);
        sort_buckets(divided, counts, arrays.other, arrays.out);
    }
}

/* ---- the host's side ---- */

/* Fewer keys are sorted sooner by one block, as sort_msd does. */
enum { LEAST_KEYS = 8192 };

template <class Key> constexpr unsigned MOST_BUCKETS = MOST_SAMPLED<Key> / OVERSAMPLING;

template <class Key> static shape shape_of(const struct problem *problem)
{
    const auto n = (unsigned)problem->n;
    const unsigned tile =
        std::min(msd::keys_for<Key>(problem), (unsigned)ceil_div(msd::share_of(problem), THREADS)) *
        THREADS;
    const unsigned small = std::bit_ceil((unsigned)ceil_div(n, SHARE<Key> / 2));
    const unsigned buckets = std::max(std::min(small, (unsigned)SMALL_BUCKETS),
                                      std::bit_ceil((unsigned)ceil_div(n, SHARE<Key>)));
    return {n, tile, std::min(buckets, MOST_BUCKETS<Key>)};
}

/* Scratch is the state, and then that of msd, whose other array holds the buckets at their
 * capacity.
 */
template <class Key> static task<Key> task_of(const struct call *call, allocator *scratch)
{
    const struct problem *problem = &call->problem;
    const shape shape = shape_of<Key>(problem);
    task<Key> task = {scratch->get<state<Key>>(1), shape, {}};
    task.msd = msd::task_of<Key>(
        call, msd::small_shape<Key>(problem),
        std::max<uint64_t>(problem->n, (uint64_t)shape.buckets * CAPACITY<Key>), scratch);
    return task;
}

template <class Key> static const char *why_not(const struct problem *problem)
{
    if (problem->n < LEAST_KEYS)
        return "sorts at least 8192 keys: msd sorts fewer";
    if (problem->device->shared_bytes_per_block <
        std::max(sizeof(shared_layout<unsigned_order<Key>>), sizeof(msd::shared_layout<Key>)))
        return "needs more shared memory than this device gives a block";
    if (problem->n > (uint64_t)SHARE<Key> * MOST_BUCKETS<Key>)
        return "sorts no more keys than fit buckets of one block each: msd or onesweep does";
    return nullptr;
}

static const char *supports(const struct problem *problem)
{
    return with_key_width(problem->type, [&]<class Key>() { return why_not<Key>(problem); });
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct call call = {.problem = *problem};
    allocator scratch = {nullptr};
    if (supports(problem) == nullptr)
        with_key_width(problem->type, [&]<class Key>() { task_of<Key>(&call, &scratch); });
    return scratch.used;
}

static void prepare(const struct call *call)
{
    with_key_width(call->problem.type, [&]<class Key>() {
        allocator scratch = {call->scratch};
        const task<Key> task = task_of<Key>(call, &scratch);
        clear(call, task.state, sizeof(state<Key>));
        msd::prepare_task(call, task.msd);
    });
}

template <class Order, unsigned COUNT, class Key = typename Order::key>
static void sort_keys(const struct call *call)
{
    allocator scratch = {call->scratch};
    const task<Key> task = task_of<Key>(call, &scratch);
    const shape &shape = task.shape;
    launch_resident<sample_sort_kernel<Order, COUNT>>(
        call,
        {.blocks = std::max<uint64_t>(ceil_div(shape.n, shape.tile), shape.buckets),
         .threads = THREADS,
         .traffic = {2 * call->problem.n * sizeof(Key)},
         .shared_bytes = std::max(sizeof(shared_layout<Order>), sizeof(msd::shared_layout<Key>)),
         .cooperative = true},
        task);
}

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    with_order(problem->type, [&]<class Order>(Order) {
        using Key = typename Order::key;
        const unsigned keys = msd::keys_for<Key>(problem);
        if (keys == msd::FEW_KEYS)
            sort_keys<Order, msd::FEW_KEYS>(call);
        else if (keys == msd::SOME_KEYS)
            sort_keys<Order, msd::SOME_KEYS>(call);
        else
            sort_keys<Order, msd::MANY_KEYS<Key>>(call);
    });
}

static unsigned **other_disabled(const struct call *call)
{
    return with_key_width(call->problem.type, [&]<class Key>() {
        return &static_cast<state<Key> *>(call->scratch)->other_disabled;
    });
}

} // namespace SCANBENCH_BACKEND::sample_sort

const SCANBENCH_BACKEND::bucket_policy SCANBENCH_BACKEND::SAMPLE_SORT = {
    sample_sort::supports, sample_sort::scratch_bytes, sample_sort::prepare, sample_sort::run,
    sample_sort::other_disabled};

ALGORITHM_DESCRIPTOR(sort_sample) = {
    .name = "sample",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "one partition by splitters from a sample, then in shared memory; one launch",
    .source = "after Leischner, Osipov and Sanders 2010",
    .supports = SCANBENCH_BACKEND::sample_sort::supports,
    .scratch_bytes = SCANBENCH_BACKEND::sample_sort::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::sample_sort::prepare,
    .run = SCANBENCH_BACKEND::sample_sort::run,
};
