/* msd_host.cuh: what the host decides about sort_msd by the number of keys, its scratch, and the
 * functions by which sort_msd.cu sorts, for sort_adaptive as well. */
#ifndef SCANBENCH_KERNELS_SORT_MSD_HOST_CUH
#define SCANBENCH_KERNELS_SORT_MSD_HOST_CUH

#include "msd_plan.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* Does one block sort the array? It needs no scratch then. */
template <class Key> bool is_one_leaf(const struct problem *problem)
{
    return problem->n <= ONE_LEAF<Key>;
}

template <class Key> bool is_large(const struct problem *problem)
{
    return problem->n * sizeof(Key) >= (uint64_t)LARGE_SHARE * problem->device->multiprocessors;
}

/* Keys per block that keep every multiprocessor busy. */
inline uint64_t share_of(const struct problem *problem)
{
    return ceil_div(problem->n, (uint64_t)BLOCKS * problem->device->multiprocessors);
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

/* The sizes where one launch does all steps. */
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

/* Shared memory of a launch that counts by digits of so many bits. */
template <class Key> size_t count_bytes(unsigned bits)
{
    return offsetof(shared_layout<Key>, counts) +
           std::max({sizeof(plan_layout), sizeof(unsigned) * MAX_DIGITS, sizeof(unsigned) << bits});
}

/* The sizes where each step is a launch: leaves as large as is fast, and digits of two levels that
 * are counted at once, if the device has shared memory for that. */
template <class Key> shape large_shape(const struct problem *problem)
{
    shape shape = {};
    shape.tile = PARTITION_KEYS<Key> * PARTITION_THREADS;
    shape.capacity = LEAVES_KEYS<Key> * LEAVES_THREADS;
    shape.leaf = leaf_for(USUAL_LEAVES_KEYS<Key> * LEAVES_THREADS, problem);
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

/* The sizes for the sample. Digits are looked at together until chance plays a small part. */
template <class Key> sampling sampling_of(const struct problem *problem)
{
    enum { ENOUGH = 8 };
    uint64_t keys = (uint64_t)SAMPLE * shape_of<Key>(problem).capacity;
    sampling sampling = {(unsigned)(problem->n / SAMPLE), 0, 0};
    for (; keys < ENOUGH * problem->n; keys *= 2)
        sampling.together++;
    sampling.most = (unsigned)(ENOUGH + keys * 5 / (4 * problem->n));
    return sampling;
}

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
    /* Between two leaves that are larger than the window lies at most one other leaf, and a window
     * has at most one. */
    const uint64_t leaves = 3 * (n / shape.window) + 3 * buckets + MAX_DIGITS;
    return {buckets, n / tile + 2 * buckets, MAX_DIGITS + digits + buckets, leaves,
            n / shape.piece + buckets};
}

/* Gives out scratch memory, one array after the other. If `start` is null, it only counts bytes. */
struct allocator {
    char *start;
    size_t used;

    template <class T> T *get(uint64_t count)
    {
        char *piece = start == nullptr ? nullptr : start + used;
        used += next_place(count * sizeof(T));
        return reinterpret_cast<T *>(piece);
    }
};

/* The scratch of the sort. The other array comes last, because other sorts share it. */
template <class Key> struct scratch {
    control *state;
    list_sets lists;
    Key *other;
    size_t bytes;
};

template <class Key>
scratch<Key> scratch_of(const struct problem *problem, const shape &shape, void *start)
{
    allocator allocator = {static_cast<char *>(start), 0};
    const capacities most = capacities_of<Key>(problem, shape);
    scratch<Key> scratch = {};
    scratch.state = allocator.get<control>(1);
    for (level_lists &lists : scratch.lists.set) {
        lists.buckets = allocator.get<bucket>(most.buckets);
        lists.bucket_of_tile = allocator.get<unsigned>(most.tiles);
        lists.counts = allocator.get<unsigned long long>(most.counts);
        lists.leaves = allocator.get<job>(most.leaves);
        lists.pieces = allocator.get<job>(most.pieces);
    }
    scratch.other = allocator.get<Key>(problem->n);
    scratch.bytes = allocator.used;
    return scratch;
}

/* The number of blocks of a kernel that the device holds at once; 0 after an error. */
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

/* Makes the state and the lists what each call finds, and leaves. */
template <class Key>
void prepare_scratch(const struct call *call, const shape &shape, const scratch<Key> &scratch)
{
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(scratch.state, 0, sizeof(control), queue_of(call)->stream));
    launch<reset_kernel<Key>>(queue_of(call), {1, THREADS}, scratch.state, scratch.lists, shape);
}

/* The word in which a call that has scratch finds the address of `disabled` of another sort, queued
 * after it. If it is not null, skewed keys are left to the other sort: this one sets the other's
 * `disabled`, or its own. prepare() makes it null. */
inline unsigned **other_disabled(const struct call *call)
{
    return &static_cast<control *>(call->scratch)->other_disabled;
}

/* The functions of an algorithm, as algorithm.h describes them, defined in sort_msd.cu. */
const char *supports(const struct problem *problem);
size_t scratch_bytes(const struct problem *problem);
void prepare(const struct call *call);
void run(const struct call *call);

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
