/* msd_host.cuh: what the host decides about sort_msd by the number of keys, and its scratch. */
#pragma once

#include "msd_plan.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Does one block sort the array? It needs no scratch then. */
template <class Key> bool is_one_leaf(const struct problem *problem)
{
    return problem->n <= POLICY<Key>.one_leaf.tile();
}

template <class Key> bool is_large(const struct problem *problem)
{
    return problem->n * sizeof(Key) >= (uint64_t)LARGE_SHARE * problem->device->multiprocessors;
}

/* Keys per block that keep every multiprocessor busy. */
inline uint64_t share_of(const struct problem *problem)
{
    return ceil_div(problem->n,
                    (uint64_t)POLICY<uint32_t>.levels.blocks * problem->device->multiprocessors);
}

/* Keys per thread of a tile and a leaf: as few as keep all blocks busy. */
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

/* Completes the sizes that follow from others. */
inline shape completed(shape shape, const struct problem *problem)
{
    shape.n = problem->n;
    shape.next_tile = shape.first_tile = shape.tile;
    shape.piece = (unsigned)std::max<uint64_t>(2 * shape.tile, ceil_div(problem->n, MOST_PIECES));
    shape.bits = digit_bits(problem->n, shape.leaf);
    shape.most_bits = MAX_BITS;
    shape.counted = (unsigned)std::max<uint64_t>(COUNTED, problem->n / MOST_COUNTS);
    return shape;
}

/* The sizes where one launch does all steps. */
template <class Key> shape small_shape(const struct problem *problem)
{
    const unsigned capacity = keys_for<Key>(problem) * THREADS;
    const auto share = (unsigned)std::max<uint64_t>(share_of(problem) * 5 / 4, THREADS);
    const unsigned leaf = std::min(share, capacity / 4 * 3);
    return completed({.tile = tile_of<Key>(problem),
                      .leaf = leaf,
                      .capacity = capacity,
                      .window = std::min(capacity / 4, leaf / 2)},
                     problem);
}

/* Shared memory of a launch that counts by digits of so many bits. */
template <class Key> size_t count_bytes(unsigned bits)
{
    return offsetof(shared_layout<Key>, counts) +
           std::max({sizeof(plan_layout), sizeof(value_counts<Key>), sizeof(unsigned) << bits});
}

/* The most bits of two levels' digits that are counted at once: more than evenly spread keys need,
 * as long as this keeps no block from a multiprocessor. Returns 0 if they need too many. */
template <class Key> unsigned most_bits_of_two(unsigned needed, const struct device_limits *device)
{
    enum { MORE = 2 }; /* for a normal distribution */
    const auto fits = [&](unsigned bits, unsigned blocks) {
        return blocks * count_bytes<Key>(bits) <= device->shared_bytes_per_block;
    };
    if (needed > MAX_FINE_BITS || !fits(needed, 1))
        return 0;
    unsigned bits = needed;
    while (bits < needed + MORE && bits < MAX_FINE_BITS && fits(bits + 1, POLICY<Key>.count.blocks))
        bits++;
    return bits;
}

/* The sizes where each step is a launch: leaves as large as is fast. */
template <class Key> shape large_shape(const struct problem *problem)
{
    constexpr launch_policy LEAVES = POLICY<Key>.leaves;
    shape shape = completed({.tile = POLICY<Key>.partition.tile(),
                             .leaf = USUAL_LEAF_BYTES / sizeof(Key) * LEAVES.threads,
                             .capacity = LEAVES.tile(),
                             .window = LEAVES.tile() / 2},
                            problem);
    unsigned all_bits = shape.bits;
    while (problem->n >> all_bits > shape.leaf)
        all_bits++;
    shape.next_bits = std::min(all_bits - shape.bits, (unsigned)MAX_BITS);
    /* The middle of a normal distribution is 2.7 times as dense as its range on average. */
    shape.levels = problem->n / 3 * 8 >> MAX_BITS > shape.leaf ? 2 : 1;
    if (shape.levels > 1)
        shape.most_bits = most_bits_of_two<Key>(all_bits, problem->device);
    return shape;
}

template <class Key> shape shape_of(const struct problem *problem)
{
    return is_large<Key>(problem) ? large_shape<Key>(problem) : small_shape<Key>(problem);
}

/* The sizes for the sample. Digits are looked at together until chance plays a small part. */
template <class Key> sampling sampling_of(const struct call *call)
{
    enum { ENOUGH = 8 };
    const struct problem *problem = &call->problem;
    uint64_t keys = (uint64_t)SAMPLE * shape_of<Key>(problem).capacity;
    sampling sampling = {.part = (unsigned)(problem->n / SAMPLE),
                         .has_parts = call->parts != nullptr};
    for (; keys < ENOUGH * problem->n; keys *= 2)
        sampling.together++;
    sampling.most = (unsigned)(ENOUGH + keys * 5 / (4 * problem->n));
    return sampling;
}

/* Keys that a leaf of a part should have. If a power of two lies within the range of a part of
 * floats, keys beyond it are twice as dense. */
inline unsigned leaf_of_parts(const struct problem *problem, const shape &shape)
{
    return type_class(problem->type) == TYPE_FLOAT ? shape.leaf / 2 : shape.leaf;
}

/* The greatest lengths of a level's lists. */
struct capacities {
    uint64_t buckets, tiles, counts, leaves, pieces;
};

template <class Key> capacities capacities_of(const struct problem *problem, const shape &shape)
{
    const uint64_t n = problem->n, buckets = n / shape.capacity + 1;
    const uint64_t tile = std::min(shape.tile, tile_of<Key>(problem));
    /* A bucket has a digit for each half of a leaf or shape.counted keys, or 2^MIN_BITS. A part of
     * a slice may fill only half of its range, and has twice as many. */
    const bool has_parts = problem->device->members > 1;
    const uint64_t leaf =
        has_parts ? leaf_of_parts(problem, shape) / 2 : leaf_of_uneven(shape.leaf);
    const uint64_t digits = std::max({2 * n / leaf, buckets << MIN_BITS, n / shape.counted});
    /* Between two leaves that are larger than the window lies at most one other leaf, and a window
     * has at most one. */
    const uint64_t leaves = 3 * (n / shape.window) + 3 * buckets + MAX_DIGITS;
    return {buckets, n / tile + 2 * buckets, MAX_DIGITS + digits + buckets, leaves,
            n / shape.piece + buckets};
}

/* What the steps of a call get. The other array comes last in scratch, because other sorts share
 * it. */
template <class Key>
task<Key> task_of(const struct call *call, const shape &shape, uint64_t other_n, allocator *scratch)
{
    const capacities most = capacities_of<Key>(&call->problem, shape);
    task<Key> task = {.control = scratch->get<control>(1), .shape = shape};
    for (level_lists &lists : task.lists) {
        lists.buckets = scratch->get<bucket>(most.buckets);
        lists.bucket_of_tile = scratch->get<unsigned>(most.tiles);
        lists.counts = scratch->get<unsigned long long>(most.counts);
        lists.leaves = scratch->get<job>(most.leaves);
        lists.pieces = scratch->get<job>(most.pieces);
    }
    task.arrays = {static_cast<const Key *>(call->input), static_cast<Key *>(call->output),
                   scratch->get<Key>(other_n)};
    return task;
}

/* Makes the state and the lists what each call finds, and leaves. */
template <class Key> void prepare_task(const struct call *call, const task<Key> &task)
{
    clear(call, task.control, sizeof(control));
    launch<reset_kernel<Key>>(queue_of(call), {.blocks = 1, .threads = THREADS}, task);
}

/* Says why a sort refuses a problem for which it needs so much scratch, or returns null. Beside the
 * other array it may have 32 MiB, or a 64th of the bytes of the keys if that is more. */
inline const char *why_too_much(const struct problem *problem, size_t scratch_bytes)
{
    const size_t key_bytes = problem->n * element_bytes(problem->type);
    return scratch_bytes <= key_bytes + std::max<size_t>(32 << 20, key_bytes / 64)
               ? nullptr
               : "needs more than 32 MiB and a 64th of the keys' bytes beside the other array: "
                 "onesweep sorts them";
}

} // namespace SCANBENCH_BACKEND::msd
