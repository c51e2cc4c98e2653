/* sample_division.cuh: how `sample` divides keys into buckets: by bins or by splitters, which each
 * block chooses from a sample. Its state, its shape and its shared memory are here, too. */
#pragma once

#include "division.cuh"
#include "partition.cuh"

namespace SCANBENCH_BACKEND::bucket_sort::sample
{

constexpr unsigned OVERSAMPLING = 8;
constexpr unsigned MAX_BUCKETS = MAX_DIGITS;
/* Keys of a sample that all blocks read in their places. */
constexpr unsigned SCATTERED = 1024;
/* Keys of the sample in a bin above which bins are no use. */
constexpr unsigned MOST_OF_BIN = 12;
constexpr unsigned NOWHERE = ~0u;
constexpr unsigned LEAST_KEYS = 8192;
/* Bytes of keys above which it sees whether they are skewed. */
constexpr unsigned LARGE_BYTES = 1 << 20;

/* The keys for which a bucket has capacity, and those it should get at most. */
template <class Key> constexpr unsigned CAPACITY = MANY_KEYS<Key> *THREADS;
template <class Key> constexpr unsigned SHARE = CAPACITY<Key> / 4;
static_assert(SCATTERED / OVERSAMPLING * SHARE<uint32_t> * 4 == LARGE_BYTES &&
              SCATTERED / OVERSAMPLING * SHARE<uint64_t> * 8 == LARGE_BYTES);

/* A block sorts the sample. */
template <class Key> constexpr unsigned MOST_SAMPLED = CAPACITY<Key>;
template <class Key> constexpr unsigned MOST_BUCKETS = MOST_SAMPLED<Key> / OVERSAMPLING;

/* The counts of one call. Zero when it begins. */
struct call_counts {
    unsigned overflows;
    unsigned of_bucket[MAX_BUCKETS];
};

/* The state in global memory. Zero before the first call. Even and odd calls have a set of counts
 * each, and each call clears the set of the next: to clear its own, it would have to wait for its
 * last block. */
template <class Key> struct state {
    unsigned long long arrived; /* at barriers; is never set back */
    unsigned parity;            /* of the call */
    call_counts counts[2];
    Key sample[MOST_SAMPLED<Key>];
};

struct shape {
    unsigned n, tile, buckets;
};

/* Bins between the ends of a sample. Keys outside are in the first or the last. */
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

enum method { BY_BINS, BY_SPLITTERS, BY_REPEATED_SPLITTERS, BY_ANOTHER_SORT };

template <class Key> struct shared_layout {
    using leaf_layout = leaf_sort::shared_layout<Key, THREADS, MANY_KEYS<Key>>;
    union {
        struct {
            leaf_layout leaf;
            Key sample[MOST_SAMPLED<Key>];
        };
        struct {
            tile_layout<Key, CAPACITY<Key>> tile;
            uint16_t bucket_in_tile[CAPACITY<Key>]; /* of each key of the sorted tile */
        };
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
    unsigned equal[MAX_BUCKETS];                       /* buckets of one value */
    unsigned equal_count;
    unsigned warp_totals[MAX_WARPS];
};

/* Shared memory of a launch, which falls back to the levels of buckets. */
template <class Key>
constexpr size_t SHARED_BYTES = std::max(sizeof(shared_layout<Key>),
                                         sizeof(bucket_sort::shared_layout<Key>));

/* ---- the sample ---- */

__device__ __forceinline__ unsigned sample_size(const shape &shape)
{
    return shape.buckets * OVERSAMPLING;
}

__device__ __forceinline__ bool is_large(const shape &shape)
{
    return sample_size(shape) > SCATTERED;
}

/* Sorts the sample or a bucket. Both run the same code, which for buckets is in the cache already.
 */
template <class Order, class Key>
__device__ __noinline__ void sort_keys_of_block(const Key *from, unsigned count, Key *out,
                                                bool looks)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    using layout = typename shared_layout<Key>::leaf_layout;
    leaf_sort::agent<Order, layout>{&shared->leaf, from, count, out}.sort(0, looks);
}

/* Returns where the sample is. Where it is large, each block moves some of its keys, so that they
 * lie side by side: in its place each key takes every block 32 bytes to read. */
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
        sample[i] = in[sampled_place(i, part)];
    if (together)
        grid_barrier(&state->arrived);
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

enum spread { EVEN, SKEWED_KEYS, FEW_VALUES };

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
    keys.template load_ranks<Order>(sample);
    leaf_sort::clear_bins(leaf);
    const leaf_sort::extent<Key> range = leaf_sort::extent_of(leaf, keys);
    if (range.lowest == range.highest ||
        (IS_FLOAT<Order> && !have_bins(range.lowest, range.highest)))
        return range.lowest == range.highest ? FEW_VALUES : SKEWED_KEYS;
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
    const auto unevenly = [&] {
        const int equal = __syncthreads_count(are_equal(0) || are_equal(2));
        return 8 * equal > 7 * close ? FEW_VALUES : SKEWED_KEYS;
    };
    if (close > MANY_CLOSE)
        return unevenly();
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
    return fullest <= MOST_OF_BIN ? EVEN : unevenly();
}

/* Is the bucket one value, that of the splitters before and after it? */
template <class Key>
__device__ __forceinline__ bool is_one_value(const shared_layout<Key> *shared, unsigned buckets,
                                             unsigned bucket)
{
    return bucket > 0 && bucket + 1 < buckets &&
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
__device__ __forceinline__ method divide(shared_layout<Key> *shared, const Key *in,
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
        if (spread == SKEWED_KEYS && may_leave)
            return BY_ANOTHER_SORT;
    }
    sort_keys_of_block<Order>(sample, size, shared->sample, is_large(shape));
    return choose_splitters<Order>(shared, shape) ? BY_REPEATED_SPLITTERS : BY_SPLITTERS;
}

/* The division by bins or splitters, as the partition takes it: COUNT keys per thread. */
template <class Order, unsigned COUNT> struct sampled_division {
    using Key = typename Order::key;
    shared_layout<Key> *shared;
    unsigned count;
    sample::method method;
    packed_places<COUNT> buckets;

    /* Finds the buckets of a thread's keys. Among splitters, it is the number of smaller ones, and
     * one more for a value that is two splitters. The searches of all keys go on side by side. */
    template <class Keys> __device__ __forceinline__ void divide(const Keys &keys)
    {
        buckets = {};
        if (method == BY_BINS) {
            const auto bins = bins_of<Order>(shared);
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                buckets.set(k, shared->bucket_of_bin[bins.of(Order()(keys.rank[k]))]);
            return;
        }
        unsigned node[COUNT];
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            node[k] = 1;
        for (unsigned nodes = 1; nodes < count; nodes *= 2)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                node[k] = 2 * node[k] + (shared->tree[node[k]] < Order()(keys.rank[k]));
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            unsigned bucket = node[k] - count;
            if (method == BY_REPEATED_SPLITTERS &&
                shared->splitters[bucket] == Order()(keys.rank[k]) &&
                is_one_value(shared, count, bucket + 1))
                bucket++;
            buckets.set(k, bucket);
        }
    }
    template <class Keys>
    __device__ __forceinline__ unsigned bucket_of(const Keys &, unsigned k) const
    {
        return buckets.get(k);
    }
    template <class Keys>
    __device__ __forceinline__ void store(unsigned i, const Keys &keys, unsigned k) const
    {
        shared->tile.keys[i] = keys.rank[k];
        shared->bucket_in_tile[i] = (uint16_t)buckets.get(k);
    }
    __device__ __forceinline__ unsigned bucket_at(unsigned i, Key) const
    {
        return shared->bucket_in_tile[i];
    }
    __device__ __forceinline__ Key key(Key held) const
    {
        return held;
    }
};

} // namespace SCANBENCH_BACKEND::bucket_sort::sample
