/* sort_sample: sample sort of keys that fit the L2: one partition by splitters, then in shared
 * memory.
 * Source:  Frazer and McKellar, "Samplesort: a sampling approach to minimal storage tree sorting",
 *          JACM 1970; Leischner, Osipov and Sanders, "GPU sample sort", IPDPS 2010.
 * Work:    O(n log b) for b buckets, and sorts in shared memory.
 * Depth:   one or two barriers of the grid and one or two sorts in shared memory, unless a
 *          bucket overflows.
 * DRAM:    2n, and 2n in the L2.
 * Shared:  a tile or a leaf of 32 KiB, splitters, and counters.
 * Relies:  on all blocks being resident, or a barrier of the grid would wait for ever: the launch
 *          is cooperative, its grid from the occupancy query. Not on any order of atomics.
 *
 *   1. Each block finds the same division of the keys into buckets from the same sample of
 *      OVERSAMPLING keys per bucket (sample_division.cuh): that all blocks do the same takes less
 * time than one more barrier of the grid. The range of the sample is cut into bins, whose keys are
 *      counted; the sums of the counts give each bin's bucket. Where keys are skewed, the sample is
 *      sorted, and every OVERSAMPLINGth key is a splitter.
 *   2. Tiles are partitioned into the buckets, by one shared atomic per key and one global atomic
 * per bucket and tile. No counts are needed first, because a bucket has capacity for about four
 * times the keys that it should get. A value that is two splitters has a bucket to itself, whose
 * keys are only counted.
 *   3. A block sorts a bucket in shared memory (leaf_sort.cuh). All blocks write buckets of one
 * value.
 *
 * It leaves large arrays of skewed keys to another sort, if there is one, unless their values are
 * few.
 *
 * If a bucket gets more keys than it has capacity for, the levels of buckets (levels.cuh) sort the
 * array. Chance hardly ever brings that about, but keys chosen to defeat this sample can. */
#include "dispatch.cuh"

namespace SCANBENCH_BACKEND::bucket_sort::sample
{

/* ---- 2. partition ---- */

/* The places of buckets that were not counted: as many as each has capacity for. */
template <class Key> struct bounded_places {
    struct cursor {
        unsigned first, count;
    };
    const shared_layout<Key> *shared;
    call_counts *counts;
    unsigned buckets;
    bool splitters_repeat;

    __device__ __forceinline__ cursor claim(unsigned bucket, unsigned count) const
    {
        return {count > 0 ? atomicAdd(&counts->of_bucket[bucket], count) : 0, count};
    }
    __device__ __forceinline__ unsigned destination(unsigned bucket, cursor claimed,
                                                    unsigned start) const
    {
        if (splitters_repeat && is_one_value(shared, buckets, bucket))
            return NOWHERE;
        if (claimed.first + claimed.count <= CAPACITY<Key>)
            return bucket * CAPACITY<Key> + claimed.first - start;
        counts->overflows = true;
        return NOWHERE;
    }
    static __device__ __forceinline__ bool has(unsigned destination)
    {
        return destination != NOWHERE;
    }
};

/* ---- 3. buckets ---- */

/* The sum of the block's earlier threads. Has one barrier. */
template <class Key>
__device__ __forceinline__ unsigned sum_before(shared_layout<Key> *shared, unsigned sum)
{
    const unsigned warp = threadIdx.x / WARP, inclusive = warp_inclusive_sum(sum);
    if (lane_index() == WARP - 1)
        shared->warp_totals[warp] = inclusive;
    __syncthreads();
    return sum_of_first(warp, shared->warp_totals) + inclusive - sum;
}

/* Fetches the counts of all buckets, and finds where each starts in the result. */
template <class Key>
__device__ __forceinline__ void fetch_counts(shared_layout<Key> *shared, const shape &shape,
                                             bool splitters_repeat, const call_counts *counts)
{
    constexpr unsigned OWN = MAX_BUCKETS / THREADS;
    const unsigned each = (shape.buckets + THREADS - 1) / THREADS, first = threadIdx.x * each;
    unsigned count[OWN] = {}, sum = 0;
    if (threadIdx.x == 0)
        shared->equal_count = 0;
#pragma unroll
    for (unsigned k = 0; k < OWN; k++)
        if (k < each && first + k < shape.buckets)
            sum += count[k] = __ldcg(&counts->of_bucket[first + k]);
    unsigned start = sum_before(shared, sum);
#pragma unroll
    for (unsigned k = 0; k < OWN; k++)
        if (k < each && first + k < shape.buckets) {
            shared->counts[first + k] = count[k];
            shared->starts[first + k] = start;
            start += count[k];
            if (splitters_repeat && count[k] > 0 && is_one_value(shared, shape.buckets, first + k))
                shared->equal[atomicAdd(&shared->equal_count, 1u)] = first + k;
        }
    __syncthreads();
}

/* Writes buckets of one value, by all blocks. */
template <class Order, class Key>
__device__ __forceinline__ void write_equal(const shared_layout<Key> *shared, Key *out)
{
    for (unsigned e = 0; e < shared->equal_count; e++) {
        const unsigned bucket = shared->equal[e];
        const Key key = Order().inverse(shared->splitters[bucket]);
        Key *to = out + shared->starts[bucket];
        for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < shared->counts[bucket];
             i += gridDim.x * THREADS)
            to[i] = key;
    }
}

template <class Order, class Key>
__device__ __forceinline__ void sort_buckets(const shared_layout<Key> *shared, const shape &shape,
                                             method method, const Key *storage, Key *out)
{
    const bool looks = is_large(shape) && method != BY_BINS;
    for (unsigned b = blockIdx.x; b < shape.buckets; b += gridDim.x)
        if (shared->counts[b] > 0 &&
            !(method == BY_REPEATED_SPLITTERS && is_one_value(shared, shape.buckets, b)))
            sort_keys_of_block<Order>(storage + (size_t)b * CAPACITY<Key>, shared->counts[b],
                                      out + shared->starts[b], looks);
}

/* Clears the counts of the next call. */
__device__ __forceinline__ void clear_counts(call_counts *counts)
{
    const unsigned first = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned b = first; b < MAX_BUCKETS; b += gridDim.x * THREADS)
        counts->of_bucket[b] = 0;
    if (first == 0)
        counts->overflows = 0;
}

/* Compiled for ranks alone, as it is long and hardly ever runs. */
template <class Key>
__device__ __noinline__ void sort_ranks(const arrays<Key> &arrays, control *control,
                                        const list_sets &sets, const bucket_sort::shape &shape)
{
    sort_levels<unsigned_order<Key>, MANY_KEYS<Key>>(arrays, control, sets, shape, 0);
}

template <class Order, class Key>
__device__ __forceinline__ void sort_overflown(const arrays<Key> &arrays, state<Key> *state,
                                               control *control, const list_sets &sets,
                                               const bucket_sort::shape &shape)
{
    const unsigned first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;
    const auto n = (unsigned)shape.n;
    for (unsigned i = first; i < n; i += step)
        arrays.out[i] = Order()(arrays.in[i]);
    grid_barrier(&state->arrived);
    sort_ranks<Key>({arrays.out, arrays.out, arrays.other}, control, sets, shape);
    grid_barrier(&state->arrived);
    for (unsigned i = first; i < n; i += step)
        arrays.out[i] = Order().inverse(arrays.out[i]);
}

/* COUNT: keys per thread of a tile. */
template <class Order, unsigned COUNT, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS, policy::all_steps.blocks)
    sample_sort_kernel(const __grid_constant__ arrays<Key> arrays, state<Key> *state,
                       const __grid_constant__ shape shape, hand_over *next, control *control,
                       const __grid_constant__ list_sets sets,
                       const __grid_constant__ bucket_sort::shape levels_shape)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    held<Key, THREADS, COUNT, false> keys;
    uint64_t first = (uint64_t)blockIdx.x * shape.tile;
    const auto load_tile = [&] {
        keys.count = first < shape.n ? min(shape.tile, (unsigned)(shape.n - first)) : 0;
        keys.load(arrays.in + first);
    };
    if (first < shape.n) /* the first tile is on its way to the L2 while buckets are chosen */
        prefetch_array(arrays.in + first, min(shape.tile, (unsigned)(shape.n - first)));
    const unsigned parity = __ldcg(&state->parity); /* before a barrier: the last one changes it */
    const method method = divide<Order>(shared, arrays.in, shape, state, next != nullptr);
    if (next != nullptr && blockIdx.x == 0 && threadIdx.x == 0)
        next->disabled = method != BY_ANOTHER_SORT;
    if (method == BY_ANOTHER_SORT)
        return;
    call_counts *counts = &state->counts[parity];
    clear_counts(&state->counts[1 - parity]);
    for (unsigned b = threadIdx.x; b < shape.buckets; b += THREADS)
        shared->tile.counts[b] = 0;
    load_tile();
    __syncthreads();
    while (first < shape.n) {
        partition_tile(
            &shared->tile, shared->warp_totals, keys,
            sampled_division<Order, COUNT>{shared, shape.buckets, method},
            bounded_places<Key>{shared, counts, shape.buckets, method == BY_REPEATED_SPLITTERS},
            arrays.other, [] {});
        first += (uint64_t)gridDim.x * shape.tile;
        load_tile();
    }
    grid_barrier(&state->arrived);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        state->parity = 1 - parity;
    if (__ldcg(&counts->overflows)) {
        sort_overflown<Order>(arrays, state, control, sets, levels_shape);
    } else {
        fetch_counts(shared, shape, method == BY_REPEATED_SPLITTERS, counts);
        write_equal<Order>(shared, arrays.out);
        sort_buckets<Order>(shared, shape, method, arrays.other, arrays.out);
    }
}

/* ---- the host's side ---- */

void prepare(const struct call *call)
{
    with_key_width(call->problem.type, [&]<class Key>() {
        const scratch<Key> scratch = scratch_of<Key>(call, SAMPLE);
        clear(call, scratch.sampled);
        prepare_scratch(call, scratch);
    });
}

template <class Order, unsigned COUNT, class Key = typename Order::key>
static void sort_keys(const struct call *call, hand_over *next)
{
    constexpr auto *kernel = sample_sort_kernel<Order, COUNT>;
    const scratch<Key> scratch = scratch_of<Key>(call, SAMPLE);
    const shape shape = shape_of<Key>(&call->problem);
    const uint64_t useful = std::max<uint64_t>(ceil_div(shape.n, shape.tile), shape.buckets);
    launch<kernel>(
        queue_of(call),
        {.blocks = std::min(useful, resident_blocks(call, kernel, THREADS, SHARED_BYTES<Key>)),
         .threads = THREADS,
         .traffic = {2 * call->problem.n * sizeof(Key)},
         .shared_bytes = SHARED_BYTES<Key>,
         .cooperative = true},
        arrays_of(call, scratch.other), scratch.sampled, shape, next, scratch.state, scratch.lists,
        scratch.shape);
}

void run(const struct call *call, hand_over *next)
{
    with_order(call->problem.type, [&]<class Order>(Order) {
        using Key = typename Order::key;
        switch (keys_for<Key>(&call->problem)) {
        case FEW_KEYS:
            return sort_keys<Order, FEW_KEYS>(call, next);
        case SOME_KEYS:
            return sort_keys<Order, SOME_KEYS>(call, next);
        default:
            return sort_keys<Order, MANY_KEYS<Key>>(call, next);
        }
    });
}

} // namespace SCANBENCH_BACKEND::bucket_sort::sample

ALGORITHM_DESCRIPTOR(sort_sample) = {
    .name = "sample",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "one partition by splitters from a sample, then in shared memory; one launch",
    .source = "after Leischner, Osipov and Sanders 2010",
    .supports = SCANBENCH_BACKEND::bucket_sort::why_not_sample,
    .scratch_bytes =
        SCANBENCH_BACKEND::bucket_sort::scratch_bytes<SCANBENCH_BACKEND::bucket_sort::SAMPLE>,
    .prepare = SCANBENCH_BACKEND::bucket_sort::sample::prepare,
    .run =
        [](const struct call *call) { SCANBENCH_BACKEND::bucket_sort::sample::run(call, nullptr); },
};
