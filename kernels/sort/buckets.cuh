/* buckets.cuh: the state of the sorts by buckets: the policy of their launches, the lists of
 * buckets and leaves in global memory, the layout of shared memory, and the barrier of the grid. */
#pragma once

#include "leaf_sort.cuh"
#include "scratch.cuh"
#include "../tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND::bucket_sort
{

/* Threads per block, blocks per multiprocessor, and bytes of keys per thread of a tile or a leaf.
 */
struct launch_policy {
    unsigned threads, blocks, bytes;
};

/* The kinds of launches. Where arrays are large, each step of a level is a launch of its own. */
struct policy {
    static constexpr launch_policy all_steps = {.threads = 512, .blocks = 2, .bytes = 64};
    static constexpr launch_policy count = {.threads = 512, .blocks = 3, .bytes = 64};
    static constexpr launch_policy partition = {.threads = 1024, .blocks = 1, .bytes = 64};
    static constexpr launch_policy leaves = {.threads = 512, .blocks = 2, .bytes = 136};
    static constexpr launch_policy one_leaf = {.threads = 1024, .blocks = 1, .bytes = 64};
};

/* Bytes of a usual leaf: `leaves` has some standard deviations of uniform keys more. */
constexpr unsigned USUAL_LEAF_BYTES = 128 * policy::leaves.threads;
template <class Key> constexpr unsigned MANY_KEYS = policy::all_steps.bytes / sizeof(Key);
template <class Key> constexpr unsigned PARTITION_KEYS = policy::partition.bytes / sizeof(Key);
template <class Key> constexpr unsigned LEAVES_KEYS = policy::leaves.bytes / sizeof(Key);
/* Fewer keys per thread where arrays are small: little code to fetch. */
constexpr unsigned FEW_KEYS = 4, SOME_KEYS = 8;
constexpr unsigned THREADS = policy::all_steps.threads, MAX_WARPS = 32;
static_assert(THREADS == policy::leaves.threads, "one launch sorts what the other defers");

/* Bits of a digit. */
constexpr unsigned MIN_BITS = 3, MAX_BITS = 10, MAX_DIGITS = 1 << MAX_BITS;
/* Bits of a digit that others follow. */
constexpr unsigned USUAL_BITS = 9;
/* Bits of the digits of two levels that are counted together. */
constexpr unsigned MAX_FINE_BITS = 15;
constexpr unsigned MAX_LEVELS = 48;
/* Keys in a sample of which one block chooses digits. */
constexpr unsigned SAMPLE_KEYS = 1024;

/* The sizes that the host chooses by the number of keys and the device. */
struct shape {
    uint64_t n;
    unsigned tile;       /* keys of a tile of the launch's first level */
    unsigned next_tile;  /* keys of a tile of the launch's later levels */
    unsigned first_tile; /* keys of a tile of the sort's first level */
    unsigned piece;      /* keys that a block writes from counts */
    unsigned leaf;       /* keys that a leaf should have */
    unsigned capacity;   /* keys that a leaf can have */
    unsigned window;     /* small neighbours, or pairs of them, that start in one share a leaf */
    unsigned bits;       /* bits of the first digit */
    unsigned next_bits;  /* bits of the second digit */
    unsigned fine_bits;  /* next_bits if both digits are counted together, or 0 */
    unsigned counted;    /* keys of a value for which counters are worth their memory */
};

enum place { IN_INPUT, IN_OTHER, IN_OUTPUT };
enum action { UNPLANNED, PARTITION, WRITE_COUNTS, NO_MORE };

/* A range of the array whose keys all belong there. */
struct bucket {
    uint64_t first, count;
    uint64_t base; /* the rank at which its range begins */
    unsigned bits, shift;
    unsigned place;
    unsigned first_tile, tiles;
    unsigned counts;                    /* index of its first counter in level_lists::counts */
    unsigned fine;                      /* index of its first counter in control::fine */
    unsigned tiles_done, action;        /* step 1 of the level finds these */
    unsigned by_value;                  /* its digits are bins of control::lowest to highest */
    unsigned long long lowest, highest; /* ranks, which step 1 finds */
};

constexpr unsigned SKEWED = 0xFFFF; /* job::bits of a deferred leaf */

/* A leaf to sort, or a piece to write from a bucket's counts. */
struct job {
    uint64_t first; /* index in the array; for counts, the piece's number in the bucket */
    unsigned count; /* keys; for counts, the number of the bucket */
    uint16_t place;
    uint16_t bits; /* bits of the aligned range that has all keys, or 0 if it is not known */
};

/* The lengths of a level's lists. */
struct lengths {
    unsigned buckets, tiles, counts, leaves, pieces, partitions;
};

/* The lists of a level. Even and odd levels have a set each. */
struct level_lists {
    bucket *buckets;
    unsigned *bucket_of_tile;
    unsigned long long *counts; /* counts of digits, and then cursors of the partition */
    job *leaves, *pieces;
};

struct list_sets {
    level_lists set[2];
};

/* Zero before the first call, except the first bucket. Each call leaves it so, except `disabled`
 * and what a sample says. */
struct control {
    unsigned disabled;          /* launches do nothing: another sort works */
    unsigned has_fine;          /* level 0 counted the digits of two levels */
    unsigned has_skewed;        /* leaves are deferred */
    unsigned long long arrived; /* at barriers; is never set back */
    unsigned blocks_done;
    lengths of_level[MAX_LEVELS];
    uint64_t lowest, highest;          /* ranks of floats: those of a sample, and a margin */
    unsigned fine[1 << MAX_FINE_BITS]; /* counts of the digits of two levels */
};

template <class Key> struct arrays {
    const Key *in;
    Key *out, *other;

    __device__ __forceinline__ const Key *at(unsigned place) const
    {
        return place == IN_INPUT ? in : place == IN_OTHER ? other : out;
    }
};

/* The shared memory in which a tile is partitioned. */
template <class Key, unsigned TILE> struct tile_layout {
    unsigned counts[MAX_DIGITS]; /* keys of each bucket, and then where they start */
    unsigned
        destination[MAX_DIGITS]; /* of key 0 of the tile, were it in that bucket; modulo 2^32 */
    Key keys[TILE];
};

/* The starts of digits, and a bit for each digit at which a leaf begins. */
struct plan_layout {
    unsigned long long starts[MAX_DIGITS + 1];
    unsigned leaf_begins[MAX_DIGITS / WARP];
};

/* A launch has as much of it as its steps need: what is long comes last. */
template <class Key> struct shared_layout {
    static constexpr unsigned TILE =
        std::max(MANY_KEYS<Key> * THREADS, PARTITION_KEYS<Key> *policy::partition.threads);
    bucket current; /* that the block works on */
    unsigned warp_totals[MAX_WARPS];
    unsigned long long totals[MAX_WARPS];
    unsigned long long lowest[MAX_WARPS], highest[MAX_WARPS];
    unsigned last;
    union {
        leaf_sort::shared_layout<Key, THREADS, MANY_KEYS<Key>> leaf;
        tile_layout<Key, TILE> tile;
        unsigned counts[MAX_DIGITS]; /* or as many as the digits of two levels */
        plan_layout plan;
    };
};

/* All blocks arrive before any goes on, and see what the others wrote. The counter is never set
 * back. */
__device__ __forceinline__ void grid_barrier(unsigned long long *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned long long ticket = atomicAdd(arrived, 1ull);
        const unsigned long long all = (ticket / gridDim.x + 1) * gridDim.x;
        while (load_word(reinterpret_cast<uint64_t *>(arrived)) < all)
            spin_wait();
        __threadfence();
    }
    __syncthreads();
}

/* The bucket of level 0, whatever the keys. */
template <class Key> __device__ __forceinline__ bucket first_bucket(const shape &shape)
{
    bucket bucket = {};
    bucket.count = shape.n;
    bucket.bits = shape.bits;
    bucket.shift = 8 * (unsigned)sizeof(Key) - shape.bits;
    bucket.place = IN_INPUT;
    bucket.tiles = (unsigned)ceil_div(shape.n, shape.first_tile);
    bucket.action = UNPLANNED;
    bucket.lowest = ~0ull;
    return bucket;
}

/* One block makes all as it was before the call, for the next one. */
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
        control->has_skewed = false;
    }
}

template <class Key>
__global__ void reset_kernel(control *control, const __grid_constant__ list_sets lists,
                             const __grid_constant__ shape shape)
{
    reset<Key>(control, lists.set[0], shape);
}

/* Copies a bucket that other blocks wrote to shared memory, by the first threads. */
struct bucket_fetch {
    enum { WORDS = sizeof(bucket) / 8 };
    unsigned long long word;

    __device__ __forceinline__ void load(const bucket *from)
    {
        static_assert(sizeof(bucket) % 8 == 0 && WORDS <= WARP);
        if (threadIdx.x < WORDS)
            word = __ldcg(reinterpret_cast<const unsigned long long *>(from) + threadIdx.x);
    }
    __device__ __forceinline__ void store(bucket *shared) const
    {
        if (threadIdx.x < WORDS)
            reinterpret_cast<unsigned long long *>(shared)[threadIdx.x] = word;
    }
};

__device__ __forceinline__ void fetch_bucket(bucket *shared, const bucket *from)
{
    bucket_fetch fetch;
    fetch.load(from);
    fetch.store(shared);
    __syncthreads();
}

/* Are these digits, one per lane, so alike that atomics would queue? */
__device__ __forceinline__ bool are_alike(unsigned digit)
{
    enum { MANY = 10 };
    const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
    return __popc(__ballot_sync(ALL_LANES, digit == first)) >= MANY;
}

} // namespace SCANBENCH_BACKEND::bucket_sort
