/* msd_state.cuh: what the steps of sort_msd share: its constants, its lists in global memory, its
 * shared memory, and the barrier of the grid. */
#ifndef SCANBENCH_KERNELS_MSD_STATE_CUH
#define SCANBENCH_KERNELS_MSD_STATE_CUH

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
    LOG2_ENTRIES = 8, /* of the table of digits */
    ENTRIES = 1 << LOG2_ENTRIES,
    COUNTED = 256, /* keys of a value for which counters are worth their memory */
    MAX_LEVELS = 48,
    MOST_LIST_BYTES = 32 << 20,
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

/* Level 0's digits, chosen before it is known where its keys lie. */
struct guess {
    uint64_t base;
    unsigned bits, shift;
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

/* The digits of level 0, where keys crowd: msd_guess.cuh. */
struct digit_table {
    unsigned is_used;
    unsigned entry[ENTRIES]; /* the first digit, and in the low byte the shift of what is left */
};

/* Zero before the first call, except the first bucket; each call leaves it so, but the table
 * and is_off. It
 * lies at the beginning of scratch. */
struct control {
    unsigned is_off;            /* launches do nothing: sort_adaptive has another sort do it */
    unsigned long long arrived; /* at barriers; is never set back */
    unsigned blocks_done;
    lengths of_level[MAX_LEVELS];
    digit_table table;
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
    struct guess guess;
    digit_table table;
    unsigned warp_totals[MAX_WARPS];
    unsigned long long totals[MAX_WARPS];
    unsigned long long lowest[MAX_WARPS], highest[MAX_WARPS];
    unsigned last;
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
