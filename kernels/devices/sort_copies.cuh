/* sort_copies.cuh: the keys of second batches are copied to the members that sort them.
 *
 * Few multiprocessors copy as fast as the links take the keys; all others sort meanwhile. The copy
 * is a launch of its own with a large block for each of them. The runs to copy lie in this member's
 * memory as they will in the other's, relative to lines, so that all but their ends are copied by
 * whole packs. */
#pragma once

#include "sort_lines.cuh"

namespace SCANBENCH_BACKEND::sort_slices
{

enum {
    /* Memory answers late while others sort: 8 multiprocessors of an H200 copy 300 GB/s with so
     * many loads in flight, 220 GB/s with a quarter of them. */
    COPY_THREADS = 1024,
    COPY_PACKS = 8, /* loads in flight per thread */
    /* One of so many multiprocessors copies: 8 of an H200. Where nothing else runs, these reach
     * 345 GB/s, and 4 reach half. */
    COPY_SHARE = 16,
};

inline unsigned copy_blocks(const struct device_limits *device)
{
    return (unsigned)std::max(1, device->multiprocessors / COPY_SHARE);
}

struct copy_layout {
    uint8_t copied_to[MOST_BUCKETS];
    unsigned long long first[MOST_BUCKETS], keys[MOST_BUCKETS], copy[MOST_BUCKETS];
};

/* Copies a run, side by side with the other blocks. */
template <class Key>
__device__ __forceinline__ void copy_run(const Key *from, Key *to, uint64_t keys)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>;
    constexpr uint64_t ROW = (uint64_t)COPY_THREADS * WIDTH, STEP = ROW * COPY_PACKS;
    /* Packs are counted from the one that has the first key. */
    const unsigned skipped = (unsigned)(reinterpret_cast<uintptr_t>(from) / sizeof(Key)) % WIDTH;
    from -= skipped;
    to -= skipped;
    const uint64_t end = skipped + keys;
    const auto is_whole = [&](uint64_t i) { return i >= skipped && i + WIDTH <= end; };
    for (uint64_t first = blockIdx.x * STEP + threadIdx.x * WIDTH; first < end;
         first += gridDim.x * STEP) {
        pack<Key, WIDTH> packs[COPY_PACKS];
#pragma unroll
        for (unsigned p = 0; p < COPY_PACKS; p++)
            if (is_whole(first + p * ROW))
                packs[p] = load_pack<Key, WIDTH>(from, first + p * ROW, end);
#pragma unroll
        for (unsigned p = 0; p < COPY_PACKS; p++) {
            const uint64_t i = first + p * ROW;
            if (is_whole(i))
                store_pack(to, i, end, packs[p]);
            else
                for (uint64_t k = max(i, (uint64_t)skipped); k < min(i + WIDTH, end); k++)
                    to[k] = from[k];
        }
    }
}

/* Blocks begin with different members, and so do the members, so that each gets keys from all
 * others all the time. */
template <class Key>
__global__ void __launch_bounds__(COPY_THREADS)
    copy_runs_kernel(const struct routes *routes, unsigned size, unsigned member,
                     const __grid_constant__ destinations<Key> destinations)
{
    auto *shared = shared_memory<copy_layout>();
    const unsigned buckets = routes->buckets;
    for (unsigned b = threadIdx.x; b < buckets; b += COPY_THREADS) {
        shared->copied_to[b] = routes->copied_to[b];
        shared->first[b] = routes->first[b];
        shared->keys[b] = routes->keys[b];
        shared->copy[b] = routes->copy[b];
    }
    __syncthreads();
    for (unsigned k = 0; k + 1 < size; k++) {
        const unsigned to = (member + 1 + (blockIdx.x + k) % (size - 1)) % size;
        for (unsigned b = 0; b < buckets; b++)
            if (shared->copied_to[b] == to)
                copy_run(destinations.of[size] + shared->first[b],
                         destinations.of[to] + shared->copy[b], shared->keys[b]);
    }
}

} // namespace SCANBENCH_BACKEND::sort_slices
