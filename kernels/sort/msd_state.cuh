/* msd_state.cuh: what the steps of sort_msd share: its constants, its lists in global memory, its
 * shared memory, and the barrier of the grid. */
#ifndef SCANBENCH_KERNELS_SORT_MSD_STATE_CUH
#define SCANBENCH_KERNELS_SORT_MSD_STATE_CUH

#include "leaf_sort.cuh"
#include "../tile_status.cuh"

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
    PARTITION_THREADS = 1024,
    PARTITION_BLOCKS = 1,
    PARTITION_BYTES = 64, /* of keys per thread */
    LEAVES_THREADS = 512,
    LEAVES_BLOCKS = 2,
    LEAVES_BYTES = 128, /* of keys per thread, and a few more */
    /* and of the sort of one leaf. */
    LEAF_THREADS = 1024,
    LEAF_BYTES = 64 * 1024,
    MAX_WARPS = 32,
    BY_TURNS = 8,              /* bits of a digit */
    LEAF_OF_BYTES = 32 * 1024, /* of keys, at most */
    FEW_KEYS = 4,              /* per thread, where arrays are small: little code to fetch, */
    SOME_KEYS = 8,             /* and where they are larger */
    LARGE_SHARE = 15 << 10, /* bytes per multiprocessor from which steps have their own launches */
    MAX_BITS = 10,          /* of a digit, */
    USUAL_BITS = 9,         /* and of one that others follow */
    MIN_BITS = 3,
    MAX_DIGITS = 1 << MAX_BITS,
    MAX_FINE_BITS = 15,    /* of the digits of two levels, counted together */
    SAMPLE = 1024,         /* keys of an array, and threads of the block that samples it */
    COUNTED = 256,         /* keys of a value for which counters are worth their memory, */
    MOST_COUNTS = 1 << 18, /* and how many there may be */
    MAX_LEVELS = 48,
    MOST_LIST_BYTES = 32 << 20,
    LOADS = 4 /* packs in flight, of a thread that counts */
};

template <class Key> constexpr unsigned ONE_LEAF = LEAF_BYTES / sizeof(Key);
/* Keys per thread of a tile, and of a leaf. */
template <class Key> constexpr unsigned MANY_KEYS = LEAF_OF_BYTES / sizeof(Key) / THREADS;
template <class Key> constexpr unsigned PARTITION_KEYS = PARTITION_BYTES / sizeof(Key);
/* Keys per thread of a leaf where arrays are large: as many as uniform keys need, and some standard
 * deviations. */
template <class Key> constexpr unsigned USUAL_LEAVES_KEYS = LEAVES_BYTES / sizeof(Key);
template <class Key>
constexpr unsigned LEAVES_KEYS = USUAL_LEAVES_KEYS<Key> + USUAL_LEAVES_KEYS<Key> / 16;
using leaf_sort::bit_length;
using leaf_sort::packed_places;

/* What the host decides, by n and the device. */
struct shape {
    uint64_t n;
    unsigned tile;       /* keys, of the level that a launch begins with, */
    unsigned next_tile;  /* of those after it, */
    unsigned first_tile; /* and of the first one; */
    unsigned piece;      /* those that a block writes from counts */
    unsigned leaf;       /* keys that a leaf should have, */
    unsigned capacity;   /* and may have */
    unsigned window;     /* small neighbours, or pairs of them, that start in one share a leaf */
    unsigned bits;       /* of the first digit, */
    unsigned next_bits;  /* of the next one, */
    unsigned fine_bits;  /* and the same, if both are counted together, or 0 */
    unsigned counted;    /* keys of a value for which counters are worth their memory */
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
    unsigned fine;   /* and in control::fine */
    /* What level's step 1 finds out. */
    unsigned tiles_done, action;
    unsigned by_value;                  /* its digits are bins of control::lowest to highest */
    unsigned long long lowest, highest; /* ranks */
};

enum { CROWDED = 0xFFFF }; /* bits of a leaf that is put off */

/* A leaf to sort, or a piece to write from a bucket's counts. */
struct job {
    uint64_t first; /* of the array; or, of counts, the piece's number in the bucket */
    unsigned count; /* of counts, the bucket */
    uint16_t place;
    uint16_t bits; /* of the range, aligned, in which the keys are; 0 if it is not known */
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

/* Zero before the first call, except the first bucket; each call leaves it so, but what a
 * sample tells and is_off. It lies at the beginning of scratch. */
struct control {
    unsigned *other_is_off;     /* comes first: where to tell another sort, if this one chooses */
    unsigned is_off;            /* launches do nothing: that sort does it */
    unsigned has_fine;          /* level 0 counted the digits of two levels */
    unsigned has_crowds;        /* leaves are put off */
    unsigned long long arrived; /* at barriers; is never set back */
    unsigned blocks_done;
    lengths of_level[MAX_LEVELS];
    uint64_t lowest, highest;          /* ranks of floats: of a sample, and somewhat wider */
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

struct partition_layout {
    unsigned counts[MAX_DIGITS];
    unsigned destination[MAX_DIGITS]; /* of key 0 of the tile, were it of that digit; modulo 2^32 */
};

/* Digits at which a leaf begins, a bit each. */
struct plan_layout {
    unsigned long long starts[MAX_DIGITS + 1];
    unsigned leaf_begins[MAX_DIGITS / WARP];
};

/* A launch has as much of it as its steps need: what is long comes last. */
template <class Key> struct shared_layout {
    static constexpr unsigned TILE =
        std::max(MANY_KEYS<Key> * THREADS, PARTITION_KEYS<Key> *PARTITION_THREADS);
    bucket current; /* that the block works on */
    unsigned warp_totals[MAX_WARPS];
    unsigned long long totals[MAX_WARPS];
    unsigned long long lowest[MAX_WARPS], highest[MAX_WARPS];
    unsigned last;
    union {
        leaf_sort::shared_layout<Key, THREADS, MANY_KEYS<Key>> leaf;
        struct {
            partition_layout partition;
            Key keys[TILE];
        } tile;
        unsigned counts[MAX_DIGITS]; /* or as many as the digits of two levels */
        plan_layout plan;
    };
};

/* ---- Between blocks ---- */

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
    const uint64_t tiles = shape.n / shape.first_tile + (shape.n % shape.first_tile != 0);
    bucket bucket = {};
    bucket.count = shape.n;
    bucket.bits = shape.bits;
    bucket.shift = 8 * (unsigned)sizeof(Key) - shape.bits;
    bucket.place = IN_INPUT;
    bucket.tiles = (unsigned)tiles;
    bucket.action = UNPLANNED;
    bucket.lowest = ~0ull;
    return bucket;
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
        control->has_crowds = false;
    }
}

template <class Key>
__global__ void reset_kernel(control *control, const __grid_constant__ list_sets lists,
                             const __grid_constant__ shape shape)
{
    reset<Key>(control, lists.set[0], shape);
}

/* Copies a record that other blocks wrote to shared memory, by the first threads. */
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

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
