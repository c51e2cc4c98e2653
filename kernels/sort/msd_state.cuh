/* msd_state.cuh: what the steps of sort_msd share: its policy, its lists in global memory, and
 * its shared memory. */
#pragma once

#include "leaf_sort.cuh"
#include "partition_tile.cuh"
#include "policy.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND::msd
{

/* The kinds of launches. Those of one step are for large arrays. */
struct sort_policy {
    launch_policy choice;    /* takes the sample, a key per thread */
    launch_policy one_leaf;  /* sorts an array in one block */
    launch_policy levels;    /* does all steps */
    launch_policy count;     /* does step 1 of a level */
    launch_policy partition; /* does step 2 of a level */
    launch_policy leaves;    /* sorts leaves */
};

/* A leaf of a large array has as many keys as uniform keys need, and some standard deviations
 * more. */
template <class Key>
constexpr sort_policy POLICY = {
    .choice = {.threads = 1024, .blocks = 1, .keys = 1},
    .one_leaf = {.threads = 1024, .blocks = 1, .keys = 64 / sizeof(Key)},
    .levels = {.threads = 512, .blocks = 2, .keys = 64 / sizeof(Key)},
    .count = {.threads = 512, .blocks = 3, .keys = 0},
    .partition = {.threads = 1024, .blocks = 1, .keys = 64 / sizeof(Key)},
    .leaves = {.threads = 512, .blocks = 2, .keys = 136 / sizeof(Key)},
};

enum {
    /* Threads per block of the launch that does all steps, and of others that share its code. */
    THREADS = POLICY<uint32_t>.levels.threads,
    /* Threads of the block that takes the sample, and keys of the sample. */
    SAMPLE = POLICY<uint32_t>.choice.threads,
    /* The most warps of any block. */
    MAX_WARPS = 32,

    /* Keys per thread where arrays are small, so that there is little code to fetch. */
    FEW_KEYS = 4,
    /* Keys per thread where arrays are larger. */
    SOME_KEYS = 8,
    /* Bytes of keys per multiprocessor from which each step is a launch of its own. */
    LARGE_SHARE = 15 << 10,
    /* Bytes of keys per thread of a usual leaf, where leaves have a launch of their own. */
    USUAL_LEAF_BYTES = 128,

    /* Bits of a digit. */
    MIN_BITS = 3,
    MAX_BITS = 10,
    MAX_DIGITS = MOST_BUCKETS_OF_TILE,
    /* Bits of a digit that others follow. */
    USUAL_BITS = 9,
    /* Bits of a digit from which blocks take tiles in turns. */
    BY_TURNS = 8,
    /* Bits of the digits of two levels that are counted together. */
    MAX_FINE_BITS = 15,
    MAX_LEVELS = 48,
    /* The most values that are listed. A digit more is for all other keys. */
    MOST_VALUES = WARP - 1,

    /* Keys of a value for which counters are worth their memory. */
    COUNTED = 256,
    /* The most counters of that kind. */
    MOST_COUNTS = 1 << 18,
    /* The most pieces of a bucket that is written from its counts and has all keys of a large
     * array. */
    MOST_PIECES = 1024,
    /* Packs in flight of a thread that counts. */
    LOADS = 4
};
static_assert(MAX_DIGITS == 1 << MAX_BITS);
static_assert(THREADS == POLICY<uint32_t>.count.threads, "either launch plans");
static_assert(THREADS == POLICY<uint32_t>.leaves.threads, "one sorts what the other defers");

/* Keys per thread of a tile and of a leaf, where one launch does all steps. */
template <class Key> constexpr unsigned MANY_KEYS = POLICY<Key>.levels.keys;

/* The sizes that the host chooses by n and the device. */
struct shape {
    uint64_t n;
    unsigned tile;       /* keys of a tile of the launch's first level */
    unsigned next_tile;  /* keys of a tile of the launch's later levels */
    unsigned first_tile; /* keys of a tile of the sort's first level */
    unsigned piece;      /* keys that a block writes from counts at a time */
    unsigned leaf;       /* keys that a leaf should have */
    unsigned capacity;   /* keys that a leaf can have */
    unsigned window;     /* keys: small digits that start in the same window share a leaf */
    unsigned bits;       /* bits of the first digit, if keys are evenly spread */
    unsigned next_bits;  /* bits of the second digit, if keys are evenly spread */
    unsigned most_bits;  /* the most of one digit, or of two that are counted together; or 0 */
    unsigned levels;     /* whose steps are launches of their own */
    unsigned counted;    /* keys of a value for which counters are worth their memory */
};

/* Keys that a leaf should have where keys are not even: within a bucket, one part may have some
 * more than another. */
__host__ __device__ __forceinline__ unsigned leaf_of_uneven(unsigned leaf)
{
    return leaf - leaf / 16;
}

enum place { IN_INPUT, IN_OTHER, IN_OUTPUT };
enum action { UNPLANNED, PARTITION, WRITE_COUNTS, NO_MORE };

/* What the digits of a bucket are: bits of the rank; bins of the range from control::lowest to
 * control::highest, of equal width in rank or, for floats, in value; or places in the list
 * control::values. */
enum digit_kind { BITS_OF_RANK, BINS_OF_RANK, BINS_OF_VALUE, LISTED_VALUES };

/* A range of the array whose keys all belong there. */
struct bucket {
    uint64_t first, count;
    uint64_t base;        /* the rank from which its digits count; 0 unless they are bits */
    unsigned bits, shift; /* of its digits */
    unsigned place;
    unsigned first_tile, tiles;
    unsigned counts;                    /* index of its first counter in level_lists::counts */
    unsigned fine;                      /* its first counter in control::fine, and its first bin */
    unsigned fine_bits;                 /* bits below its digits that are counted with them */
    unsigned bin_bits;                  /* log2 of the bins of a digit */
    unsigned tiles_done, action;        /* step 1 of the level finds these */
    uint16_t kind;                      /* of its digits */
    uint16_t leaf;                      /* keys that a leaf of its parts should have */
    unsigned long long lowest, highest; /* the extreme ranks, which step 1 finds */
};

enum { DEFERRED = 0xFFFF }; /* job::bits of a leaf that the last launch will sort */

/* A leaf to sort, or a piece to write from a bucket's counts. */
struct job {
    uint64_t first; /* a leaf's first key in the array; a piece's number in its bucket */
    unsigned count; /* a leaf's keys; the number of a piece's bucket */
    uint16_t place;
    uint16_t bits; /* bits of the aligned range that has all keys of a leaf; 0 if not known */
};

/* The lengths of a level's lists. */
struct lengths {
    unsigned buckets, tiles, counts, leaves, pieces, partitions;
};

/* The lists of a level. Even and odd levels have a set each. */
struct level_lists {
    bucket *buckets;
    unsigned *bucket_of_tile;
    unsigned long long *counts; /* counts of digits; cursors, once a bucket is partitioned */
    job *leaves, *pieces;
};

/* The state of the sort, at the beginning of scratch. It is zero before the first call, except the
 * first bucket. Each call leaves it so, except `disabled`, `arrived`, what the sample says and the
 * extremes. */
struct control {
    unsigned *other_disabled;   /* `disabled` of another sort, if this one chooses; else null */
    unsigned disabled;          /* launches do nothing, because the other sort works */
    unsigned has_fine;          /* level 0 counted the digits of two levels */
    unsigned has_deferred;      /* the last launch has leaves to sort */
    unsigned long long arrived; /* blocks at barriers, of all calls; it is never set back */
    unsigned blocks_done;
    lengths of_level[MAX_LEVELS];
    uint64_t lowest, highest;          /* the range that the digits of level 0 divide, as ranks */
    unsigned log2_bins;                /* of the bins into which it is cut; 0 if there are none */
    unsigned bin_shift;                /* a bin has 2^bin_shift ranks; 0 unless bins are bits */
    uint64_t least, greatest;          /* the extreme ranks of all, if level 0 counted the keys */
    unsigned long long values[WARP];   /* those of the sample, as ranks, if they are few */
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

/* What each step gets. */
template <class Key> struct task {
    struct arrays<Key> arrays;
    struct control *control;
    level_lists lists[2];
    struct shape shape;

    __device__ __forceinline__ const level_lists &lists_of(unsigned level) const
    {
        return lists[level % 2];
    }
    __device__ __forceinline__ lengths *lengths_of(unsigned level) const
    {
        return &control->of_level[level];
    }
};

/* A counter for each value and lane, and the values. */
template <class Key> struct value_counts {
    unsigned counts[MAX_DIGITS];
    Key values[WARP];
};
static_assert((MOST_VALUES + 1) * WARP <= MAX_DIGITS);

/* The starts of digits, and a bit for each digit at which a leaf begins. */
struct plan_layout {
    unsigned long long starts[MAX_DIGITS + 1];
    unsigned leaf_begins[MAX_DIGITS / WARP];
};

/* The shared memory of the steps. A launch has as much of it as its steps need, so what is long
 * comes last. */
template <class Key> struct shared_layout {
    bucket current; /* the bucket that the block works on */
    unsigned long long totals[MAX_WARPS];
    Key lowest[MAX_WARPS], highest[MAX_WARPS];
    unsigned last;
    union {
        leaf_sort::agent<Key, THREADS, MANY_KEYS<Key>> leaf;
        tile_layout<Key, std::max(POLICY<Key>.levels.tile(), POLICY<Key>.partition.tile())> tile;
        unsigned counts[MAX_DIGITS]; /* more if the digits of two levels are counted */
        value_counts<Key> by_value;
        plan_layout plan;
    };
};

/* Makes the state and the lists what they were before the call, for the next one. One block calls
 * it. */
template <class Key> __device__ void reset(const task<Key> &task)
{
    const auto &[arrays, control, all_lists, shape] = task;
    const level_lists &lists = all_lists[0];
    auto *words = reinterpret_cast<unsigned *>(control->of_level);
    for (unsigned i = threadIdx.x; i < sizeof(control->of_level) / 4; i += blockDim.x)
        words[i] = 0;
    for (unsigned d = threadIdx.x; d < MAX_DIGITS; d += blockDim.x)
        lists.counts[d] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        control->of_level[0].buckets = 1;
        control->of_level[0].tiles = (unsigned)ceil_div(shape.n, shape.first_tile);
        lists.buckets[0] = {.count = shape.n,
                            .bits = shape.bits,
                            .shift = 8 * (unsigned)sizeof(Key) - shape.bits,
                            .place = IN_INPUT,
                            .tiles = control->of_level[0].tiles,
                            .action = UNPLANNED,
                            .leaf = (uint16_t)shape.leaf,
                            .lowest = ~0ull};
        control->blocks_done = 0;
        control->has_deferred = false;
    }
}

template <class Key> __global__ void reset_kernel(const __grid_constant__ task<Key> task)
{
    reset(task);
}

/* Copies a bucket that other blocks wrote to shared memory, a word by each of the first threads. */
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

} // namespace SCANBENCH_BACKEND::msd
