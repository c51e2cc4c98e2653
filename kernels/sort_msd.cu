/* sort_msd: radix sort from the most significant digit, in one launch.
 * Source:  Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs",
 *          SIGMOD 2017; the claims of space are by atomics, as order is not kept.
 * Work:    O(n) per level; one or two levels for uniform keys.
 * Depth:   two barriers of the grid per level, and a sort in shared memory.
 * DRAM:    3n per level, 2n for the sorts in shared memory.
 * Shared:  a tile or a leaf of 32 KiB, and counters.
 * Relies:  on all blocks being resident, or a barrier of the grid would wait for ever: the
 *          launch is cooperative, its grid from the occupancy query. Not on any order of
 *          atomics. Keys alone, which nobody can tell apart, need no stable sort.
 *
 * A bucket is a range of the array whose keys are already between those before and after it.
 * At first there is one. A level takes all buckets that are too large for shared memory:
 *
 *   1. Their keys are counted by their next digit, and the lowest and highest key found. The
 *      block that counts the last keys of a bucket plans what becomes of it:
 *      - Few values? The counts say all; the result is written from them.
 *      - Keys within a small part of the range? It is a bucket of the next level, with a
 *        range that fits.
 *      - Else it is partitioned. Small neighbours among its parts will be one leaf, and what
 *        is too large a bucket of the next level.
 *   2. Tiles of keys are partitioned: by one shared atomic per key and one global atomic per
 *      digit and tile, which claims space for a run.
 *
 * Leaves are sorted in shared memory (leaf_sort.cuh), beside the partitions of the next level.
 * What an array of one leaf needs is one block. */
#include "leaf_sort.cuh"
#include "tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace msd
{

enum {
    THREADS = 512, /* per block */
    WARPS = THREADS / WARP,
    BLOCKS = 2, /* per multiprocessor */
    LEAF_THREADS = 1024,
    TILE_BYTES = 32 * 1024, /* of keys at most */
    MAX_BITS = 11,          /* of a digit */
    MIN_BITS = 4,
    MAX_DIGITS = 1 << MAX_BITS,
    COUNTED = 256, /* keys of a value for which counters are worth their memory */
    FILL = 16384,  /* keys that a block writes from the counts */
    MAX_LEVELS = 48,
    LOADS = 4 /* packs in flight, of a thread that counts */
};

template <class Key> constexpr unsigned TILE = TILE_BYTES / sizeof(Key); /* at most */
template <class Key> constexpr unsigned KEYS = TILE<Key> / THREADS;
using leaf_sort::bit_length;
using leaf_sort::CAPACITY;

/* What the host decides, by n alone. */
struct shape {
    uint64_t n;
    unsigned tile;      /* keys */
    unsigned leaf;      /* keys that a leaf should have */
    unsigned window;    /* neighbours that start in the same window share a leaf */
    unsigned bits;      /* of the first digit */
    unsigned later_bits; /* of others, at most */
};

enum place { IN_INPUT, IN_OTHER, IN_OUTPUT };
enum action { UNPLANNED, PARTITION, WRITE_COUNTS, NO_MORE };

struct bucket {
    uint64_t first, count;
    uint64_t base; /* the rank at which its range begins */
    unsigned bits, shift;
    unsigned place;
    unsigned first_tile, tiles;
    unsigned counts; /* where they are in level_lists::counts */
    /* What level's step 1 finds out. */
    unsigned tiles_done, action;
    unsigned long long lowest, highest; /* ranks */
};

/* A leaf to sort, or a piece to write from a bucket's counts. */
struct job {
    uint64_t first; /* of the array; or, of counts, the piece's number in the bucket */
    unsigned count; /* of counts, the bucket */
    unsigned place;
};

/* How long the lists of a level are. */
struct lengths {
    unsigned buckets, tiles, counts, leaves, pieces, partitions;
};

/* Levels take turns with two sets of lists. */
struct level_lists {
    bucket *buckets;
    unsigned *bucket_of_tile;
    unsigned long long *counts; /* of digits; of what is partitioned then cursors */
    job *leaves, *pieces;
};

struct list_sets {
    level_lists set[2];
};

/* Zero before the first call, except the first bucket; each call leaves it so. */
struct control {
    unsigned long long arrived; /* at barriers; is never set back */
    unsigned blocks_done;
    lengths of_level[MAX_LEVELS];
};

template <class Key> struct arrays {
    const Key *in;
    Key *out, *other;
    key_order<Key> order;

    __device__ __forceinline__ const Key *at(unsigned place) const
    {
        return place == IN_INPUT ? in : place == IN_OTHER ? other : out;
    }
};

struct partition_layout {
    unsigned counts[MAX_DIGITS];
    uint64_t destination[MAX_DIGITS];
};

/* Digits after which a leaf begins, a bit each. */
struct plan_layout {
    unsigned long long starts[MAX_DIGITS + 1];
    unsigned leaf_begins[MAX_DIGITS / WARP];
};

template <class Key> struct shared_layout {
    union {
        leaf_sort::shared_layout<Key, THREADS> leaf;
        struct {
            Key keys[TILE<Key>];
            partition_layout partition;
        } tile;
        unsigned counts[MAX_DIGITS];
        plan_layout plan;
    };
    bucket current; /* that the block works on */
    unsigned warp_totals[WARPS];
    unsigned long long totals[WARPS];
    unsigned long long lowest[WARPS], highest[WARPS];
    unsigned last;
};

/* ---- Between blocks ---- */

/* All blocks arrive before any goes on, and see what the others wrote. */
__device__ __forceinline__ void grid_barrier(control *control)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned long long ticket = atomicAdd(&control->arrived, 1ull);
        const unsigned long long all = (ticket / gridDim.x + 1) * gridDim.x;
        while (load_word(reinterpret_cast<uint64_t *>(&control->arrived)) < all)
            spin_wait();
        __threadfence();
    }
    __syncthreads();
}

/* Of level 0, whatever the keys. */
template <class Key> __device__ __forceinline__ bucket first_bucket(const shape &shape)
{
    const uint64_t tiles = shape.n / shape.tile + (shape.n % shape.tile != 0);
    return {0,
            shape.n,
            0,
            shape.bits,
            8 * (unsigned)sizeof(Key) - shape.bits,
            IN_INPUT,
            0,
            (unsigned)tiles,
            0,
            0,
            UNPLANNED,
            ~0ull,
            0};
}

/* Makes all as it was before the call: for the next one. By one block. */
template <class Key>
__device__ void reset(control *control, const level_lists &lists, const shape &shape)
{
    auto *words = reinterpret_cast<unsigned *>(control->of_level);
    for (unsigned i = threadIdx.x; i < sizeof(control->of_level) / 4; i += blockDim.x)
        words[i] = 0;
    for (unsigned d = threadIdx.x; d < MAX_DIGITS; d += blockDim.x)
        lists.counts[d] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        control->of_level[0].buckets = 1;
        lists.buckets[0] = first_bucket<Key>(shape);
        control->of_level[0].tiles = lists.buckets[0].tiles;
        control->blocks_done = 0;
    }
}

template <class Key>
__global__ void reset_kernel(control *control, const __grid_constant__ list_sets lists,
                             const __grid_constant__ shape shape)
{
    reset<Key>(control, lists.set[0], shape);
}

/* Copies a record that other blocks wrote to shared memory, by the first threads. */
__device__ __forceinline__ void fetch_bucket(bucket *shared, const bucket *from)
{
    static_assert(sizeof(bucket) % 8 == 0 && sizeof(bucket) / 8 <= WARP);
    if (threadIdx.x < sizeof(bucket) / 8)
        reinterpret_cast<unsigned long long *>(shared)[threadIdx.x] =
            __ldcg(reinterpret_cast<const unsigned long long *>(from) + threadIdx.x);
    __syncthreads();
}

/* ---- 1. Counting ---- */

template <class Key> struct count_of {
    unsigned *counts;
    Key base, lowest, highest;
    unsigned shift;

    /* By all lanes of a warp: what agrees is added once. */
    __device__ __forceinline__ void row(Key rank)
    {
        const unsigned digit = (unsigned)(Key(rank - base) >> shift);
        const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
        if (!__all_sync(ALL_LANES, digit == first))
            atomicAdd(&counts[digit], 1u);
        else if (lane_index() == 0)
            atomicAdd(&counts[digit], (unsigned)WARP);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
    __device__ __forceinline__ void single(Key rank)
    {
        atomicAdd(&counts[(unsigned)(Key(rank - base) >> shift)], 1u);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
};

/* Counts from[begin..end), whole packs by rows and the rest singly. */
template <class Key>
__device__ __forceinline__ void count_keys(count_of<Key> &count, const Key *from, uint64_t begin,
                                           uint64_t end, const key_order<Key> &order)
{
    constexpr unsigned WIDTH = 16 / sizeof(Key);
    struct alignas(16) pack {
        Key at[WIDTH];
    };
    const uint64_t first_pack = (begin + WIDTH - 1) / WIDTH, last_pack = end / WIDTH;
    const uint64_t head = min(first_pack * WIDTH, end);
    if (begin + threadIdx.x < head)
        count.single(order(from[begin + threadIdx.x]));
    if (first_pack > last_pack)
        return;
    if (last_pack * WIDTH + threadIdx.x < end)
        count.single(order(from[last_pack * WIDTH + threadIdx.x]));
    const auto *packs = reinterpret_cast<const pack *>(from);
    uint64_t p = first_pack;
    for (; p + LOADS * THREADS <= last_pack; p += LOADS * THREADS) {
        pack loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
            loaded[k] = packs[p + k * THREADS + threadIdx.x];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
            for (unsigned i = 0; i < WIDTH; i++)
                count.row(order(loaded[k].at[i]));
    }
    for (p += threadIdx.x; p < last_pack; p += THREADS) {
        const pack loaded = packs[p];
        for (unsigned i = 0; i < WIDTH; i++)
            count.single(order(loaded.at[i]));
    }
}

/* Adds a block's counts and extremes to the bucket's. */
template <class Key>
__device__ __forceinline__ void add_counts(shared_layout<Key> *shared, bucket *bucket,
                                           unsigned long long *counts, Key lowest, Key highest)
{
    const unsigned warp = threadIdx.x / WARP;
    lowest = leaf_sort::warp_min(lowest), highest = leaf_sort::warp_max(highest);
    if (lane_index() == 0) {
        shared->lowest[warp] = lowest;
        shared->highest[warp] = highest;
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < 1u << shared->current.bits; d += THREADS)
        if (shared->counts[d] != 0)
            atomicAdd(&counts[d], (unsigned long long)shared->counts[d]);
    if (warp == 0) {
        const bool speaks = lane_index() < WARPS;
        lowest = leaf_sort::warp_min(speaks ? Key(shared->lowest[lane_index()]) : Key(~Key(0)));
        highest = leaf_sort::warp_max(speaks ? Key(shared->highest[lane_index()]) : Key(0));
        if (lane_index() == 0) {
            atomicMin(&bucket->lowest, (unsigned long long)lowest);
            atomicMax(&bucket->highest, (unsigned long long)highest);
        }
    }
}

/* ---- Planning what becomes of a bucket, by one block ---- */

/* Bits that part `count` keys into leaves, at least `least` and at most `most`. */
__device__ __forceinline__ unsigned digit_bits(uint64_t count, const shape &shape, unsigned least,
                                               unsigned most)
{
    unsigned bits = least;
    while (bits < most && count >> bits > shape.leaf)
        bits++;
    return bits;
}

/* Threads get room in a list, one after the other: each lane `wanted`, by all lanes. */
__device__ __forceinline__ unsigned allocate(unsigned *length, unsigned wanted)
{
    const unsigned inclusive = warp_inclusive_sum(wanted);
    unsigned first = 0;
    if (lane_index() == WARP - 1 && inclusive > 0)
        first = atomicAdd(length, inclusive);
    return __shfl_sync(ALL_LANES, first, WARP - 1) + inclusive - wanted;
}

/* A bucket for the next level, where `is_one`; by all lanes of a warp. Its range begins at base
 * and has range_bits. */
template <class Key>
__device__ __forceinline__ void add_bucket(bool is_one, bucket next, unsigned range_bits,
                                           const shape &shape, lengths *lengths,
                                           const level_lists &lists)
{
    if (range_bits <= MAX_BITS && next.count >> range_bits >= COUNTED)
        next.bits = range_bits; /* the counts will say all */
    else
        next.bits = digit_bits(next.count, shape, min((unsigned)MIN_BITS, range_bits),
                               min(shape.later_bits, range_bits));
    next.shift = range_bits - next.bits;
    next.tiles = (unsigned)(next.count / shape.tile + (next.count % shape.tile != 0));
    next.tiles_done = 0, next.action = UNPLANNED;
    next.lowest = ~0ull, next.highest = 0;
    const unsigned index = allocate(&lengths->buckets, is_one);
    next.first_tile = allocate(&lengths->tiles, is_one ? next.tiles : 0);
    next.counts = allocate(&lengths->counts, is_one ? 1u << next.bits : 0);
    if (is_one)
        lists.buckets[index] = next;
    /* The warp together does what is long. */
    for (unsigned ones = __ballot_sync(ALL_LANES, is_one); ones != 0; ones &= ones - 1) {
        const int lane = __ffs((int)ones) - 1;
        const unsigned its_index = __shfl_sync(ALL_LANES, index, lane);
        const unsigned its_first = __shfl_sync(ALL_LANES, next.first_tile, lane);
        const unsigned its_tiles = __shfl_sync(ALL_LANES, next.tiles, lane);
        const unsigned its_counts = __shfl_sync(ALL_LANES, next.counts, lane);
        const unsigned its_digits = 1u << __shfl_sync(ALL_LANES, next.bits, lane);
        for (unsigned t = lane_index(); t < its_tiles; t += WARP)
            lists.bucket_of_tile[its_first + t] = its_index;
        for (unsigned d = lane_index(); d < its_digits; d += WARP)
            lists.counts[its_counts + d] = 0;
    }
}

/* Thread t gets the counts of digits t * own..: turns them into starts within the bucket, in
 * shared memory and, plus `offset`, in `counts`. */
template <class Key>
__device__ __forceinline__ void scan_counts(shared_layout<Key> *shared, unsigned digits,
                                            unsigned long long *counts, uint64_t offset)
{
    unsigned long long *starts = shared->plan.starts;
    const unsigned own = (digits + THREADS - 1) / THREADS, first = threadIdx.x * own;
    unsigned long long sum = 0;
    for (unsigned d = first; d < first + own && d < digits; d++)
        sum += starts[d] = __ldcg(&counts[d]);
    const unsigned long long inclusive = warp_inclusive_sum(sum);
    if (lane_index() == WARP - 1)
        shared->totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    unsigned long long start =
        sum_of_first(threadIdx.x / WARP, shared->totals) + inclusive - sum;
    for (unsigned d = first; d < first + own && d < digits; d++) {
        const unsigned long long count = starts[d];
        starts[d] = start;
        counts[d] = start + offset;
        start += count;
    }
    if (threadIdx.x == 0)
        starts[digits] = shared->current.count;
    __syncthreads();
}

/* Digits up to the window are small: neighbours that start in the same window share a leaf. */
__device__ __forceinline__ bool begins_leaf(const unsigned long long *starts, unsigned digit,
                                            unsigned window)
{
    return digit == 0 || starts[digit + 1] - starts[digit] > window ||
           starts[digit] - starts[digit - 1] > window ||
           starts[digit] / window != starts[digit - 1] / window;
}

/* The digit after the leaf that begins with this one. */
__device__ __forceinline__ unsigned end_of_leaf(const unsigned *begins, unsigned digit,
                                                unsigned digits)
{
    for (unsigned word = (digit + 1) / WARP; word * WARP < digits; word++) {
        const unsigned after = word == (digit + 1) / WARP ? ~0u << (digit + 1) % WARP : ~0u;
        if ((begins[word] & after) != 0)
            return min(digits, word * WARP + __ffs((int)(begins[word] & after)) - 1);
    }
    return digits;
}

/* The bucket will be partitioned: leaves and buckets of its parts. */
template <class Key>
__device__ void plan_parts(shared_layout<Key> *shared, const shape &shape, lengths *own,
                           const level_lists &own_lists, lengths *next_lengths,
                           const level_lists &next_lists)
{
    const bucket &bucket = shared->current;
    const unsigned digits = 1u << bucket.bits;
    const unsigned long long *starts = shared->plan.starts;
    const unsigned place = bucket.place == IN_OTHER ? IN_OUTPUT : IN_OTHER;
    const unsigned rounded = (digits + WARP - 1) / WARP * WARP;
    for (unsigned d = threadIdx.x; d < rounded; d += THREADS) {
        const unsigned begins =
            __ballot_sync(ALL_LANES, d < digits && begins_leaf(starts, d, shape.window));
        if (lane_index() == 0)
            shared->plan.leaf_begins[d / WARP] = begins;
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < rounded; d += THREADS) {
        const bool begins = shared->plan.leaf_begins[d / WARP] >> lane_index() & 1;
        const unsigned end =
            begins ? end_of_leaf(shared->plan.leaf_begins, d, digits) : 0;
        const uint64_t first = d < digits ? starts[d] : 0, count = begins ? starts[end] - first : 0;
        const bool is_leaf = count > 0 && count <= CAPACITY<Key>, is_large = count > CAPACITY<Key>;
        const unsigned index = allocate(&own->leaves, is_leaf);
        if (is_leaf)
            own_lists.leaves[index] = {bucket.first + first, (unsigned)count, place};
        if (__any_sync(ALL_LANES, is_large)) {
            struct bucket next = {};
            next.first = bucket.first + first;
            next.count = count;
            next.base = bucket.base + ((uint64_t)d << bucket.shift);
            next.place = place;
            add_bucket<Key>(is_large, next, bucket.shift, shape, next_lengths, next_lists);
        }
    }
}

/* The result will be written from the counts: pieces of it. */
template <class Key>
__device__ void plan_pieces(const bucket &bucket, unsigned index, lengths *own,
                            const level_lists &own_lists, unsigned *broadcast)
{
    const auto pieces = (unsigned)(bucket.count / FILL + (bucket.count % FILL != 0));
    if (threadIdx.x == 0)
        *broadcast = atomicAdd(&own->pieces, pieces);
    __syncthreads();
    for (unsigned p = threadIdx.x; p < pieces; p += THREADS)
        own_lists.pieces[*broadcast + p] = {p, index, 0};
}

template <class Key>
__device__ __noinline__ void plan_bucket(shared_layout<Key> *shared, unsigned index, const shape &shape,
                            lengths *own, const level_lists &own_lists, const level_lists &next_lists)
{
    fetch_bucket(&shared->current, &own_lists.buckets[index]);
    bucket &bucket = shared->current;
    const auto lowest = (Key)bucket.lowest, highest = (Key)bucket.highest;
    const auto spanned = (unsigned)(Key(highest - bucket.base) >> bucket.shift) -
                         (unsigned)(Key(lowest - bucket.base) >> bucket.shift) + 1;
    const unsigned digits = 1u << bucket.bits;
    unsigned action = PARTITION;
    if (lowest == highest || bucket.shift == 0)
        action = WRITE_COUNTS;
    else if (4 * spanned <= digits)
        action = NO_MORE;
    if (action == NO_MORE) {
        if (threadIdx.x / WARP == 0) {
            struct bucket next = bucket;
            next.base = lowest;
            add_bucket<Key>(lane_index() == 0, next, bit_length(Key(highest - lowest)), shape,
                            own + 1, next_lists);
        }
    } else {
        unsigned long long *counts = own_lists.counts + bucket.counts;
        scan_counts(shared, digits, counts, action == PARTITION ? bucket.first : 0);
        if (action == PARTITION)
            plan_parts(shared, shape, own, own_lists, own + 1, next_lists);
        else
            plan_pieces<Key>(bucket, index, own, own_lists, &shared->last);
    }
    if (threadIdx.x == 0) {
        own_lists.buckets[index].action = action;
        if (action == PARTITION)
            atomicAdd(&own->partitions, 1u);
    }
    __syncthreads();
}

/* Step 1 of a level: a block counts tiles that follow each other, and so few buckets. */
template <class Key>
__device__ __noinline__ void count_level(shared_layout<Key> *shared, const arrays<Key> &arrays,
                            const shape &shape, unsigned level, lengths *own,
                            const level_lists &own_lists, const level_lists &next_lists)
{
    const uint64_t tiles = __ldcg(&own->tiles);
    auto tile = (unsigned)(tiles * blockIdx.x / gridDim.x);
    const auto end = (unsigned)(tiles * (blockIdx.x + 1) / gridDim.x);
    while (tile < end) {
        const unsigned index = level == 0 ? 0 : __ldcg(&own_lists.bucket_of_tile[tile]);
        fetch_bucket(&shared->current, &own_lists.buckets[index]);
        const bucket &bucket = shared->current;
        for (unsigned d = threadIdx.x; d < 1u << bucket.bits; d += THREADS)
            shared->counts[d] = 0;
        __syncthreads();
        const unsigned stop = min(end, bucket.first_tile + bucket.tiles);
        const uint64_t first = (uint64_t)(tile - bucket.first_tile) * shape.tile;
        const uint64_t last =
            min((uint64_t)(stop - bucket.first_tile) * shape.tile, bucket.count);
        count_of<Key> count = {shared->counts, (Key)bucket.base, Key(~Key(0)), 0, bucket.shift};
        count_keys(count, arrays.at(bucket.place), bucket.first + first, bucket.first + last,
                   arrays.order);
        add_counts(shared, &own_lists.buckets[index], own_lists.counts + bucket.counts,
                   count.lowest, count.highest);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            const unsigned done =
                atomicAdd(&own_lists.buckets[index].tiles_done, stop - tile) + stop - tile;
            shared->last = done == bucket.tiles;
        }
        __syncthreads();
        if (shared->last) {
            __threadfence();
            plan_bucket(shared, index, shape, own, own_lists, next_lists);
        }
        __syncthreads();
        tile = stop;
    }
}

/* ---- 2. Partitioning ---- */

/* A place among the keys of the same digit. By all lanes of a warp; those that are not
 * `present` get none. */
__device__ __forceinline__ unsigned claim_rank(unsigned *counts, unsigned digit, bool present)
{
    const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
    if (!__all_sync(ALL_LANES, present && digit == first))
        return present ? atomicAdd(&counts[digit], 1u) : 0;
    unsigned before = 0;
    if (lane_index() == 0)
        before = atomicAdd(&counts[digit], (unsigned)WARP);
    return __shfl_sync(ALL_LANES, before, 0) + lane_index();
}

/* Turns the counts of a tile's digits into starts within it, and claims space for each. */
template <class Key>
__device__ __forceinline__ void claim_runs(shared_layout<Key> *shared, unsigned digits,
                                           unsigned long long *cursors)
{
    constexpr unsigned OWN = MAX_DIGITS / THREADS;
    partition_layout *partition = &shared->tile.partition;
    const unsigned own = (digits + THREADS - 1) / THREADS, first = threadIdx.x * own;
    unsigned count[OWN] = {}, sum = 0;
    unsigned long long claimed[OWN];
#pragma unroll
    for (unsigned k = 0; k < OWN; k++)
        if (k < own && first + k < digits) {
            count[k] = partition->counts[first + k];
            sum += count[k];
            if (count[k] > 0)
                claimed[k] = atomicAdd(&cursors[first + k], (unsigned long long)count[k]);
        }
    const unsigned inclusive = warp_inclusive_sum(sum);
    if (lane_index() == WARP - 1)
        shared->warp_totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    unsigned start = sum_of_first(threadIdx.x / WARP, shared->warp_totals) + inclusive - sum;
#pragma unroll
    for (unsigned k = 0; k < OWN; k++)
        if (k < own && first + k < digits) {
            partition->counts[first + k] = start;
            if (count[k] > 0)
                partition->destination[first + k] = claimed[k] - start;
            start += count[k];
        }
}

template <class Key>
__device__ __forceinline__ void partition_tile(shared_layout<Key> *shared, const Key *from,
                                               unsigned count, Key *to,
                                               unsigned long long *cursors,
                                               const key_order<Key> &order)
{
    partition_layout *partition = &shared->tile.partition;
    const auto base = (Key)shared->current.base;
    const unsigned shift = shared->current.shift, digits = 1u << shared->current.bits;
    for (unsigned d = threadIdx.x; d < digits; d += THREADS)
        partition->counts[d] = 0;
    Key rank[KEYS<Key>];
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++) {
        const unsigned i = k * THREADS + threadIdx.x;
        rank[k] = i < count ? order(from[i]) : base;
    }
    __syncthreads();
    leaf_sort::packed_places<KEYS<Key>> places;
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++)
        places.set(k, claim_rank(partition->counts, (unsigned)(Key(rank[k] - base) >> shift),
                                 k * THREADS + threadIdx.x < count));
    __syncthreads();
    claim_runs(shared, digits, cursors);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++)
        if (k * THREADS + threadIdx.x < count)
            shared->tile.keys[partition->counts[(unsigned)(Key(rank[k] - base) >> shift)] +
                              places.get(k)] = rank[k];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const Key moved = shared->tile.keys[i];
        to[partition->destination[(unsigned)(Key(moved - base) >> shift)] + i] =
            order.inverse(moved);
    }
    __syncthreads();
}

template <class Key>
__device__ __noinline__ void partition_level(shared_layout<Key> *shared, const arrays<Key> &arrays,
                                const shape &shape, unsigned level, const lengths *own,
                                const level_lists &lists)
{
    const unsigned tiles = __ldcg(&own->tiles);
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const unsigned index = level == 0 ? 0 : __ldcg(&lists.bucket_of_tile[tile]);
        fetch_bucket(&shared->current, &lists.buckets[index]);
        const bucket &bucket = shared->current;
        if (bucket.action == PARTITION) {
            const uint64_t first = (uint64_t)(tile - bucket.first_tile) * shape.tile;
            const auto count = (unsigned)min((uint64_t)shape.tile, bucket.count - first);
            partition_tile(shared, arrays.at(bucket.place) + bucket.first + first, count,
                           bucket.place == IN_OTHER ? arrays.out : arrays.other,
                           lists.counts + bucket.counts, arrays.order);
        }
        __syncthreads();
    }
}

/* ---- What is sorted by then ---- */

/* Writes a piece of a bucket from its counts, which are starts now. */
template <class Key>
__device__ void write_piece(shared_layout<Key> *shared, const arrays<Key> &arrays, uint64_t piece,
                            const unsigned long long *counts)
{
    const bucket &bucket = shared->current;
    const uint64_t begin = piece * FILL, end = min(begin + FILL, bucket.count);
    Key *out = arrays.out + bucket.first;
    const bool is_constant = bucket.lowest == bucket.highest;
    const unsigned digits = is_constant ? 1 : 1u << bucket.bits;
    for (unsigned d = threadIdx.x; d < digits && !is_constant; d += THREADS)
        shared->plan.starts[d] = __ldcg(&counts[d]);
    __syncthreads();
    for (uint64_t i = begin + threadIdx.x; i < end; i += THREADS) {
        /* The last digit that starts at i or before. */
        unsigned digit = 0;
        for (unsigned step = digits / 2; step > 0; step /= 2)
            if (shared->plan.starts[digit + step] <= i)
                digit += step;
        out[i] = arrays.order.inverse(
            is_constant ? (Key)bucket.lowest : Key((Key)bucket.base + (Key)digit));
    }
    __syncthreads();
}

template <class Key>
__device__ __noinline__ void write_pieces(shared_layout<Key> *shared, const arrays<Key> &arrays,
                             const lengths *own, const level_lists &lists)
{
    const unsigned pieces = __ldcg(&own->pieces);
    for (unsigned p = blockIdx.x; p < pieces; p += gridDim.x) {
        const uint64_t number = __ldcg(reinterpret_cast<const uint64_t *>(&lists.pieces[p].first));
        fetch_bucket(&shared->current, &lists.buckets[__ldcg(&lists.pieces[p].count)]);
        write_piece(shared, arrays, number, lists.counts + shared->current.counts);
    }
}

template <class Key>
__device__ __noinline__ void sort_leaves(shared_layout<Key> *shared, const arrays<Key> &arrays,
                            const lengths *own, const level_lists &lists)
{
    const unsigned leaves = __ldcg(&own->leaves);
    for (unsigned l = blockIdx.x; l < leaves; l += gridDim.x) {
        const uint64_t first = __ldcg(reinterpret_cast<const uint64_t *>(&lists.leaves[l].first));
        leaf_sort::sort_leaf<Key, THREADS>(
            &shared->leaf, arrays.at(__ldcg(&lists.leaves[l].place)) + first,
            __ldcg(&lists.leaves[l].count), {arrays.out + first, arrays.order});
    }
}

template <class Key>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    msd_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
               const __grid_constant__ list_sets sets, const __grid_constant__ shape shape)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    for (unsigned level = 0; level + 1 < MAX_LEVELS; level++) {
        lengths *own = &control->of_level[level];
        const level_lists &lists = sets.set[level % 2], &others = sets.set[1 - level % 2];
        count_level(shared, arrays, shape, level, own, lists, others);
        grid_barrier(control);
        const bool partitions = __ldcg(&own->partitions) > 0;
        if (partitions)
            partition_level(shared, arrays, shape, level, own, lists);
        if (level > 0)
            sort_leaves(shared, arrays, own - 1, others);
        write_pieces(shared, arrays, own, lists);
        const bool is_last = __ldcg(&own[1].buckets) == 0;
        /* The next level uses the lists that pieces are read from. */
        if (partitions || !is_last)
            grid_barrier(control);
        if (is_last) {
            sort_leaves(shared, arrays, own, lists);
            break;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        shared->last = atomicAdd(&control->blocks_done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (shared->last)
        reset<Key>(control, sets.set[0], shape);
}

/* An array of one leaf. */
template <class Key>
__global__ void __launch_bounds__(LEAF_THREADS) leaf_kernel(arrays<Key> arrays, unsigned n)
{
    leaf_sort::sort_leaf(shared_memory<leaf_sort::shared_layout<Key, LEAF_THREADS>>(), arrays.in,
                         n, {arrays.out, arrays.order});
}

/* ---- the host's side ---- */

constexpr size_t align(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

template <class Key> static shape shape_of(const struct problem *problem)
{
    const uint64_t n = problem->n;
    const uint64_t blocks = (uint64_t)BLOCKS * problem->device->multiprocessors;
    shape shape = {};
    shape.n = n;
    shape.tile = (unsigned)std::min<uint64_t>(
        std::max<uint64_t>(ceil_div(ceil_div(n, blocks), THREADS) * THREADS, THREADS), TILE<Key>);
    shape.leaf = (unsigned)std::min<uint64_t>(
        std::max<uint64_t>(ceil_div(n, blocks) * 5 / 4, CAPACITY<Key> / 16), CAPACITY<Key> / 4 * 3);
    shape.window = std::min(CAPACITY<Key> / 4, shape.leaf / 2);
    unsigned bits = MIN_BITS;
    while (n >> bits > shape.leaf && bits < 32)
        bits++;
    shape.later_bits = 8;
    const unsigned levels = bits <= MAX_BITS ? 1 : (unsigned)ceil_div(bits, 8);
    shape.bits = (unsigned)ceil_div(bits, levels);
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
    const uint64_t buckets = n / CAPACITY<Key> + 1;
    /* A bucket has a digit for each shape.leaf / 2 or COUNTED keys, or 2^MIN_BITS. */
    const uint64_t counts =
        MAX_DIGITS + std::max({2 * n / shape.leaf, buckets << MIN_BITS, n / COUNTED}) + buckets;
    /* Between two that are larger than the window lies at most one leaf, and one in a window. */
    return {buckets, n / shape.tile + 2 * buckets, counts,
            3 * (n / shape.window) + 3 * buckets + MAX_DIGITS, n / FILL + buckets};
}

/* Gives out scratch memory, piece after piece; from null, only counts it. */
struct allocator {
    char *start;
    size_t used;

    template <class T> T *get(uint64_t count)
    {
        char *piece = start == nullptr ? nullptr : start + used;
        used += align(count * sizeof(T));
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
    return problem->n <= CAPACITY<Key>;
}

static size_t scratch_bytes(const struct problem *problem)
{
    if (element_bytes(problem->type) == 8)
        return is_one_leaf<uint64_t>(problem) ? 0 : scratch_of<uint64_t>(problem, nullptr).bytes;
    return is_one_leaf<uint32_t>(problem) ? 0 : scratch_of<uint32_t>(problem, nullptr).bytes;
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

/* All blocks that the device holds at once, or as many as there are tiles and leaves for. */
template <class Key> static uint64_t grid_of(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const shape shape = shape_of<Key>(problem);
    int per_multiprocessor = 0;
    constexpr size_t shared_bytes = sizeof(shared_layout<Key>);
    if (!succeeded(queue_of(call), "shared memory",
                   allow_shared_bytes(msd_kernel<Key>, shared_bytes)) ||
        !succeeded(queue_of(call), "occupancy",
                   cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &per_multiprocessor, msd_kernel<Key>, THREADS, shared_bytes)))
        return 0;
    const uint64_t resident =
        (uint64_t)std::min(per_multiprocessor, (int)BLOCKS) * problem->device->multiprocessors;
    return std::min(resident, std::max(ceil_div(problem->n, shape.tile),
                                       ceil_div(problem->n, shape.leaf / 2)));
}

template <class Key> static void sort_keys(const struct call *call)
{
    const struct problem *problem = &call->problem;
    arrays<Key> arrays = {static_cast<const Key *>(call->input), static_cast<Key *>(call->output),
                          nullptr, order_of<Key>(problem->type)};
    if (problem->n == 0)
        return;
    if (is_one_leaf<Key>(problem))
        return launch<leaf_kernel<Key>>(queue_of(call),
                                        {1,
                                         LEAF_THREADS,
                                         {2 * problem->n * sizeof(Key)},
                                         sizeof(leaf_sort::shared_layout<Key, LEAF_THREADS>)},
                                        arrays, (unsigned)problem->n);
    const scratch<Key> scratch = scratch_of<Key>(problem, call->scratch);
    arrays.other = scratch.other;
    launch<msd_kernel<Key>>(queue_of(call),
                            {grid_of<Key>(call),
                             THREADS,
                             {2 * problem->n * sizeof(Key)},
                             sizeof(shared_layout<Key>),
                             true},
                            arrays, scratch.state, scratch.lists, shape_of<Key>(problem));
}

static void run(const struct call *call)
{
    if (element_bytes(call->problem.type) == 8)
        sort_keys<uint64_t>(call);
    else
        sort_keys<uint32_t>(call);
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_msd) = {
    .name = "msd",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .summary = "most significant digit first, then in shared memory; one launch",
    .source = "after Stehle and Jacobsen 2017",
    .scratch_bytes = SCANBENCH_BACKEND::msd::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::msd::prepare,
    .run = SCANBENCH_BACKEND::msd::run,
};
