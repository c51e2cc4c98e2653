/* dispatch.cuh: the host's side of the sorts by buckets: the sizes of their launches, the layout of
 * their scratch, the limits of the policies `msd` and `sample`, and which of them sorts what. */
#pragma once

#include "levels.cuh"
#include "sample_division.cuh"

#include <bit>

namespace SCANBENCH_BACKEND::bucket_sort
{

/* Bytes of keys per multiprocessor from which each step is a launch of its own. */
constexpr unsigned LARGE_BYTES = 15 << 10;
/* Counters are worth their memory for values of so many keys, and up to so many counters. */
constexpr unsigned COUNTED = 256, MOST_COUNTS = 1 << 18;
/* Bytes of scratch that lists may take beside the other array. */
constexpr unsigned MOST_LIST_BYTES = 32 << 20;

/* ---- Sizes ---- */

/* Are arrays so large that each step is a launch of its own? */
template <class Key> bool is_large(const struct problem *problem)
{
    return problem->n * sizeof(Key) >= (uint64_t)LARGE_BYTES * problem->device->multiprocessors;
}

/* Keys per block that keep every multiprocessor busy. */
inline uint64_t share_of(const struct problem *problem)
{
    return ceil_div(problem->n,
                    (uint64_t)policy::all_steps.blocks * problem->device->multiprocessors);
}

/* Keys per thread of a tile and of a leaf: as few as keep all blocks busy. */
template <class Key> unsigned keys_for(const struct problem *problem)
{
    const uint64_t share = share_of(problem);
    if (share <= FEW_KEYS * THREADS / 2)
        return FEW_KEYS;
    return share <= SOME_KEYS * THREADS ? std::min<unsigned>(SOME_KEYS, MANY_KEYS<Key>)
                                        : MANY_KEYS<Key>;
}

/* Keys of a tile in a launch that does all steps. */
template <class Key> unsigned tile_of(const struct problem *problem)
{
    return std::min((unsigned)ceil_div(share_of(problem), THREADS), keys_for<Key>(problem)) *
           THREADS;
}

/* Keys that a leaf should have where `usual` keys are sorted best. Floats are often twice as dense
 * in the middle of their range as on average. Where they are not, two digits share a leaf. */
inline unsigned leaf_for(unsigned usual, const struct problem *problem)
{
    return type_class(problem->type) == TYPE_FLOAT ? usual / 2 : usual;
}

/* Completes the sizes that follow from others. */
inline shape completed(shape shape, const struct problem *problem)
{
    shape.n = problem->n;
    shape.next_tile = shape.first_tile = shape.tile;
    shape.piece = 2 * shape.tile;
    shape.bits = digit_bits(problem->n, shape.leaf);
    shape.counted = (unsigned)std::max<uint64_t>(COUNTED, problem->n / MOST_COUNTS);
    return shape;
}

/* The shape where one launch does all steps. */
template <class Key> shape small_shape(const struct problem *problem)
{
    shape shape = {};
    shape.tile = tile_of<Key>(problem);
    shape.capacity = keys_for<Key>(problem) * THREADS;
    shape.leaf =
        (unsigned)std::min<uint64_t>(std::max<uint64_t>(share_of(problem) * 5 / 4, THREADS),
                                     leaf_for(shape.capacity / 4 * 3, problem));
    shape.window = std::min(shape.capacity / 4, shape.leaf / 2);
    return completed(shape, problem);
}

/* Shared memory of a launch that counts digits of `bits` bits. */
template <class Key> size_t count_bytes(unsigned bits)
{
    return offsetof(shared_layout<Key>, counts) +
           std::max({sizeof(plan_layout), sizeof(unsigned) * MAX_DIGITS, sizeof(unsigned) << bits});
}

/* The shape where each step is a launch: leaves as large as is fast, and digits of two levels that
 * are counted at once, if the device has shared memory for that. */
template <class Key> shape large_shape(const struct problem *problem)
{
    shape shape = {};
    shape.tile = PARTITION_KEYS<Key> * policy::partition.threads;
    shape.capacity = LEAVES_KEYS<Key> * THREADS;
    shape.leaf = leaf_for(USUAL_LEAF_BYTES / sizeof(Key), problem);
    shape.window = shape.capacity / 2;
    shape = completed(shape, problem);
    unsigned all_bits = shape.bits;
    while (problem->n >> all_bits > shape.leaf)
        all_bits++;
    const bool fits = count_bytes<Key>(all_bits) <= problem->device->shared_bytes_per_block;
    shape.next_bits = std::min(all_bits - shape.bits, (unsigned)MAX_BITS);
    shape.fine_bits = all_bits <= MAX_FINE_BITS && fits ? shape.next_bits : 0;
    return shape;
}

template <class Key> shape shape_of(const struct problem *problem)
{
    return is_large<Key>(problem) ? large_shape<Key>(problem) : small_shape<Key>(problem);
}

/* Digits are looked at together until chance is small. */
template <class Key> sampling sampling_of(const struct problem *problem)
{
    enum { ENOUGH = 8 };
    uint64_t keys = (uint64_t)SAMPLE_KEYS * shape_of<Key>(problem).capacity;
    sampling sampling = {(unsigned)(problem->n / SAMPLE_KEYS), 0, 0};
    for (; keys < ENOUGH * problem->n; keys *= 2)
        sampling.together++;
    sampling.most = (unsigned)(ENOUGH + keys * 5 / (4 * problem->n));
    return sampling;
}

/* The sizes of `sample`. Small arrays have more buckets with fewer keys. */
namespace sample
{
template <class Key> shape shape_of(const struct problem *problem)
{
    const auto n = (unsigned)problem->n;
    const unsigned few = std::min(std::bit_ceil((unsigned)ceil_div(n, SHARE<Key> / 2)), 128u);
    const unsigned buckets = std::max(few, std::bit_ceil((unsigned)ceil_div(n, SHARE<Key>)));
    return {n, tile_of<Key>(problem), std::min(buckets, MOST_BUCKETS<Key>)};
}
} // namespace sample

/* ---- Scratch ---- */

enum policy_name { MSD, SAMPLE };

/* The greatest lengths of a level's lists. */
struct capacities {
    uint64_t buckets, tiles, counts, leaves, pieces;
};

template <class Key> capacities capacities_of(const struct problem *problem, const shape &shape)
{
    const uint64_t n = problem->n, buckets = n / shape.capacity + 1;
    const uint64_t tile = std::min(shape.tile, tile_of<Key>(problem));
    /* A bucket has a digit for each shape.leaf / 2 or shape.counted keys, or 2^MIN_BITS. */
    const uint64_t digits = std::max({2 * n / shape.leaf, buckets << MIN_BITS, n / shape.counted});
    /* Between two that are larger than the window lies at most one leaf, and one in a window. */
    const uint64_t leaves = 3 * (n / shape.window) + 3 * buckets + MAX_DIGITS;
    return {buckets, n / tile + 2 * buckets, MAX_DIGITS + digits + buckets, leaves,
            n / shape.piece + buckets};
}

/* The scratch of both policies. The other array, in which `sample` has its buckets, comes last:
 * another sort can share it. */
template <class Key> struct scratch {
    bucket_sort::shape shape;
    sample::state<Key> *sampled;
    control *state;
    list_sets lists;
    uint64_t leaves; /* length of a list of leaves */
    Key *other;
};

template <class Key>
scratch<Key> scratch_of(const struct problem *problem, policy_name policy, allocator *memory)
{
    scratch<Key> scratch = {};
    uint64_t others = problem->n;
    scratch.shape = shape_of<Key>(problem);
    if (policy == SAMPLE) {
        scratch.shape = small_shape<Key>(problem);
        scratch.sampled = memory->get<sample::state<Key>>(1);
        others = std::max<uint64_t>(others, (uint64_t)sample::shape_of<Key>(problem).buckets *
                                                sample::CAPACITY<Key>);
    }
    const capacities most = capacities_of<Key>(problem, scratch.shape);
    scratch.leaves = most.leaves;
    scratch.state = memory->get<control>(1);
    for (level_lists &lists : scratch.lists.set) {
        lists.buckets = memory->get<bucket>(most.buckets);
        lists.bucket_of_tile = memory->get<unsigned>(most.tiles);
        lists.counts = memory->get<unsigned long long>(most.counts);
        lists.leaves = memory->get<job>(most.leaves);
        lists.pieces = memory->get<job>(most.pieces);
    }
    scratch.other = memory->get<Key>(others);
    return scratch;
}

template <class Key> scratch<Key> scratch_of(const struct call *call, policy_name policy)
{
    allocator memory = scratch_memory(call);
    return scratch_of<Key>(&call->problem, policy, &memory);
}

template <class Key> arrays<Key> arrays_of(const struct call *call, Key *other)
{
    return {static_cast<const Key *>(call->input), static_cast<Key *>(call->output), other};
}

/* Zeroes the state, and lists the first bucket. */
template <class Key> void prepare_scratch(const struct call *call, const scratch<Key> &scratch)
{
    clear(call, scratch.state);
    launch<reset_kernel<Key>>(queue_of(call), {.blocks = 1, .threads = THREADS}, scratch.state,
                              scratch.lists, scratch.shape);
}

/* All blocks of a kernel that the device holds at once. */
template <class Kernel>
uint64_t resident_blocks(const struct call *call, Kernel *kernel, unsigned threads,
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

/* ---- Policies: what each sorts, and why not more ---- */

/* One block sorts an array of one leaf, and needs no scratch. */
template <class Key>
using one_leaf_layout =
    leaf_sort::shared_layout<Key, policy::one_leaf.threads, policy::one_leaf.bytes / sizeof(Key)>;

inline bool is_one_leaf(const struct problem *problem)
{
    return problem->n * element_bytes(problem->type) <=
           policy::one_leaf.threads * policy::one_leaf.bytes;
}

/* Are lists short enough beside the other array? */
inline const char *why_not_bytes(const struct problem *problem, size_t scratch_bytes)
{
    return scratch_bytes > problem->n * element_bytes(problem->type) + MOST_LIST_BYTES
               ? "needs more than 32 MiB beside the other array for so many keys: onesweep sorts "
                 "them"
               : nullptr;
}

inline const char *why_not_shared(const struct problem *problem, size_t shared_bytes)
{
    return problem->device->shared_bytes_per_block < shared_bytes
               ? "needs more shared memory than this device gives a block"
               : nullptr;
}

inline const char *why_not_sample(const struct problem *problem)
{
    return with_key_width(problem->type, [&]<class Key>() -> const char * {
        if (problem->n < sample::LEAST_KEYS)
            return "sorts at least 8192 keys: msd sorts fewer";
        if (problem->n > (uint64_t)sample::SHARE<Key> * sample::MOST_BUCKETS<Key>)
            return "sorts no more keys than fit buckets of one block each: msd or onesweep does";
        return why_not_shared(problem, sample::SHARED_BYTES<Key>);
    });
}

template <policy_name POLICY> size_t scratch_bytes(const struct problem *problem)
{
    allocator memory = {nullptr};
    if (POLICY == SAMPLE ? why_not_sample(problem) == nullptr : !is_one_leaf(problem))
        with_key_width(problem->type,
                       [&]<class Key>() { scratch_of<Key>(problem, POLICY, &memory); });
    return memory.used;
}

inline const char *why_not_msd(const struct problem *problem)
{
    const char *why = why_not_shared(
        problem, std::max({sizeof(one_leaf_layout<uint64_t>), sizeof(shared_layout<uint64_t>),
                           sizeof(leaves_layout<uint32_t>), sizeof(leaves_layout<uint64_t>)}));
    return why != nullptr ? why : why_not_bytes(problem, scratch_bytes<MSD>(problem));
}

/* Bytes of integers that `sample` sorts for `adaptive`. */
constexpr unsigned MOST_INTEGERS = 6 << 20;

/* The policy that sorts evenly spread keys soonest. Up to 1 MiB `sample` does not see whether keys
 * are skewed. Above 4 MB msd sorts integers sooner, but not those of few values, which take it
 * longer than CUB up to 6 MB. Floats take it longer at all sizes that `sample` sorts. */
inline policy_name policy_for(const struct problem *problem)
{
    const size_t bytes = problem->n * element_bytes(problem->type);
    const bool suits = bytes > sample::LARGE_BYTES &&
                       (bytes <= MOST_INTEGERS || type_class(problem->type) == TYPE_FLOAT);
    return suits && why_not_sample(problem) == nullptr ? SAMPLE : MSD;
}

/* Each policy's launches are in a file of their own. `next`: another sort, queued after this one,
 * that takes the keys if they are skewed; or null. */
namespace msd
{
void prepare(const struct call *call);
void run(const struct call *call, hand_over *next);
} // namespace msd

namespace sample
{
void prepare(const struct call *call);
void run(const struct call *call, hand_over *next);
} // namespace sample

inline void prepare(policy_name policy, const struct call *call)
{
    policy == SAMPLE ? sample::prepare(call) : msd::prepare(call);
}

inline void run(policy_name policy, const struct call *call, hand_over *next)
{
    policy == SAMPLE ? sample::run(call, next) : msd::run(call, next);
}

} // namespace SCANBENCH_BACKEND::bucket_sort
