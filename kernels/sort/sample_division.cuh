/* sample_division.cuh: step 1 of sort_sample: a sample divides keys into buckets, by bins or by
 * splitters, and tells a key's bucket. Its state, its shape and its shared memory are here, too. */
#ifndef SCANBENCH_KERNELS_SORT_SAMPLE_DIVISION_CUH
#define SCANBENCH_KERNELS_SORT_SAMPLE_DIVISION_CUH

#include "msd_sample.cuh"

namespace SCANBENCH_BACKEND
{

namespace sample_sort
{

enum {
    THREADS = msd::THREADS,
    BLOCKS = msd::BLOCKS,
    OVERSAMPLING = 8,
    MAX_BUCKETS = 1024,
    LARGE_BYTES = 1 << 20, /* of keys: of more, it is found out whether they crowd */
    SCATTERED = 1024,      /* keys of the sample that all blocks read in their places */
    MOST_OF_BIN = 12,      /* keys of the sample in a bin, or bins are no use */
    NOWHERE = -1
};

/* Keys that a bucket has room for, and should get at most. */
template <class Key> constexpr unsigned CAPACITY = msd::MANY_KEYS<Key> *THREADS;
template <class Key> constexpr unsigned SHARE = CAPACITY<Key> / 4;
static_assert(SCATTERED / OVERSAMPLING * SHARE<uint32_t> * 4 == LARGE_BYTES &&
              SCATTERED / OVERSAMPLING * SHARE<uint64_t> * 8 == LARGE_BYTES);

/* Keys of a sample at most. A block sorts it. */
template <class Key> constexpr unsigned MOST_SAMPLED = CAPACITY<Key>;

/* The counts of one call. Zero when it begins. */
struct call_counts {
    unsigned overflows;
    unsigned of_bucket[MAX_BUCKETS];
};

/* In global memory. Zero before the first call. Calls take turns with two sets of counts: each
 * makes the other's zero. To do so with its own, it would have to wait for its last block. */
template <class Key> struct state {
    unsigned *other_is_off;     /* comes first: where to tell another sort, or null */
    unsigned long long arrived; /* at barriers; is never set back */
    unsigned turn;
    call_counts counts[2];
    Key sample[MOST_SAMPLED<Key>];
};

struct shape {
    unsigned n, tile, buckets;
};

/* Bins between the ends of a sample. What lies outside is in the first or the last. */
template <class Key> struct clamped_bins {
    Key lowest, highest;
    unsigned shift;

    clamped_bins() = default;
    __device__ __forceinline__ clamped_bins(Key least, Key most, unsigned bins)
    {
        const unsigned bits = leaf_sort::bit_length(Key(most - least));
        const unsigned log2_bins = 31 - __clz((int)bins);
        lowest = least, highest = most;
        shift = bits > log2_bins ? bits - log2_bins : 0;
    }
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)((min(max(rank, lowest), highest) - lowest) >> shift);
    }
};

/* How keys are divided among buckets. */
enum division { BY_BINS, BY_SPLITTERS, BY_REPEATED_SPLITTERS, BY_ANOTHER_SORT };

template <class Key> struct shared_layout {
    using leaf_layout = leaf_sort::shared_layout<Key, THREADS, msd::MANY_KEYS<Key>>;
    union {
        struct {
            leaf_layout leaf;
            Key sample[MOST_SAMPLED<Key>];
        };
        struct {
            Key keys[CAPACITY<Key>];
            uint16_t buckets[CAPACITY<Key>];
            unsigned counts[MAX_BUCKETS];
            unsigned places[MAX_BUCKETS]; /* where key 0 of the tile would go, or NOWHERE */
        } tile;
    };
    union {
        struct {
            Key splitters[MAX_BUCKETS];
            Key tree[MAX_BUCKETS]; /* node i is above nodes 2i and 2i + 1; 1 is the root */
        };
        struct {
            clamped_bins<Key> rank_bins;
            value_bins<Key> float_bins;
            uint16_t bucket_of_bin[leaf_layout::BINS];
        };
    };
    unsigned counts[MAX_BUCKETS], starts[MAX_BUCKETS]; /* of the buckets */
    unsigned alike[MAX_BUCKETS];                       /* buckets that all blocks write */
    unsigned alike_count;
    unsigned warp_totals[msd::MAX_WARPS];
};

/* ---- the sample ---- */

__device__ __forceinline__ unsigned sample_size(const shape &shape)
{
    return shape.buckets * OVERSAMPLING;
}

__device__ __forceinline__ bool is_large(const shape &shape)
{
    return sample_size(shape) > SCATTERED;
}

/* Sorts keys of any origin. One function: what sorted the sample is at hand for buckets, which in a
 * cold cache have another code fetched from DRAM. */
template <class Order, class Key>
__device__ __noinline__ void sort_keys_of_block(const Key *from, unsigned count, Key *out,
                                                bool looks)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    leaf_sort::sort_leaf<Order>(&shared->leaf, from, count, out, 0, looks);
}

/* Returns where the sample is. Of a large one, the blocks put keys side by side, each some: in
 * their places, each takes a block 32 bytes to read. */
template <class Key>
__device__ __forceinline__ const Key *gather_sample(shared_layout<Key> *shared, const Key *in,
                                                    const shape &shape, state<Key> *state)
{
    const unsigned size = sample_size(shape), part = shape.n / size;
    const bool together = is_large(shape);
    const unsigned first = together ? threadIdx.x * gridDim.x + blockIdx.x : threadIdx.x;
    const unsigned step = together ? THREADS * gridDim.x : (unsigned)THREADS;
    Key *sample = together ? state->sample : shared->sample;
    for (unsigned i = first; i < size; i += step)
        sample[i] = in[msd::sampled_place(i, part)];
    if (together)
        msd::grid_barrier(&state->arrived);
    else
        __syncthreads();
    return sample;
}

template <class Order, class Key>
__device__ __forceinline__ auto &bins_of(shared_layout<Key> *shared)
{
    if constexpr (IS_FLOAT<Order>)
        return shared->float_bins;
    else
        return shared->rank_bins;
}

enum spread { EVEN, CROWDED, FEW_VALUES };

/* Divides the range of a large sample into bins, and gives each the bucket in which its first key
 * would be if the sample were sorted. Returns how keys are spread: bins are of use if evenly. */
template <class Order, unsigned COUNT, class Key>
__device__ __noinline__ spread choose_bins(const Key *sample, const shape &shape)
{
    enum { CLOSE_BITS = 8, MANY_CLOSE = 18 };
    auto *shared = shared_memory<shared_layout<Key>>();
    auto *leaf = &shared->leaf;
    using layout = typename shared_layout<Key>::leaf_layout;
    leaf_sort::held<Key, THREADS, COUNT> keys;
    keys.count = sample_size(shape);
    keys.template load<Order>(sample);
    leaf_sort::clear_bins(leaf);
    const leaf_sort::extent<Key> range = leaf_sort::extent_of(leaf, keys);
    if (range.lowest == range.highest ||
        (IS_FLOAT<Order> && !have_bins(range.lowest, range.highest)))
        return range.lowest == range.highest ? FEW_VALUES : CROWDED;
    std::remove_reference_t<decltype(bins_of<Order>(shared))> bins = {range.lowest, range.highest,
                                                                      layout::BINS};
    /* A few pairs tell sooner what counters would in the end, and atomics would queue. */
    const auto are_close = [&](unsigned k) {
        return (bins.of(keys.rank[k]) ^ bins.of(keys.rank[k + 1])) >>
                   (layout::LOG2_BINS - CLOSE_BITS) ==
               0;
    };
    const auto are_equal = [&](unsigned k) { return keys.rank[k] == keys.rank[k + 1]; };
    const int close = __syncthreads_count(are_close(0) || are_close(2));
    const auto crowd = [&] {
        const int equal = __syncthreads_count(are_equal(0) || are_equal(2));
        return 8 * equal > 7 * close ? FEW_VALUES : CROWDED;
    };
    if (close > MANY_CLOSE)
        return crowd();
    leaf_sort::count_by_bins(leaf, keys, bins);
    __syncthreads();
    const unsigned fullest = leaf_sort::starts_of_bins(leaf, 0);
    if (threadIdx.x == 0)
        bins_of<Order>(shared) = bins;
    __syncthreads();
    for (unsigned b = threadIdx.x; b < layout::BINS; b += THREADS)
        shared->bucket_of_bin[b] =
            (uint16_t)min(leaf_sort::counter<layout::LOG2_WORDS>(b).of(leaf->bins) / OVERSAMPLING,
                          shape.buckets - 1);
    return fullest <= MOST_OF_BIN ? EVEN : crowd();
}

/* Is the bucket one value, that of the splitters before and after it? */
template <class Key>
__device__ __forceinline__ bool is_one_value(const shared_layout<Key> *shared, const shape &shape,
                                             unsigned bucket)
{
    return bucket > 0 && bucket + 1 < shape.buckets &&
           shared->splitters[bucket - 1] == shared->splitters[bucket];
}

/* Every OVERSAMPLINGth key of the sample is a splitter; past the last is the largest rank. Returns
 * whether splitters repeat. */
template <class Order, class Key>
__device__ __forceinline__ bool choose_splitters(shared_layout<Key> *shared, const shape &shape)
{
    const auto splitter = [&](unsigned b) {
        return b + 1 < shape.buckets ? Order()(shared->sample[(b + 1) * OVERSAMPLING])
                                     : Key(~Key(0));
    };
    bool repeats = false;
    for (unsigned b = threadIdx.x; b < shape.buckets; b += THREADS) {
        shared->splitters[b] = splitter(b);
        if (b == 0)
            continue;
        repeats |= b + 1 < shape.buckets && splitter(b) == splitter(b - 1);
        const unsigned level = 31 - __clz((int)b), in_level = b - (1u << level);
        shared->tree[b] = splitter((2 * in_level + 1) * (shape.buckets >> (level + 1)) - 1);
    }
    return __syncthreads_or(repeats);
}

template <class Order, class Key>
__device__ __forceinline__ division divide(shared_layout<Key> *shared, const Key *in,
                                           const shape &shape, state<Key> *state, bool may_leave)
{
    const Key *sample = gather_sample(shared, in, shape, state);
    const unsigned size = sample_size(shape);
    if (is_large(shape)) {
        constexpr unsigned MANY = MOST_SAMPLED<Key> / THREADS, SOME = MANY / 2;
        const spread spread = size <= SOME * THREADS ? choose_bins<Order, SOME>(sample, shape)
                                                     : choose_bins<Order, MANY>(sample, shape);
        __syncthreads();
        if (spread == EVEN)
            return BY_BINS;
        if (spread == CROWDED && may_leave)
            return BY_ANOTHER_SORT;
    }
    sort_keys_of_block<Order>(sample, size, shared->sample, is_large(shape));
    return choose_splitters<Order>(shared, shape) ? BY_REPEATED_SPLITTERS : BY_SPLITTERS;
}

/* ---- its use ---- */

/* The buckets of a thread's keys. Of splitters: how many are smaller, and one more for what is two
 * splitters. The searches of all keys go on side by side. */
template <class Order, class Key, unsigned COUNT>
__device__ __forceinline__ void find_buckets(shared_layout<Key> *shared, const shape &shape,
                                             division division, const Key (&key)[COUNT],
                                             msd::packed_places<COUNT> &buckets)
{
    if (division == BY_BINS) {
        const auto bins = bins_of<Order>(shared);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            buckets.set(k, shared->bucket_of_bin[bins.of(Order()(key[k]))]);
        return;
    }
    unsigned node[COUNT];
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        node[k] = 1;
    for (unsigned nodes = 1; nodes < shape.buckets; nodes *= 2)
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            node[k] = 2 * node[k] + (shared->tree[node[k]] < Order()(key[k]));
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        unsigned bucket = node[k] - shape.buckets;
        if (division == BY_REPEATED_SPLITTERS && shared->splitters[bucket] == Order()(key[k]) &&
            is_one_value(shared, shape, bucket + 1))
            bucket++;
        buckets.set(k, bucket);
    }
}

} // namespace sample_sort

} // namespace SCANBENCH_BACKEND

#endif
