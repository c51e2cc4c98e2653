/* leaf_sort.cuh: one block sorts a few thousand keys in registers and shared memory.
 *
 *   1. The smallest and the largest key bound the range, which is cut into BINS bins.
 *   2. Each key takes a place in its bin by one shared atomic; a scan tells where bins start.
 *      Keys of one bin are then neighbours.
 *   3. Each key counts the smaller ones of its bin, and so finds its place. Where a bin is one
 *      value nothing is left to do.
 *
 * Where keys crowd in few bins, a stable radix sort of 8 bits a pass takes the place of 3. */
#ifndef SCANBENCH_KERNELS_LEAF_SORT_CUH
#define SCANBENCH_KERNELS_LEAF_SORT_CUH

#include "key_order.cuh"
#include "radix_rank.cuh"

namespace SCANBENCH_BACKEND
{

namespace leaf_sort
{

enum {
    LOG2_BINS = 12,
    BINS = 1 << LOG2_BINS,
    BYTES = 32 * 1024, /* of keys at most */
    CROWD = 24,        /* keys in a bin that are too many to compare with each other */
    BITS = 8,
    DIGITS = 1 << BITS
};

template <class Key> constexpr unsigned CAPACITY = BYTES / sizeof(Key);
template <class Key, unsigned THREADS> constexpr unsigned KEYS = CAPACITY<Key> / THREADS;

template <class Key, unsigned THREADS> struct shared_layout {
    static constexpr unsigned WARPS = THREADS / WARP;
    Key ranks[CAPACITY<Key>];
    union {
        unsigned starts[BINS + 1]; /* of the bins */
        warp_counts<WARPS, DIGITS> counts;
    };
    Key lowest[WARPS], highest[WARPS];
    unsigned warp_totals[WARPS], fullest[WARPS];
};

template <class Key> __device__ __forceinline__ unsigned bit_length(Key x)
{
    if constexpr (sizeof(Key) == 8)
        return 64 - __clzll((long long)x);
    else
        return 32 - __clz((int)x);
}

template <class T> __device__ __forceinline__ T warp_min(T x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, uint32_t>)
        return __reduce_min_sync(ALL_LANES, x);
    else
#endif
#pragma unroll
        for (unsigned stride = WARP / 2; stride > 0; stride /= 2)
            x = min(x, __shfl_xor_sync(ALL_LANES, x, stride));
    return x;
}

template <class T> __device__ __forceinline__ T warp_max(T x)
{
    return T(~warp_min(T(~x)));
}

/* The block's keys: rank[k] of thread t is number k * THREADS + t of `count`. */
template <class Key, unsigned THREADS> struct held {
    Key rank[KEYS<Key, THREADS>];
    unsigned count;

    __device__ __forceinline__ bool has(unsigned k) const
    {
        return k * THREADS + threadIdx.x < count;
    }
};

/* Where sorted keys go. */
template <class Key> struct target {
    Key *out; /* of key 0 */
    key_order<Key> order;
};

/* Places are kept in 16 bits, two to a register. */
template <unsigned COUNT> struct packed_places {
    unsigned pair[(COUNT + 1) / 2];

    __device__ __forceinline__ void set(unsigned k, unsigned place)
    {
        if (k % 2 == 0)
            pair[k / 2] = place;
        else
            pair[k / 2] |= place << 16;
    }
    __device__ __forceinline__ unsigned get(unsigned k) const
    {
        return k % 2 == 0 ? pair[k / 2] & 0xFFFF : pair[k / 2] >> 16;
    }
};

template <class Key>
__device__ __forceinline__ unsigned bin_of(Key rank, Key lowest, unsigned shift)
{
    return (unsigned)(Key(rank - lowest) >> shift);
}

/* Turns the counts of bins into starts, and returns the count of the fullest. */
template <class Key, unsigned THREADS>
__device__ __forceinline__ unsigned starts_of_bins(shared_layout<Key, THREADS> *shared,
                                                   unsigned count)
{
    constexpr unsigned OWN = BINS / THREADS;
    unsigned *own = shared->starts + threadIdx.x * OWN;
    unsigned value[OWN], sum = 0, most = 0;
#pragma unroll
    for (unsigned b = 0; b < OWN; b++) {
        value[b] = own[b];
        sum += value[b];
        most = max(most, value[b]);
    }
    const unsigned inclusive = warp_inclusive_sum(sum);
    const unsigned warp = threadIdx.x / WARP;
    most = warp_max((uint32_t)most);
    if (lane_index() == WARP - 1) {
        shared->warp_totals[warp] = inclusive;
        shared->fullest[warp] = most;
    }
    __syncthreads();
    unsigned start = sum_of_first(warp, shared->warp_totals) + inclusive - sum;
#pragma unroll
    for (unsigned b = 0; b < OWN; b++) {
        own[b] = start;
        start += value[b];
    }
    if (threadIdx.x == 0)
        shared->starts[BINS] = count;
    most = lane_index() < THREADS / WARP ? shared->fullest[lane_index()] : 0;
    return warp_max((uint32_t)most);
}

/* 3. `keys` lie by bin in shared->ranks. */
template <class Key, unsigned THREADS>
__device__ __forceinline__ void finish_bins(const shared_layout<Key, THREADS> *shared,
                                            unsigned count, Key lowest, unsigned shift,
                                            const target<Key> &target)
{
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const Key rank = shared->ranks[i];
        const unsigned bin = bin_of(rank, lowest, shift);
        const unsigned start = shared->starts[bin], end = shared->starts[bin + 1];
        unsigned place = i;
        if (shift > 0 && end - start > 1) {
            place = start;
            for (unsigned j = start; j < end; j++) {
                const Key other = shared->ranks[j];
                place += other < rank || (other == rank && j < i);
            }
        }
        target.out[place] = target.order.inverse(rank);
    }
}

/* The smallest and the largest key; every thread gets them. */
template <class Key> struct extent {
    Key lowest, highest;
};

template <class Key, unsigned THREADS>
__device__ __forceinline__ extent<Key> extent_of(shared_layout<Key, THREADS> *shared,
                                                 const held<Key, THREADS> &keys)
{
    Key lowest = Key(~Key(0)), highest = 0;
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key, THREADS>; k++)
        if (keys.has(k)) {
            lowest = min(lowest, keys.rank[k]);
            highest = max(highest, keys.rank[k]);
        }
    const unsigned warp = threadIdx.x / WARP, lane = lane_index();
    lowest = warp_min(lowest), highest = warp_max(highest);
    if (lane == 0) {
        shared->lowest[warp] = lowest;
        shared->highest[warp] = highest;
    }
    __syncthreads();
    const bool speaks = lane < THREADS / WARP;
    return {warp_min(speaks ? shared->lowest[lane] : Key(~Key(0))),
            warp_max(speaks ? shared->highest[lane] : Key(0))};
}

/* The bits in which any two keys differ; every thread gets them. Ends without a barrier. */
template <class Key, unsigned THREADS>
__device__ __forceinline__ Key differing_bits(shared_layout<Key, THREADS> *shared,
                                              const held<Key, THREADS> &keys, Key lowest)
{
    Key differing = 0;
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key, THREADS>; k++)
        if (keys.has(k))
            differing |= keys.rank[k] ^ lowest;
    differing = warp_or(differing);
    if (lane_index() == 0)
        shared->lowest[threadIdx.x / WARP] = differing;
    __syncthreads();
    return warp_or(lane_index() < THREADS / WARP ? shared->lowest[lane_index()] : Key(0));
}

/* In place of 2 and 3: bytes in which keys differ, the lowest first. */
template <class Key, unsigned THREADS>
__device__ __forceinline__ void sort_by_digits(shared_layout<Key, THREADS> *shared,
                                            held<Key, THREADS> &keys, Key lowest,
                                            const target<Key> &target)
{
    constexpr unsigned COUNT = KEYS<Key, THREADS>;
    const unsigned warp = threadIdx.x / WARP;
    const unsigned first = warp * WARP * COUNT + lane_index();
    const Key differing = differing_bits(shared, keys, lowest);
    /* What lies past the end has every bit that differs, and comes last. */
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (!keys.has(k))
            keys.rank[k] = lowest | differing;
    for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += BITS) {
        if ((differing >> shift) % DIGITS == 0)
            continue;
        unsigned *own = shared->counts.of_warp[warp];
        for (unsigned d = lane_index(); d < DIGITS; d += WARP)
            own[d] = 0;
        __syncwarp();
        packed_places<COUNT> places;
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            places.set(k, rank_in_warp((unsigned)(keys.rank[k] >> shift) % DIGITS, own));
        __syncthreads();
        starts_of_digits(&shared->counts, shared->warp_totals);
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            shared->ranks[places.get(k) + own[(unsigned)(keys.rank[k] >> shift) % DIGITS]] =
                keys.rank[k];
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            keys.rank[k] = shared->ranks[first + k * WARP];
        __syncthreads();
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (first + k * WARP < keys.count)
            target.out[first + k * WARP] = target.order.inverse(keys.rank[k]);
}

/* Sorts from[0..count) into target, which may be the same place: all keys are read before any
 * is written. count <= CAPACITY. */
template <class Key, unsigned THREADS>
__device__ __forceinline__ void sort_leaf(shared_layout<Key, THREADS> *shared, const Key *from,
                                          unsigned count, const target<Key> &target)
{
    constexpr unsigned COUNT = KEYS<Key, THREADS>;
    held<Key, THREADS> keys;
    keys.count = count;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++)
        if (keys.has(k))
            keys.rank[k] = target.order(from[k * THREADS + threadIdx.x]);
    for (unsigned b = threadIdx.x; b < BINS; b += THREADS)
        shared->starts[b] = 0;
    const extent<Key> extent = extent_of(shared, keys);
    if (extent.lowest == extent.highest) { /* all equal */
        for (unsigned i = threadIdx.x; i < count; i += THREADS)
            target.out[i] = target.order.inverse(extent.lowest);
        return __syncthreads();
    }
    const unsigned bits = bit_length(Key(extent.highest - extent.lowest));
    const unsigned shift = bits > LOG2_BINS ? bits - LOG2_BINS : 0;

    packed_places<COUNT> places;
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        unsigned place = 0;
        if (keys.has(k))
            place = atomicAdd(&shared->starts[bin_of(keys.rank[k], extent.lowest, shift)], 1u);
        places.set(k, place);
    }
    __syncthreads();
    const unsigned fullest = starts_of_bins(shared, count);
    __syncthreads();
    if (shift > 0 && fullest > CROWD) {
        sort_by_digits(shared, keys, extent.lowest, target);
    } else {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (keys.has(k))
                shared->ranks[shared->starts[bin_of(keys.rank[k], extent.lowest, shift)] +
                              places.get(k)] = keys.rank[k];
        __syncthreads();
        finish_bins(shared, count, extent.lowest, shift, target);
    }
    __syncthreads(); /* before shared memory is used again */
}

} // namespace leaf_sort

} // namespace SCANBENCH_BACKEND

#endif
