/* sample_division.cuh: steps 1 and 2 of sort_sample: a block chooses from a sample how keys are
 * divided into buckets, by bins or by splitters, and finds the bucket of a key. The state and the
 * shared memory of the sort are here, too. */
#pragma once

#include "msd_sample.cuh"

namespace SCANBENCH_BACKEND::sample_sort
{

enum {
    THREADS = msd::THREADS,
    /* Keys of the sample per bucket. */
    OVERSAMPLING = 8,
    MAX_BUCKETS = 1024,
    /* The most buckets for which each gets half of the usual keys. */
    SMALL_BUCKETS = 256,
    /* Bytes of keys above which the sort finds out whether they are skewed. */
    LARGE_BYTES = 1 << 19,
    /* The most keys of a sample that all blocks read in their places. */
    SCATTERED = 1024,
    /* The most keys of the sample in a bin with which bins are of use. */
    MOST_OF_BIN = 12
};

/* The keys for which a bucket has capacity. */
template <class Key> constexpr unsigned CAPACITY = msd::MANY_KEYS<Key> *THREADS;
/* The most keys that a bucket should get. */
template <class Key> constexpr unsigned SHARE = CAPACITY<Key> / 4;
static_assert(SCATTERED / OVERSAMPLING * SHARE<uint32_t> / 2 * 4 == LARGE_BYTES &&
              SCATTERED / OVERSAMPLING * SHARE<uint64_t> / 2 * 8 == LARGE_BYTES &&
              SCATTERED / OVERSAMPLING < SMALL_BUCKETS);

/* The most keys of a sample: one block sorts it. */
template <class Key> constexpr unsigned MOST_SAMPLED = CAPACITY<Key>;

/* The counts of one call. They are zero when it begins. */
struct call_counts {
    unsigned overflows;
    unsigned tickets; /* of buckets that blocks sort after their first ones */
    unsigned of_bucket[MAX_BUCKETS];
};

/* The state in global memory. It is zero before the first call. Even and odd calls have a set of
 * counts each, and each call clears the set of the next: to clear its own, it would have to wait
 * for its last block. */
template <class Key> struct state {
    unsigned *other_disabled;   /* `disabled` of another sort, if this one chooses; else null */
    unsigned long long arrived; /* blocks at barriers, of all calls; it is never set back */
    unsigned parity;            /* of the call */
    call_counts counts[2];
    Key sample[MOST_SAMPLED<Key>];
    Key ranked[MAX_BUCKETS]; /* every OVERSAMPLINGth key of a large, skewed sample, in order */
};

struct shape {
    unsigned n, tile, buckets;

    __host__ __device__ unsigned sample_size() const
    {
        return buckets * OVERSAMPLING;
    }
    __host__ __device__ bool is_large() const
    {
        return sample_size() > SCATTERED;
    }
};

/* What the launch gets: its state and sizes, and what the steps of msd get. */
template <class Key> struct task {
    struct state<Key> *state;
    struct shape shape;
    msd::task<Key> msd;
};

/* Bins of equal width in rank between the ends of a sample. Keys outside are in the first or the
 * last bin. */
template <class Key> struct clamped_bins {
    Key lowest, highest;
    unsigned shift;

    clamped_bins() = default;
    __device__ __forceinline__ clamped_bins(Key least, Key most, unsigned bins)
    {
        const unsigned bits = bit_length(Key(most - least));
        const unsigned log2_bins = 31 - __clz((int)bins);
        lowest = least, highest = most;
        shift = bits > log2_bins ? bits - log2_bins : 0;
    }
    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)((min(max(rank, lowest), highest) - lowest) >> shift);
    }
};

/* How keys are divided into buckets. */
enum division { BY_BINS, BY_SPLITTERS, BY_REPEATED_SPLITTERS, BY_ANOTHER_SORT };

/* How the keys of a sample are spread. Floats have no bins if some are infinite or NaN. */
enum spread { EVEN, SKEWED, FEW_VALUES, FEW_VALUES_WITHOUT_BINS };

template <class Order, class Key = typename Order::key>
using sample_bins = std::conditional_t<IS_FLOAT<Order>, value_bins<Key>, clamped_bins<Key>>;

template <class Order, class Key = typename Order::key> struct shared_layout {
    using leaf_agent = leaf_sort::agent<Key, THREADS, msd::MANY_KEYS<Key>>;
    union {
        struct {
            leaf_agent leaf;
            Key sample[MOST_SAMPLED<Key>];
        };
        struct {
            tile_layout<Key, CAPACITY<Key>> tile;
            uint16_t bucket_in_tile[CAPACITY<Key>]; /* of each key in tile.keys */
        };
    };
    union {
        struct {
            Key splitters[MAX_BUCKETS];
            Key tree[MAX_BUCKETS]; /* node i is the parent of 2i and 2i + 1; node 1 is the root */
        };
        struct {
            sample_bins<Order> bins;
            uint16_t bucket_of_bin[leaf_agent::BINS];
        };
    };
    unsigned counts[MAX_BUCKETS], starts[MAX_BUCKETS]; /* of buckets, in the result */
    unsigned alike[MAX_BUCKETS];                       /* buckets of one value */
    unsigned alike_count;
    unsigned next_bucket[2]; /* in turn */
};

/* ---- 1. The sample ---- */

/* Sorts the sample or a bucket. It is one function, so that the code that has sorted the sample is
 * in the cache when buckets are sorted. */
template <class Order, class Key>
__device__ __noinline__ void sort_keys_of_block(const Key *from, unsigned count, Key *out,
                                                bool looks)
{
    shared_memory<shared_layout<Order>>()->leaf.template sort<Order>(from, count, out, 0, looks);
}

/* Divides the range of a large sample into bins, and gives each bin the bucket in which its first
 * key would be if the sample were sorted. Returns how keys are spread: bins are of use if it is
 * EVEN. */
template <class Order, unsigned COUNT, class Key>
__device__ __noinline__ spread choose_bins(const Key *sample, const shape &shape)
{
    enum { CLOSE_BITS = 8, MANY_CLOSE = 18 };
    auto *shared = shared_memory<shared_layout<Order>>();
    auto *leaf = &shared->leaf;
    using layout = typename shared_layout<Order>::leaf_agent;
    tile_keys<Key, THREADS, COUNT> keys;
    keys.count = shape.sample_size();
    keys.load(sample);
    keys.template map<Order>();
    leaf->clear_bins();
    const leaf_sort::extent<Key> range = leaf->extent_of(keys);
    if (range.lowest == range.highest)
        return FEW_VALUES;
    const auto count_equal = [&] {
        const auto are_equal = [&](unsigned k) { return keys.rank[k] == keys.rank[k + 1]; };
        return __syncthreads_count(are_equal(0) || are_equal(2));
    };
    if (IS_FLOAT<Order> && !have_bins(range.lowest, range.highest))
        return count_equal() > MANY_CLOSE ? FEW_VALUES_WITHOUT_BINS : SKEWED;
    const sample_bins<Order> bins = {range.lowest, range.highest, layout::BINS};
    /* If keys are skewed, a few pairs show it before the keys are counted, whose atomics would
     * queue. */
    const auto are_close = [&](unsigned k) {
        return (bins.of(keys.rank[k]) ^ bins.of(keys.rank[k + 1])) >>
                   (layout::LOG2_BINS - CLOSE_BITS) ==
               0;
    };
    const int close = __syncthreads_count(are_close(0) || are_close(2));
    const auto unevenly = [&] { return 8 * count_equal() > 7 * close ? FEW_VALUES : SKEWED; };
    if (close > MANY_CLOSE)
        return unevenly();
    leaf->count_by_bins(keys, bins);
    __syncthreads();
    const unsigned fullest = leaf->starts_of_bins(0);
    if (threadIdx.x == 0)
        shared->bins = bins;
    __syncthreads();
    for (unsigned b = threadIdx.x; b < layout::BINS; b += THREADS)
        shared->bucket_of_bin[b] = (uint16_t)min(leaf->at_bin(b) / OVERSAMPLING, shape.buckets - 1);
    return fullest <= MOST_OF_BIN ? EVEN : unevenly();
}

/* Puts those keys of a large sample into their places in shared->sample that are at multiples of
 * OVERSAMPLING if it is sorted. Each warp of the grid counts the keys before some of them: skewed
 * keys take a block much longer to sort. */
template <class Order, class Key>
__device__ __noinline__ void rank_large_sample(const Key *sample, const shape &shape,
                                               state<Key> *state)
{
    constexpr unsigned WARPS = THREADS / WARP;
    const unsigned size = shape.sample_size(), lane = lane_index();
    auto *shared = shared_memory<shared_layout<Order>>();
    Key *ranks = shared->sample;
    for (unsigned i = threadIdx.x; i < size; i += THREADS)
        ranks[i] = Order()(sample[i]);
    __syncthreads();
    for (unsigned i = blockIdx.x * WARPS + threadIdx.x / WARP; i < size; i += gridDim.x * WARPS) {
        const Key own = ranks[i];
        const unsigned row = i / WARP * WARP; /* equal keys count if they come before it */
        unsigned before = ranks[row + lane] == own && row + lane < i;
        for (unsigned j = lane; j < row; j += WARP)
            before += ranks[j] <= own;
        for (unsigned j = row + lane; j < size; j += WARP)
            before += ranks[j] < own;
        before = warp_sum(before);
        if (lane == 0 && before % OVERSAMPLING == 0)
            state->ranked[before / OVERSAMPLING] = Order().inverse(own);
    }
    grid_barrier(&state->arrived);
    for (unsigned b = threadIdx.x; b < shape.buckets; b += THREADS)
        shared->sample[b * OVERSAMPLING] = __ldcg(&state->ranked[b]);
    __syncthreads();
}

/* What a block knows about the division. */
template <class Order, class Key = typename Order::key> struct divided {
    shared_layout<Order> *shared;
    const struct task<Key> &task;
    unsigned buckets;
    division kind;

    /* Does the bucket have one value, that of the splitters before and after it? */
    __device__ __forceinline__ bool is_one_value(unsigned bucket) const
    {
        return kind == BY_REPEATED_SPLITTERS && bucket > 0 && bucket + 1 < buckets &&
               shared->splitters[bucket - 1] == shared->splitters[bucket];
    }

    /* Returns where the sample is. If it is large, each block moves some of its keys, so that they
     * lie side by side: each key that a block reads in its place takes 32 bytes. */
    __device__ __forceinline__ const Key *gather_sample() const
    {
        const unsigned size = task.shape.sample_size(), part = task.shape.n / size;
        const bool together = task.shape.is_large();
        const unsigned first = together ? threadIdx.x * gridDim.x + blockIdx.x : threadIdx.x;
        const unsigned step = together ? THREADS * gridDim.x : (unsigned)THREADS;
        Key *sample = together ? task.state->sample : shared->sample;
        for (unsigned i = first; i < size; i += step)
            sample[i] = task.msd.arrays.in[sampled_place(i, part)];
        if (together)
            grid_barrier(&task.state->arrived);
        else
            __syncthreads();
        return sample;
    }

    /* Chooses every OVERSAMPLINGth key of the sorted sample as a splitter. The largest rank is the
     * last one. Returns whether splitters repeat. */
    __device__ __forceinline__ bool choose_splitters() const
    {
        const auto splitter = [&](unsigned b) {
            return b + 1 < buckets ? Order()(shared->sample[(b + 1) * OVERSAMPLING]) : Key(~Key(0));
        };
        bool repeats = false;
        for (unsigned b = threadIdx.x; b < buckets; b += THREADS) {
            shared->splitters[b] = splitter(b);
            if (b == 0)
                continue;
            repeats |= b + 1 < buckets && splitter(b) == splitter(b - 1);
            const unsigned level = 31 - __clz((int)b), in_level = b - (1u << level);
            shared->tree[b] = splitter((2 * in_level + 1) * (buckets >> (level + 1)) - 1);
        }
        return __syncthreads_or(repeats);
    }

    /* may_leave: another sort is there for skewed keys. */
    __device__ __forceinline__ division choose(bool may_leave) const
    {
        const Key *sample = gather_sample();
        const shape &shape = task.shape;
        bool ranks = false;
        if (shape.is_large()) {
            constexpr unsigned MANY = MOST_SAMPLED<Key> / THREADS, SOME = MANY / 2;
            const spread spread = shape.sample_size() <= SOME * THREADS
                                      ? choose_bins<Order, SOME>(sample, shape)
                                      : choose_bins<Order, MANY>(sample, shape);
            __syncthreads();
            if (spread == EVEN)
                return BY_BINS;
            if (spread == SKEWED && may_leave)
                return BY_ANOTHER_SORT;
            ranks = spread != FEW_VALUES; /* which a block soon sorts by bins */
        }
        if (ranks)
            rank_large_sample<Order>(sample, shape, task.state);
        else
            sort_keys_of_block<Order>(sample, shape.sample_size(), shared->sample,
                                      shape.is_large());
        return choose_splitters() ? BY_REPEATED_SPLITTERS : BY_SPLITTERS;
    }
};

/* ---- 2. The buckets of keys ---- */

/* The division of a tile, and its destination, as partition_tile.cuh describes them. With
 * splitters, a key's bucket is the number of smaller splitters, and one more for a key that equals
 * two of them. The searches of all keys of a thread go on side by side, once per tile. Each bucket
 * has space for CAPACITY keys. Keys of a bucket of one value are only counted. */
template <class Order, unsigned COUNT, class Key = typename Order::key>
struct by_sample : divided<Order> {
    enum { IS_BOUNDED = true };
    Key *out;
    call_counts *counts;
    packed_places<COUNT> found;

    template <class Keys> __device__ __forceinline__ void find(const Keys &keys)
    {
        auto *shared = this->shared;
        if (this->kind == BY_BINS) {
            const auto bins = shared->bins;
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                found.set(k, shared->bucket_of_bin[bins.of(Order()(keys.rank[k]))]);
            return;
        }
        unsigned node[COUNT];
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            node[k] = 1;
        for (unsigned nodes = 1; nodes < this->buckets; nodes *= 2)
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++)
                node[k] = 2 * node[k] + (shared->tree[node[k]] < Order()(keys.rank[k]));
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            unsigned bucket = node[k] - this->buckets;
            if (this->kind == BY_REPEATED_SPLITTERS &&
                shared->splitters[bucket] == Order()(keys.rank[k]) &&
                this->is_one_value(bucket + 1))
                bucket++;
            found.set(k, bucket);
        }
    }
    template <class Keys> __device__ __forceinline__ unsigned of(const Keys &, unsigned k) const
    {
        return found.get(k);
    }
    __device__ __forceinline__ void move(unsigned k, unsigned place) const
    {
        this->shared->bucket_in_tile[place] = (uint16_t)found.get(k);
    }
    __device__ __forceinline__ unsigned at(unsigned place, Key) const
    {
        return this->shared->bucket_in_tile[place];
    }
    __device__ __forceinline__ Key key_of(Key key) const
    {
        return key;
    }
    __device__ __forceinline__ unsigned claim(unsigned bucket, unsigned count) const
    {
        return count > 0 ? atomicAdd(&counts->of_bucket[bucket], count) : 0;
    }
    __device__ __forceinline__ unsigned place(unsigned bucket, unsigned claimed,
                                              unsigned count) const
    {
        if (this->is_one_value(bucket))
            return NOWHERE;
        if (claimed + count <= CAPACITY<Key>)
            return bucket * CAPACITY<Key> + claimed;
        counts->overflows = true;
        return NOWHERE;
    }
};

} // namespace SCANBENCH_BACKEND::sample_sort
