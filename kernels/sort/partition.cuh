/* partition.cuh: the block agent that partitions a tile of keys among buckets.
 *
 * It takes a division, which says what the tile holds of a key and which bucket that belongs to,
 * and places, which say where a bucket's keys go:
 *
 *   division.divide(keys)          keys in registers become what the tile holds
 *   division.bucket_of(keys, k)    bucket of key k in registers
 *   division.store(i, keys, k)     stores key k as number i of the sorted tile
 *   division.bucket_at(i, held)    bucket of number i of the sorted tile
 *   division.key(held)             the key again
 *   division.count                 number of buckets
 *   places.claim(bucket, count)    claims places for a tile's keys of the bucket, by one atomic
 *   places.destination(bucket, claimed, start)   where key 0 of the sorted tile would go
 *   places.has(destination)        are there places? */
#pragma once

#include "buckets.cuh"

namespace SCANBENCH_BACKEND::bucket_sort
{

/* The keys of a tile, which a FULL one has all. */
using leaf_sort::held;
using leaf_sort::packed_places;

/* Counts a tile's keys by bucket, and gives each a place among those of its bucket, in no order. */
template <class Keys, class Division>
__device__ __forceinline__ void claim_places(unsigned *counts, const Keys &keys,
                                             const Division &division,
                                             packed_places<Keys::COUNT> &places)
{
    unsigned place[Keys::COUNT] = {};
    if (!are_alike(division.bucket_of(keys, 0))) {
#pragma unroll
        for (unsigned k = 0; k < Keys::COUNT; k++)
            if (keys.has(k))
                place[k] = atomicAdd(&counts[division.bucket_of(keys, k)], 1u);
#pragma unroll
        for (unsigned k = 0; k < Keys::COUNT; k++)
            places.set(k, place[k]);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < Keys::COUNT; k++) {
        /* A key that is not there has a bucket that no other has. */
        const unsigned bucket = keys.has(k) ? division.bucket_of(keys, k) : MAX_DIGITS;
        const unsigned peers = __match_any_sync(ALL_LANES, bucket);
        const unsigned leader = __ffs((int)peers) - 1;
        unsigned before = 0;
        if (lane_index() == leader && bucket < MAX_DIGITS)
            before = atomicAdd(&counts[bucket], (unsigned)__popc(peers));
        before = __shfl_sync(ALL_LANES, before, (int)leader);
        places.set(k, before + __popc(peers & lanes_below()));
    }
}

/* A thread's buckets: where their keys start in the sorted tile, and what is claimed for them. */
template <unsigned THREADS, class Places> struct claimed_runs {
    static constexpr unsigned OWN = MAX_DIGITS / THREADS > 0 ? MAX_DIGITS / THREADS : 1;
    unsigned first, buckets;
    unsigned start[OWN];
    typename Places::cursor claimed[OWN];

    /* Turns the counts of the tile into starts, and claims places for each run. Has one barrier. */
    __device__ __forceinline__ void claim(unsigned *counts, unsigned *warp_totals, unsigned all,
                                          const Places &places)
    {
        const unsigned each = (all + THREADS - 1) / THREADS, warp = threadIdx.x / WARP;
        unsigned sum = 0;
        first = threadIdx.x * each;
        buckets = first < all ? min(each, all - first) : 0;
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < buckets) {
                start[k] = counts[first + k];
                claimed[k] = places.claim(first + k, start[k]);
                sum += start[k];
            }
        const bool has_buckets = warp * WARP * each < all;
        const unsigned inclusive = has_buckets ? warp_inclusive_sum(sum) : 0;
        if (has_buckets && lane_index() == WARP - 1)
            warp_totals[warp] = inclusive;
        __syncthreads();
        unsigned next = has_buckets ? sum_of_first(warp, warp_totals) + inclusive - sum : 0;
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < buckets) {
                const unsigned count = start[k];
                start[k] = counts[first + k] = next;
                next += count;
            }
    }
    /* Waits for the claims, and so is called no sooner than needed. */
    __device__ __forceinline__ void tell(unsigned *destination, const Places &places) const
    {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < buckets)
                destination[first + k] = places.destination(first + k, claimed[k], start[k]);
    }
};

/* Writes the sorted tile, some keys at a time. */
template <class Keys, class Tile, class Division, class Places>
__device__ __forceinline__ void write_runs(const Tile *tile, const Keys &keys,
                                           const Division &division, const Places &places,
                                           typename Keys::Key *out)
{
    constexpr unsigned STEP = Keys::COUNT < 4 ? Keys::COUNT : 4;
    static_assert(Keys::COUNT % STEP == 0);
#pragma unroll
    for (unsigned k = 0; k < Keys::COUNT; k += STEP) {
        typename Keys::Key moved[STEP];
        unsigned to[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            moved[j] = keys.has(k + j) ? tile->keys[keys.index(k + j)] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            to[j] = keys.has(k + j)
                        ? tile->destination[division.bucket_at(keys.index(k + j), moved[j])]
                        : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j) && places.has(to[j]))
                out[to[j] + keys.index(k + j)] = division.key(moved[j]);
    }
}

/* Partitions a tile whose keys are loaded. Its counters are zero, and will be. load_next() may load
 * the next tile's keys, which are on their way while this one is written. */
template <class Keys, class Tile, class Division, class Places, class LoadNext>
__device__ __forceinline__ void partition_tile(Tile *tile, unsigned *warp_totals, Keys &keys,
                                               Division division, const Places &places,
                                               typename Keys::Key *to, LoadNext load_next)
{
    constexpr unsigned COUNT = Keys::COUNT, STEP = COUNT < 4 ? COUNT : 4;
    division.divide(keys);
    packed_places<COUNT> in_bucket;
    claim_places(tile->counts, keys, division, in_bucket);
    __syncthreads();
    claimed_runs<Keys::THREADS, Places> runs;
    runs.claim(tile->counts, warp_totals, division.count, places);
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        unsigned start[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            start[j] = keys.has(k + j) ? tile->counts[division.bucket_of(keys, k + j)] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j))
                division.store(start[j] + in_bucket.get(k + j), keys, k + j);
    }
    runs.tell(tile->destination, places);
    load_next();
    __syncthreads();
    for (unsigned b = threadIdx.x; b < division.count; b += Keys::THREADS)
        tile->counts[b] = 0;
    write_runs(tile, keys, division, places, to);
    __syncthreads();
}

} // namespace SCANBENCH_BACKEND::bucket_sort
