/* sort_enumeration: a key's place is the number of keys before it.
 * Source:  Muller and Preparata, "Bounds to complexities of networks for sorting and for
 *          switching", JACM 1975; Knuth, "The Art of Computer Programming" 3, by counting.
 * Work:    O(n^2 / t log t + n t), where each of n / t blocks finds the places of t keys. Up to 128
 *          keys per multiprocessor, there is a block on each.
 * Depth:   O(log t) per round of lookups, and a scan of t counts.
 * DRAM:    n read and n written, once. Each block reads all keys, most of them from the L2.
 * Shared:  t keys, twice, their ranks, and t counters.
 *
 *   1. Each block ranks its own keys among themselves and puts them into a search tree.
 *   2. It looks up every other key there, and counts it where it lies between two of its own.
 *   3. The counts up to a key of its own, and those of its own before it, are its place.
 *
 * Equal keys keep their order: a key from before the block's own goes before those that equal it,
 * and one from after them goes after. So the sort is stable, and takes as long for any
 * keys. All multiprocessors are at work, and none waits for another. The output must not be the
 * input, which other blocks still read. */
#include "../key_order.cuh"
#include "../ping_pong.cuh"
#include "../warp.cuh"

#include <algorithm>
#include <bit>

namespace SCANBENCH_BACKEND::enumeration
{

enum {
    MAX_THREADS = 1024, /* per block */
    LEAST_OWN = 8,      /* keys of a block */
    MOST_OWN = 128,
    MOST_KEYS = 1 << 15
};

template <class Key, class Value> struct task {
    const Key *keys;
    Key *sorted_keys;
    const Value *values;
    Value *sorted_values;
    unsigned n, own; /* own: keys of a block */
    unsigned levels; /* of the tree, in which all own keys but the last in order have a place */
    key_order<Key> order;
};

template <class Key> struct shared_layout {
    Key own[MOST_OWN];       /* in the order of the input */
    Key tree[MOST_OWN];      /* node i is the parent of 2i and 2i + 1; node 1 is the root */
    Key last;                /* the largest of its own */
    unsigned rank[MOST_OWN]; /* of its own among themselves */
    unsigned counts[MOST_OWN];
};

/* The node of a tree of so many levels that comes after `before` others in order. */
__device__ __forceinline__ unsigned node_of(unsigned before, unsigned levels)
{
    const unsigned in_order = before + 1, height = (unsigned)__ffs((int)in_order) - 1;
    return (1u << (levels - 1 - height)) + (in_order >> (height + 1));
}

/* 1. A warp ranks a key at a time: each lane compares it with others. */
template <class Key>
__device__ __forceinline__ void plant_tree(shared_layout<Key> *shared, unsigned own,
                                           unsigned levels)
{
    const unsigned lane = lane_index();
    for (unsigned i = threadIdx.x / WARP; i < own; i += blockDim.x / WARP) {
        const Key key = shared->own[i];
        unsigned rank = 0;
        for (unsigned first = 0; first < own; first += WARP) {
            const unsigned k = first + lane;
            const Key other = k < own ? shared->own[k] : Key(0);
            const bool is_before = k < own && (other < key || (other == key && k < i));
            rank += __popc(__ballot_sync(ALL_LANES, is_before));
        }
        if (lane == 0) {
            shared->rank[i] = rank;
            if (rank + 1 < own)
                shared->tree[node_of(rank, levels)] = key;
            else
                shared->last = key;
        }
    }
}

/* 2. Looks up COUNT keys of each thread, the first of which has index `first`, and counts those
 * that go before the last of the block's own in order. The block's own have indices from `begin` to
 * `end` - 1. */
template <unsigned COUNT, class Key>
__device__ __forceinline__ void count_keys(shared_layout<Key> *shared, Key (&mapped)[COUNT],
                                           unsigned first, unsigned begin, unsigned end, unsigned n,
                                           unsigned levels)
{
    const Key last = shared->last;
    unsigned node[COUNT], counted = 0;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        const unsigned i = first + k * blockDim.x;
        const bool is_later = i >= end;
        counted |= (i < begin ? mapped[k] <= last : is_later && i < n && mapped[k] < last) << k;
        /* A later key goes after those that equal it. The largest key there is, to which nothing
         * can be added, is not counted. */
        mapped[k] += is_later;
        node[k] = 1;
    }
    for (unsigned level = 0; level < levels; level++)
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            node[k] = 2 * node[k] + (shared->tree[node[k]] < mapped[k]);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (counted >> k & 1)
            atomicAdd(&shared->counts[node[k] - (1u << levels)], 1u);
}

/* 3. The keys of the array that come before the block's own that is number `rank` in order. Called
 * by whole warps. */
template <class Key>
__device__ __forceinline__ unsigned counted_before(const shared_layout<Key> *shared, unsigned own,
                                                   unsigned rank)
{
    unsigned sum = 0, mine = rank;
    for (unsigned first = 0; first < own; first += WARP) {
        const unsigned through = sum + warp_inclusive_sum(shared->counts[first + lane_index()]);
        const unsigned to_rank = shuffle_from(through, rank % WARP);
        if (rank / WARP == first / WARP)
            mine += to_rank;
        sum = shuffle_from(through, WARP - 1);
    }
    return mine;
}

template <class Key, class Value, unsigned COUNT>
__global__ void __launch_bounds__(MAX_THREADS)
    enumeration_kernel(const __grid_constant__ task<Key, Value> task)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const unsigned begin = blockIdx.x * task.own, end = min(begin + task.own, task.n);
    const unsigned own = end - begin;
    const bool has_own = threadIdx.x < own;
    Key mapped[COUNT];
    const auto load = [&](unsigned first) {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            const unsigned i = first + k * blockDim.x;
            mapped[k] = i < task.n ? task.order(task.keys[i]) : Key(0);
        }
    };
    Key key = 0;
    [[maybe_unused]] Value value = {};
    if (has_own) {
        key = task.keys[begin + threadIdx.x];
        if constexpr (HAS_VALUES_OF<Value>)
            value = task.values[begin + threadIdx.x];
    }
    load(threadIdx.x); /* these are on their way while the tree is planted */
    if (threadIdx.x < MOST_OWN) {
        shared->own[threadIdx.x] = task.order(key);
        shared->tree[threadIdx.x] = Key(~Key(0));
        shared->counts[threadIdx.x] = 0;
    }
    __syncthreads();
    plant_tree(shared, own, task.levels);
    __syncthreads();
    for (unsigned first = threadIdx.x;;) {
        count_keys(shared, mapped, first, begin, end, task.n, task.levels);
        first += COUNT * blockDim.x;
        if (first - threadIdx.x >= task.n)
            break;
        load(first);
    }
    __syncthreads();
    if (threadIdx.x / WARP * WARP >= own)
        return;
    const unsigned place = counted_before(shared, own, has_own ? shared->rank[threadIdx.x] : 0);
    if (has_own) {
        task.sorted_keys[place] = key;
        if constexpr (HAS_VALUES_OF<Value>)
            task.sorted_values[place] = value;
    }
}

/* ---- the host's side ---- */

static const char *supports(const struct problem *problem)
{
    static_assert(MOST_KEYS == 32768, "the text below says so");
    return problem->n > MOST_KEYS ? "sorts at most 32768 keys: its work grows with their square"
                                  : nullptr;
}

template <class Key, class Value, unsigned COUNT> static void sort_keys(const struct call *call)
{
    const auto n = (unsigned)call->problem.n;
    const auto share = (unsigned)ceil_div(n, call->problem.device->multiprocessors);
    const unsigned own = std::clamp<unsigned>(share, LEAST_OWN, MOST_OWN);
    const auto threads =
        (unsigned)ceil_div(std::max(ceil_div(n, COUNT), (uint64_t)MOST_OWN), WARP) * WARP;
    const task<Key, Value> task = {.keys = static_cast<const Key *>(call->input),
                                   .sorted_keys = static_cast<Key *>(call->output),
                                   .values = static_cast<const Value *>(call->input_values),
                                   .sorted_values = static_cast<Value *>(call->output_values),
                                   .n = n,
                                   .own = own,
                                   .levels = (unsigned)std::bit_width(own - 1),
                                   .order = order_of<Key>(call->problem.type)};
    launch<enumeration_kernel<Key, Value, COUNT>>(
        queue_of(call),
        {.blocks = ceil_div(n, own),
         .threads = std::min<unsigned>(threads, MAX_THREADS),
         .traffic = {2 * call->problem.n * (sizeof(Key) + value_bytes(call->problem.values))},
         .shared_bytes = sizeof(shared_layout<Key>)},
        task);
}

/* Up to 8192 keys, a thread looks up all of its keys side by side, and has as few as suffice. More
 * keys take rounds of four per thread, which leave fewer places without a key. */
static void run(const struct call *call)
{
    with_all_types_of(&call->problem, [&]<class Key, class Value>() {
        const uint64_t each = ceil_div(call->problem.n, MAX_THREADS);
        if (each <= 2)
            sort_keys<Key, Value, 2>(call);
        else if (each > 4 && each <= 8)
            sort_keys<Key, Value, 8>(call);
        else
            sort_keys<Key, Value, 4>(call);
    });
}

} // namespace SCANBENCH_BACKEND::enumeration

ALGORITHM_DESCRIPTOR(sort_enumeration) = {
    .name = "enumeration",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_PAIRS | TRAIT_STABLE | TRAIT_UNALIGNED,
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "each block counts the keys before its own, in a search tree; one launch",
    .source = "after Muller and Preparata 1975",
    .supports = SCANBENCH_BACKEND::enumeration::supports,
    .run = SCANBENCH_BACKEND::enumeration::run,
};
