/* merge_sort.cuh: one block sorts a few keys per thread, however they are spread.
 * Source:  Batcher, "Sorting networks and their applications", AFIPS 1968, for a warp's keys;
 *          Green, McColl and Bader, "GPU merge path", ICS 2012, for those of the block.
 *
 * A warp sorts its keys in registers. Then runs are merged in pairs, twice as long each time: a
 * thread finds by binary search which keys of both runs come before its own. OWN: keys of a thread,
 * a power of two. */
#pragma once

#include "../warp.cuh"

namespace SCANBENCH_BACKEND::merge_sort
{

template <class Key> __device__ __forceinline__ void compare_exchange(Key &a, Key &b)
{
    const Key low = min(a, b);
    b = max(a, b);
    a = low;
}

/* Sorts a thread's keys by Batcher's odd-even merge sort. */
template <unsigned OWN, class Key> __device__ __forceinline__ void sort_own(Key (&key)[OWN])
{
#pragma unroll
    for (unsigned run = 1; run < OWN; run *= 2)
#pragma unroll
        for (unsigned stride = run; stride > 0; stride /= 2)
#pragma unroll
            for (unsigned k = stride % run; k + stride < OWN; k++)
                if ((k - stride % run) / stride % 2 == 0 &&
                    k / (2 * run) == (k + stride) / (2 * run))
                    compare_exchange(key[k], key[k + stride]);
}

/* Sorts keys that first rise and then fall, or the other way round. */
template <unsigned OWN, class Key> __device__ __forceinline__ void merge_bitonic(Key (&key)[OWN])
{
#pragma unroll
    for (unsigned stride = OWN / 2; stride > 0; stride /= 2)
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k / stride % 2 == 0)
                compare_exchange(key[k], key[k + stride]);
}

/* Compares each key with one of the lane whose number differs in `mask`: the one at the same place,
 * or if REVERSED the one at the same place from the end. Smaller keys go to the lower lane. */
template <bool REVERSED, unsigned OWN, class Key>
__device__ __forceinline__ void exchange(Key (&key)[OWN], unsigned mask)
{
    const bool is_lower = lane_index() < (lane_index() ^ mask);
    Key other[OWN];
#pragma unroll
    for (unsigned k = 0; k < OWN; k++)
        other[k] = __shfl_xor_sync(ALL_LANES, key[REVERSED ? OWN - 1 - k : k], (int)mask);
#pragma unroll
    for (unsigned k = 0; k < OWN; k++)
        key[k] = is_lower ? min(key[k], other[k]) : max(key[k], other[k]);
}

/* Sorts the keys of a warp. Lane l gets those from number l * OWN on. */
template <unsigned OWN, class Key> __device__ __forceinline__ void sort_in_warp(Key (&key)[OWN])
{
    sort_own(key);
#pragma unroll 1
    for (unsigned lanes = 2; lanes <= WARP; lanes *= 2) {
        exchange<true>(key, lanes - 1);
#pragma unroll 1
        for (unsigned mask = lanes / 4; mask > 0; mask /= 2)
            exchange<false>(key, mask);
        merge_bitonic(key);
    }
}

/* Returns how many of the first `before` keys of a[0..length) merged with b[0..length) are of a. */
template <class Key>
__device__ __forceinline__ unsigned merged_from_first(const Key *a, const Key *b, unsigned length,
                                                      unsigned before)
{
    unsigned low = before > length ? before - length : 0, high = min(before, length);
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (a[middle] <= b[before - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges two sorted runs that follow each other. Each thread gets its own keys of the result. */
template <unsigned OWN, class Key>
__device__ __forceinline__ void merge_own(const Key *keys, unsigned length, Key (&own)[OWN])
{
    const unsigned place = OWN * threadIdx.x, before = place & (2 * length - 1);
    const Key *a = keys + (place - before), *b = a + length;
    unsigned in_a = merged_from_first(a, b, length, before), in_b = before - in_a;
    /* A key past the end of a run may be read, but is not taken. */
    Key next_a = a[in_a], next_b = b[min(in_b, length - 1)];
#pragma unroll
    for (unsigned k = 0; k < OWN; k++) {
        if (in_b >= length || (in_a < length && next_a <= next_b)) {
            own[k] = next_a;
            next_a = a[++in_a];
        } else {
            own[k] = next_b;
            next_b = b[min(++in_b, length - 1)];
        }
    }
}

/* Sorts from[0..count) into out, which may be the same place. `shared` holds OWN keys of each
 * thread; `from` may be there. A warp's keys lie side by side, so that warps past the end have
 * none: the highest rank, which they hold instead, is never out of place. */
template <unsigned THREADS, unsigned OWN, class Order, class Key>
__device__ __noinline__ void sort(Key *shared, const Key *from, unsigned count, Key *out)
{
    const unsigned first = threadIdx.x / WARP * WARP * OWN;
    const bool has_keys = first < count;
    Key own[OWN];
#pragma unroll
    for (unsigned k = 0; k < OWN; k++) {
        const unsigned i = first + k * WARP + lane_index();
        own[k] = i < count ? Order()(from[i]) : Key(~Key(0));
    }
    if (has_keys)
        sort_in_warp(own);
    __syncthreads();
    for (unsigned length = OWN * WARP;; length *= 2) {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            shared[OWN * threadIdx.x + k] = own[k];
        __syncthreads();
        if (length >= count)
            break;
        if (has_keys)
            merge_own(shared, length, own);
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        out[i] = Order().inverse(shared[i]);
}

} // namespace SCANBENCH_BACKEND::merge_sort
