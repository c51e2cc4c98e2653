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
#include "leaf_sort.cuh"
#include "tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace msd
{

enum {
    /* Threads per block and blocks per multiprocessor, of the launch that does all, */
    THREADS = 512,
    BLOCKS = 2,
    /* of those that do one step, where arrays are large, */
    COUNT_THREADS = 512,
    COUNT_BLOCKS = 3,
    PARTITION_THREADS = 512,
    PARTITION_BLOCKS = 2,
    PARTITION_BYTES = 64, /* of keys per thread */
    LEAVES_THREADS = 512,
    LEAVES_BLOCKS = 3,
    /* and of the sort of one leaf. */
    LEAF_THREADS = 1024,
    LEAF_BYTES = 64 * 1024,
    MAX_WARPS = 32,
    BY_TURNS = 8,
    LEAF_OF_BYTES = 32 * 1024,    /* of keys, at most */
    FEW_KEYS = 4,                 /* per thread, where arrays are small: little code to fetch, */
    SOME_KEYS = 8,                /* and where they are larger */
    LARGE_BYTES = 32 << 20,       /* of an array from which steps are launches of their own, */
    VERY_LARGE_BYTES = 512 << 20, /* and of more levels */
    MAX_BITS = 10,                /* of a digit, */
    USUAL_BITS = 9,               /* and of one that others follow */
    MIN_BITS = 4,
    MAX_DIGITS = 1 << MAX_BITS,
    COUNTED = 256, /* keys of a value for which counters are worth their memory */
    MAX_LEVELS = 48,
    LOADS = 4 /* packs in flight, of a thread that counts */
};

template <class Key> constexpr unsigned ONE_LEAF = LEAF_BYTES / sizeof(Key);
/* Keys per thread of a tile, and of a leaf. */
template <class Key> constexpr unsigned MANY_KEYS = LEAF_OF_BYTES / sizeof(Key) / THREADS;
template <class Key> constexpr unsigned PARTITION_KEYS = PARTITION_BYTES / sizeof(Key);
using leaf_sort::bit_length;
using leaf_sort::packed_places;

/* What the host decides, by n alone. */
struct shape {
    uint64_t n;
    unsigned tile;     /* keys, */
    unsigned piece;    /* and those that a block writes from counts */
    unsigned leaf;     /* keys that a leaf should have, */
    unsigned capacity; /* and may have */
    unsigned window;   /* neighbours that start in the same window share a leaf */
    unsigned bits;     /* of the first digit */
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

    __device__ __forceinline__ const Key *at(unsigned place) const
    {
        return place == IN_INPUT ? in : place == IN_OTHER ? other : out;
    }
};

struct partition_layout {
    unsigned counts[MAX_DIGITS];
    /* Where key 0 of the tile would go, were it of that digit: a pointer. */
    uint64_t destination[MAX_DIGITS];
};

/* Digits after which a leaf begins, a bit each. */
struct plan_layout {
    unsigned long long starts[MAX_DIGITS + 1];
    unsigned leaf_begins[MAX_DIGITS / WARP];
};

template <class Key> struct shared_layout {
    static constexpr unsigned TILE =
        std::max(MANY_KEYS<Key> * THREADS, PARTITION_KEYS<Key> *PARTITION_THREADS);
    union {
        leaf_sort::shared_layout<Key, THREADS, MANY_KEYS<Key>> leaf;
        struct {
            Key keys[TILE];
            partition_layout partition;
        } tile;
        unsigned counts[MAX_DIGITS];
        plan_layout plan;
    };
    bucket current; /* that the block works on */
    unsigned warp_totals[MAX_WARPS];
    unsigned long long totals[MAX_WARPS];
    unsigned long long lowest[MAX_WARPS], highest[MAX_WARPS];
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

/* Are these digits, one per lane, so alike that atomics would queue? */
__device__ __forceinline__ bool are_alike(unsigned digit)
{
    enum { MANY = 10 };
    const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
    return __popc(__ballot_sync(ALL_LANES, digit == first)) >= MANY;
}

template <class Order, class Key = typename Order::key> struct count_of {
    unsigned *counts;
    Key base, lowest, highest;
    unsigned shift;

    __device__ __forceinline__ unsigned digit_of(Key rank) const
    {
        return (unsigned)(Key(rank - base) >> shift);
    }
    /* By all lanes of a warp: what agrees is added once. */
    __device__ __forceinline__ void row_alike(Key key)
    {
        const Key rank = Order()(key);
        const unsigned digit = digit_of(rank);
        const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
        if (!__all_sync(ALL_LANES, digit == first))
            atomicAdd(&counts[digit], 1u);
        else if (lane_index() == 0)
            atomicAdd(&counts[digit], (unsigned)WARP);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
    __device__ __forceinline__ void single(Key key)
    {
        const Key rank = Order()(key);
        atomicAdd(&counts[digit_of(rank)], 1u);
        lowest = min(lowest, rank);
        highest = max(highest, rank);
    }
};

/* Counts from[begin..end), whole packs by rows and the rest singly. */
template <class Order, class Key>
__device__ __forceinline__ void count_keys(count_of<Order> &count, const Key *from, uint64_t begin,
                                           uint64_t end)
{
    constexpr unsigned WIDTH = 16 / sizeof(Key);
    struct alignas(16) pack {
        Key at[WIDTH];
    };
    const uint64_t first_pack = (begin + WIDTH - 1) / WIDTH, last_pack = end / WIDTH;
    const uint64_t head = min(first_pack * WIDTH, end);
    if (begin + threadIdx.x < head)
        count.single(from[begin + threadIdx.x]);
    if (first_pack > last_pack)
        return;
    if (last_pack * WIDTH + threadIdx.x < end)
        count.single(from[last_pack * WIDTH + threadIdx.x]);
    const auto *packs = reinterpret_cast<const pack *>(from);
    uint64_t p = first_pack;
    for (; p + LOADS * blockDim.x <= last_pack; p += LOADS * blockDim.x) {
        pack loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
            loaded[k] = packs[p + k * blockDim.x + threadIdx.x];
        if (are_alike(count.digit_of(Order()(loaded[0].at[0])))) {
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
                for (unsigned i = 0; i < WIDTH; i++)
                    count.row_alike(loaded[k].at[i]);
        } else {
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
                for (unsigned i = 0; i < WIDTH; i++)
                    count.single(loaded[k].at[i]);
        }
    }
    for (p += threadIdx.x; p < last_pack; p += blockDim.x) {
        const pack loaded = packs[p];
        for (unsigned i = 0; i < WIDTH; i++)
            count.single(loaded.at[i]);
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
    for (unsigned d = threadIdx.x; d < 1u << shared->current.bits; d += blockDim.x)
        if (shared->counts[d] != 0)
            atomicAdd(&counts[d], (unsigned long long)shared->counts[d]);
    if (warp == 0) {
        const bool speaks = lane_index() < blockDim.x / WARP;
        lowest = leaf_sort::warp_min(speaks ? Key(shared->lowest[lane_index()]) : Key(~Key(0)));
        highest = leaf_sort::warp_max(speaks ? Key(shared->highest[lane_index()]) : Key(0));
        if (lane_index() == 0) {
            atomicMin(&bucket->lowest, (unsigned long long)lowest);
            atomicMax(&bucket->highest, (unsigned long long)highest);
        }
    }
}

/* ---- Planning what becomes of a bucket, by one block ---- */

/* Bits of a digit that parts `count` keys into leaves, or does so with those that follow. */
__host__ __device__ __forceinline__ unsigned digit_bits(uint64_t count, unsigned leaf)
{
    unsigned bits = MIN_BITS;
    while (count >> bits > leaf)
        bits++;
    if (bits <= MAX_BITS)
        return bits;
    const unsigned levels = (bits + USUAL_BITS - 1) / USUAL_BITS;
    return (bits + levels - 1) / levels;
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
        next.bits = min(digit_bits(next.count, shape.leaf), range_bits);
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
    const unsigned own = (digits + blockDim.x - 1) / blockDim.x, first = threadIdx.x * own;
    unsigned long long sum = 0;
    for (unsigned d = first; d < first + own && d < digits; d++)
        sum += starts[d] = __ldcg(&counts[d]);
    const unsigned long long inclusive = warp_inclusive_sum(sum);
    if (lane_index() == WARP - 1)
        shared->totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    unsigned long long start = sum_of_first(threadIdx.x / WARP, shared->totals) + inclusive - sum;
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
    for (unsigned d = threadIdx.x; d < rounded; d += blockDim.x) {
        const unsigned begins =
            __ballot_sync(ALL_LANES, d < digits && begins_leaf(starts, d, shape.window));
        if (lane_index() == 0)
            shared->plan.leaf_begins[d / WARP] = begins;
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < rounded; d += blockDim.x) {
        const bool begins = shared->plan.leaf_begins[d / WARP] >> lane_index() & 1;
        const unsigned end = begins ? end_of_leaf(shared->plan.leaf_begins, d, digits) : 0;
        const uint64_t first = d < digits ? starts[d] : 0, count = begins ? starts[end] - first : 0;
        const bool is_leaf = count > 0 && count <= shape.capacity,
                   is_large = count > shape.capacity;
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
__device__ void plan_pieces(const bucket &bucket, unsigned index, unsigned piece, lengths *own,
                            const level_lists &own_lists, unsigned *broadcast)
{
    const auto pieces = (unsigned)(bucket.count / piece + (bucket.count % piece != 0));
    if (threadIdx.x == 0)
        *broadcast = atomicAdd(&own->pieces, pieces);
    __syncthreads();
    for (unsigned p = threadIdx.x; p < pieces; p += blockDim.x)
        own_lists.pieces[*broadcast + p] = {p, index, 0};
}

template <class Key>
__device__ __noinline__ void plan_bucket(unsigned index, const shape &shape, lengths *own,
                                         const level_lists &own_lists,
                                         const level_lists &next_lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    fetch_bucket(&shared->current, &own_lists.buckets[index]);
    bucket &bucket = shared->current;
    const auto lowest = (Key)bucket.lowest, highest = (Key)bucket.highest;
    const auto spanned = (unsigned)(Key(highest - bucket.base) >> bucket.shift) -
                         (unsigned)(Key(lowest - bucket.base) >> bucket.shift) + 1;
    const unsigned digits = 1u << bucket.bits;
    unsigned action = PARTITION;
    if (lowest == highest || bucket.shift == 0)
        action = WRITE_COUNTS;
    else if (2 * spanned <= digits)
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
            plan_pieces<Key>(bucket, index, shape.piece, own, own_lists, &shared->last);
    }
    if (threadIdx.x == 0) {
        own_lists.buckets[index].action = action;
        if (action == PARTITION)
            atomicAdd(&own->partitions, 1u);
    }
    __syncthreads();
}

/* Step 1 of a level: a block counts tiles that follow each other, and so few buckets. */
template <class Order, class Key>
__device__ __noinline__ void count_level(const arrays<Key> &arrays, const shape &shape,
                                         unsigned level, lengths *own, const level_lists &own_lists,
                                         const level_lists &next_lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const uint64_t tiles = __ldcg(&own->tiles);
    auto tile = (unsigned)(tiles * blockIdx.x / gridDim.x);
    const auto end = (unsigned)(tiles * (blockIdx.x + 1) / gridDim.x);
    while (tile < end) {
        const unsigned index = level == 0 ? 0 : __ldcg(&own_lists.bucket_of_tile[tile]);
        fetch_bucket(&shared->current, &own_lists.buckets[index]);
        const bucket &bucket = shared->current;
        for (unsigned d = threadIdx.x; d < 1u << bucket.bits; d += blockDim.x)
            shared->counts[d] = 0;
        __syncthreads();
        const unsigned stop = min(end, bucket.first_tile + bucket.tiles);
        const uint64_t first = (uint64_t)(tile - bucket.first_tile) * shape.tile;
        const uint64_t last = min((uint64_t)(stop - bucket.first_tile) * shape.tile, bucket.count);
        count_of<Order> count = {shared->counts, (Key)bucket.base, Key(~Key(0)), 0, bucket.shift};
        count_keys(count, arrays.at(bucket.place), bucket.first + first, bucket.first + last);
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
            plan_bucket<Key>(index, shape, own, own_lists, next_lists);
        }
        __syncthreads();
        tile = stop;
    }
}

/* ---- 2. Partitioning ---- */

/* A tile's keys in registers: number k * THREADS + threadIdx.x of `count`, which a FULL tile
 * need not be asked for. */
template <class Key, unsigned THREADS, unsigned COUNT, bool FULL> struct tile_keys {
    Key rank[COUNT];
    unsigned count;

    __device__ __forceinline__ bool has(unsigned k) const
    {
        return FULL || k * THREADS + threadIdx.x < count;
    }
    /* Keys as they are: nothing waits for them yet. */
    __device__ __forceinline__ void load(const Key *from)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            rank[k] = has(k) ? from[k * THREADS + threadIdx.x] : Key(0);
    }
};

/* Gives each key a place among those of its digit, in no order. */
template <class Key, unsigned THREADS, unsigned COUNT, bool FULL>
__device__ __forceinline__ void claim_places(unsigned *counts,
                                             const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                             unsigned shift, packed_places<COUNT> &places)
{
    unsigned place[COUNT] = {};
    if (!are_alike((unsigned)(keys.rank[0] >> shift))) {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (keys.has(k))
                place[k] = atomicAdd(&counts[(unsigned)(keys.rank[k] >> shift)], 1u);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            places.set(k, place[k]);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        /* What is not there has a digit that no other has. */
        const unsigned digit =
            keys.has(k) ? (unsigned)(keys.rank[k] >> shift) : (unsigned)MAX_DIGITS;
        const unsigned peers = __match_any_sync(ALL_LANES, digit);
        const unsigned leader = __ffs((int)peers) - 1;
        unsigned before = 0;
        if (lane_index() == leader && digit < MAX_DIGITS)
            before = atomicAdd(&counts[digit], (unsigned)__popc(peers));
        before = __shfl_sync(ALL_LANES, before, (int)leader);
        places.set(k, before + __popc(peers & lanes_below()));
    }
}

/* A thread's digits of a tile: where they start in it, and where the block may write them. */
template <unsigned THREADS> struct claimed_runs {
    static constexpr unsigned OWN = MAX_DIGITS / THREADS > 0 ? MAX_DIGITS / THREADS : 1;
    unsigned first, count;
    unsigned start[OWN];
    unsigned long long cursor[OWN];

    /* Turns the counts into starts, and claims space for each run. */
    template <class Key>
    __device__ __forceinline__ void claim(shared_layout<Key> *shared, unsigned digits,
                                          unsigned long long *cursors)
    {
        unsigned *counts = shared->tile.partition.counts;
        const unsigned each = (digits + THREADS - 1) / THREADS;
        unsigned sum = 0;
        first = threadIdx.x * each;
        count = first < digits ? min(each, digits - first) : 0;
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count) {
                start[k] = counts[first + k];
                cursor[k] = atomicAdd(&cursors[first + k], (unsigned long long)start[k]);
                sum += start[k];
            }
        const unsigned warp = threadIdx.x / WARP;
        const bool has_digits = warp * WARP * each < digits;
        const unsigned inclusive = has_digits ? warp_inclusive_sum(sum) : 0;
        if (has_digits && lane_index() == WARP - 1)
            shared->warp_totals[warp] = inclusive;
        __syncthreads();
        unsigned next = has_digits ? sum_of_first(warp, shared->warp_totals) + inclusive - sum : 0;
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count) {
                const unsigned here = start[k];
                start[k] = counts[first + k] = next;
                next += here;
            }
    }
    /* Not sooner than needed: this waits for the claims. */
    template <class Key>
    __device__ __forceinline__ void tell(shared_layout<Key> *shared, Key *to) const
    {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count)
                shared->tile.partition.destination[first + k] =
                    reinterpret_cast<uint64_t>(to) + (cursor[k] - start[k]) * sizeof(Key);
    }
};

/* To global memory; the compiler would not know that of a pointer out of shared memory. */
template <class Key> __device__ __forceinline__ void store_global(uint64_t address, Key key)
{
#ifdef __CUDACC__
    if constexpr (sizeof(Key) == 8)
        asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(key));
    else
        asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(key));
#else
    *reinterpret_cast<Key *>(address) = key;
#endif
}

/* Writes the sorted tile, some keys at a time. */
template <class Order, unsigned THREADS, unsigned COUNT, bool FULL, class Key>
__device__ __forceinline__ void write_runs(const shared_layout<Key> *shared,
                                           const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                           Key base, unsigned shift)
{
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
    static_assert(COUNT % STEP == 0);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        Key moved[STEP];
        uint64_t to[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            moved[j] = keys.has(k + j) ? shared->tile.keys[(k + j) * THREADS + threadIdx.x] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            to[j] = shared->tile.partition.destination[(unsigned)(moved[j] >> shift)];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j))
                store_global(to[j] + ((k + j) * THREADS + threadIdx.x) * (uint64_t)sizeof(Key),
                             Order().inverse(Key(moved[j] + base)));
    }
}

/* Partitions a tile whose keys are loaded. The counters are zero, and will be. If `next` is not
 * null it has the next tile's keys loaded, which is on its way while this one is written. */
template <class Order, unsigned THREADS, unsigned COUNT, bool FULL, class Key>
__device__ __forceinline__ void partition_tile(shared_layout<Key> *shared,
                                               tile_keys<Key, THREADS, COUNT, FULL> &keys, Key *to,
                                               unsigned long long *cursors, const Key *next)
{
    partition_layout *partition = &shared->tile.partition;
    const unsigned digits = 1u << shared->current.bits, shift = shared->current.shift;
    const auto base = (Key)shared->current.base;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        keys.rank[k] = Order()(keys.rank[k]) - base;
    packed_places<COUNT> places;
    claim_places(partition->counts, keys, shift, places);
    __syncthreads();
    claimed_runs<THREADS> runs;
    runs.claim(shared, digits, cursors);
    __syncthreads();
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        unsigned start[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            start[j] =
                keys.has(k + j) ? partition->counts[(unsigned)(keys.rank[k + j] >> shift)] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j))
                shared->tile.keys[start[j] + places.get(k + j)] = keys.rank[k + j];
    }
    runs.tell(shared, to);
    if (next != nullptr)
        keys.load(next);
    __syncthreads();
    for (unsigned d = threadIdx.x; d < digits; d += THREADS)
        partition->counts[d] = 0;
    write_runs<Order>(shared, keys, base, shift);
    __syncthreads();
}

/* Of the bucket that the block works on: tiles [tile..stop), every `stride`th. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void
partition_tiles(shared_layout<Key> *shared, const arrays<Key> &arrays, unsigned tile, unsigned stop,
                unsigned stride, unsigned tile_size, unsigned long long *counts)
{
    const bucket &bucket = shared->current;
    const uint64_t begin = (uint64_t)(tile - bucket.first_tile) * tile_size;
    const uint64_t end = min((uint64_t)(stop - bucket.first_tile) * tile_size, bucket.count);
    const uint64_t step = (uint64_t)stride * tile_size;
    const Key *from = arrays.at(bucket.place) + bucket.first;
    Key *to = bucket.place == IN_OTHER ? arrays.out : arrays.other;
    uint64_t i = begin;
    for (unsigned d = threadIdx.x; d < 1u << bucket.bits; d += THREADS)
        shared->tile.partition.counts[d] = 0;
    __syncthreads();
    constexpr unsigned TILE = COUNT * THREADS;
    if (tile_size == TILE && i + TILE <= end) {
        tile_keys<Key, THREADS, COUNT, true> keys;
        keys.load(from + i);
        for (; i + TILE <= end; i += step)
            partition_tile<Order>(shared, keys, to, counts,
                                  i + step + TILE <= end ? from + i + step : nullptr);
    }
    for (; i < end; i += step) {
        tile_keys<Key, THREADS, COUNT, false> keys;
        keys.count = (unsigned)min(end - i, (uint64_t)tile_size);
        keys.load(from + i);
        const Key *none = nullptr;
        partition_tile<Order>(shared, keys, to, counts, none);
    }
}

/* Step 2 of a level: like step 1, a block takes tiles that follow each other; where there is one
 * bucket, all blocks go through it side by side. */
template <class Order, unsigned THREADS, unsigned COUNT, class Key>
__device__ __forceinline__ void partition_level(const arrays<Key> &arrays, const shape &shape,
                                                unsigned level, const lengths *own,
                                                const level_lists &lists)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const uint64_t tiles = __ldcg(&own->tiles);
    const bool is_one = level == 0, by_turns = is_one || shape.bits >= BY_TURNS;
    auto tile = by_turns ? blockIdx.x : (unsigned)(tiles * blockIdx.x / gridDim.x);
    const auto end = (unsigned)(by_turns ? tiles : tiles * (blockIdx.x + 1) / gridDim.x);
    while (tile < end) {
        const unsigned index = is_one ? 0 : __ldcg(&lists.bucket_of_tile[tile]);
        fetch_bucket(&shared->current, &lists.buckets[index]);
        const bucket &bucket = shared->current;
        const unsigned stop = is_one     ? end
                              : by_turns ? tile + 1
                                         : min(end, bucket.first_tile + bucket.tiles);
        if (bucket.action == PARTITION)
            partition_tiles<Order, THREADS, COUNT>(shared, arrays, tile, stop,
                                                   is_one ? gridDim.x : 1, shape.tile,
                                                   lists.counts + bucket.counts);
        tile = by_turns && !is_one ? tile + gridDim.x : stop;
        __syncthreads();
    }
}

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

/* Has what a block touches next in the L2 by then. */
__device__ __forceinline__ void prefetch_lines(const void *from, unsigned bytes)
{
#ifdef __CUDACC__
    enum { LINE = 128 };
    if (threadIdx.x * LINE < bytes)
        asm volatile(
            "prefetch.global.L2 [%0];" ::"l"(static_cast<const char *>(from) + threadIdx.x * LINE));
#else
    (void)from, (void)bytes;
#endif
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
                                             unsigned level, const lengths *own,
                                             const level_lists &lists)
{
    partition_level<Order, THREADS, COUNT>(arrays, shape, level, own, lists);
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
        count_level<Order>(arrays, shape, level, own, lists, others);
        grid_barrier(control);
        const bool partitions = __ldcg(&own->partitions) > 0;
        if (partitions)
            partition_phase<Order, COUNT>(arrays, shape, level, own, lists);
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
    count_level<Order>(arrays, shape, level, &control->of_level[level], sets.set[level % 2],
                       sets.set[1 - level % 2]);
}

template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(PARTITION_THREADS, PARTITION_BLOCKS)
    partition_kernel(const __grid_constant__ arrays<Key> arrays, control *control,
                     const __grid_constant__ list_sets sets, const __grid_constant__ shape shape,
                     unsigned level)
{
    partition_level<Order, PARTITION_THREADS, PARTITION_KEYS<Key>>(
        arrays, shape, level, &control->of_level[level], sets.set[level % 2]);
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

constexpr size_t align(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

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
    return problem->n <= ONE_LEAF<Key>;
}

static const char *supports(const struct problem *problem)
{
    if (problem->device->shared_bytes_per_block <
        std::max(sizeof(leaf_layout<uint64_t>), sizeof(shared_layout<uint64_t>)))
        return "needs more shared memory than this device gives a block";
    return nullptr;
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
    .summary = "most significant digit first, then in shared memory; one launch",
    .source = "after Stehle and Jacobsen 2017",
    .supports = SCANBENCH_BACKEND::msd::supports,
    .scratch_bytes = SCANBENCH_BACKEND::msd::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::msd::prepare,
    .run = SCANBENCH_BACKEND::msd::run,
};
