/* partition_tile.cuh: a block partitions a tile of keys into buckets, in no order within a bucket.
 *
 *   1. The keys of each bucket are counted, by one shared atomic per key, which also gives the key
 *      its place among them.
 *   2. A sum of the counts says where the run of each bucket starts in the tile. Space for the run
 *      is claimed where the keys go.
 *   3. The keys are written to shared memory run by run, and from there to the space claimed.
 *
 * A division says which bucket a key belongs to: digits (msd_partition.cuh), bins and splitters of
 * a sample (sample_division.cuh), or slices (../devices/sort_slices.cu, whose division has find()
 * and of() alone: ../devices/sort_lines.cuh claims and writes lines itself). It is a value with
 * these members:
 *   buckets          how many there are
 *   find(keys)       looks at all keys of a thread, and may map them to ranks
 *   of(keys, k)      the bucket of key k
 *   move(k, place)   is told that key k goes to this place in the tile
 *   at(place, key)   the bucket of the key at this place
 *   key_of(key)      the key to write
 * A destination says where runs go, and is a value with these members:
 *   out, IS_BOUNDED          the array, and whether a run may find no space
 *   claim(bucket, count)     claims space
 *   place(bucket, claimed, count)     where in the array it is; NOWHERE if there was none */
#pragma once

#include "radix_rank.cuh"
#include "tile_keys.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

enum : unsigned { MOST_BUCKETS_OF_TILE = 1024, NOWHERE = ~0u };

/* A thread's numbers of 16 bits, two per register. */
template <unsigned COUNT> struct packed_places {
    unsigned pair[(COUNT + 1) / 2] = {};

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

/* The shared memory of a tile. The counts are zero before a tile and after it. */
template <class Key, unsigned TILE> struct tile_layout {
    unsigned counts[MOST_BUCKETS_OF_TILE];
    /* Where key 0 of the tile would go if it were in that bucket, modulo 2^32, or NOWHERE. */
    unsigned destination[MOST_BUCKETS_OF_TILE];
    unsigned warp_totals[WARP];
    Key keys[TILE];

    template <unsigned THREADS> __device__ __forceinline__ void clear_counts(unsigned buckets)
    {
#pragma unroll 1
        for (unsigned b = threadIdx.x; b < buckets; b += THREADS)
            counts[b] = 0;
    }
};

/* Are these buckets, one per lane, so alike that atomics would queue? */
__device__ __forceinline__ bool are_alike(unsigned bucket)
{
    enum { MANY = 10 };
    const unsigned first = __shfl_sync(ALL_LANES, bucket, 0);
    return __popc(__ballot_sync(ALL_LANES, bucket == first)) >= MANY;
}

/* The neighbouring buckets that a thread looks after, of at most MOST. */
template <unsigned THREADS, unsigned MOST> struct own_buckets {
    static constexpr unsigned OWN = (MOST + THREADS - 1) / THREADS;
    unsigned first, count;
    bool in_warp; /* a thread of the warp has one */

    __device__ __forceinline__ explicit own_buckets(unsigned buckets)
    {
        const unsigned each = (buckets + THREADS - 1) / THREADS;
        first = threadIdx.x * each;
        count = first < buckets ? min(each, buckets - first) : 0;
        in_warp = threadIdx.x / WARP * WARP * each < buckets;
    }
    /* Calls f(k, bucket) for each, with k < OWN. */
    template <class Function> __device__ __forceinline__ void for_each(Function f) const
    {
#pragma unroll
        for (unsigned k = 0; k < OWN; k++)
            if (k < count)
                f(k, first + k);
    }
    /* Calls load(k, bucket), which returns the bucket's count, and then store(k, bucket, start),
     * with the sum of the counts before it. There is one barrier between the two. */
    template <class Sum, class Load, class Store>
    __device__ __forceinline__ void counts_to_starts(Sum *warp_totals, Load load, Store store) const
    {
        Sum counts[OWN] = {}, sum = 0;
        for_each([&](unsigned k, unsigned bucket) { sum += counts[k] = load(k, bucket); });
        const unsigned warp = threadIdx.x / WARP;
        const Sum inclusive = in_warp ? warp_inclusive_sum(sum) : 0;
        if (in_warp && lane_index() == WARP - 1)
            warp_totals[warp] = inclusive;
        __syncthreads();
        Sum start = in_warp ? sum_of_first(warp, warp_totals) + inclusive - sum : 0;
        for_each([&](unsigned k, unsigned bucket) {
            store(k, bucket, start);
            start += counts[k];
        });
    }
};

/* Step 1. */
template <class Division, class Key, unsigned THREADS, unsigned COUNT, bool FULL>
__device__ __forceinline__ void claim_places(unsigned *counts, const Division &division,
                                             const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                             packed_places<COUNT> &places)
{
    unsigned place[COUNT] = {};
    if (!are_alike(division.of(keys, 0))) {
        keys.for_each([&](unsigned k) { place[k] = atomicAdd(&counts[division.of(keys, k)], 1u); });
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            places.set(k, place[k]);
        return;
    }
#pragma unroll
    for (unsigned k = 0; k < COUNT; k++) {
        /* Keys past the end are in a bucket where no others are. */
        const unsigned bucket = keys.has(k) ? division.of(keys, k) : MOST_BUCKETS_OF_TILE;
        const unsigned peers = __match_any_sync(ALL_LANES, bucket);
        const unsigned leader = __ffs((int)peers) - 1;
        unsigned before = 0;
        if (lane_index() == leader && bucket < MOST_BUCKETS_OF_TILE)
            before = atomicAdd(&counts[bucket], (unsigned)__popc(peers));
        before = __shfl_sync(ALL_LANES, before, (int)leader);
        places.set(k, before + __popc(peers & lanes_below()));
    }
}

/* Writes the sorted tile, a few keys per thread at a time. */
template <class Layout, class Division, class Destination, class Key, unsigned THREADS,
          unsigned COUNT, bool FULL>
__device__ __forceinline__ void write_runs(const Layout *tile, const Division &division,
                                           const Destination &destination,
                                           const tile_keys<Key, THREADS, COUNT, FULL> &keys)
{
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
    static_assert(COUNT % STEP == 0);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        Key moved[STEP];
        unsigned to[STEP];
        const auto place = [&](unsigned j) { return keys.index(k + j); };
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            moved[j] = keys.has(k + j) ? tile->keys[place(j)] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            to[j] = keys.has(k + j) ? tile->destination[division.at(place(j), moved[j])] : NOWHERE;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j) && !(Destination::IS_BOUNDED && to[j] == NOWHERE))
                destination.out[to[j] + place(j)] = division.key_of(moved[j]);
    }
}

/* Step 3: gathers the keys of each bucket, which begin at `starts` in the tile. Calls moved(k,
 * place) for each. */
template <class Key, unsigned THREADS, unsigned COUNT, bool FULL, class Division, class Moved>
__device__ __forceinline__ void gather_keys(Key *tile, const unsigned *starts,
                                            const Division &division,
                                            const tile_keys<Key, THREADS, COUNT, FULL> &keys,
                                            const packed_places<COUNT> &places, Moved moved)
{
    constexpr unsigned STEP = COUNT < 4 ? COUNT : 4;
    static_assert(COUNT % STEP == 0);
#pragma unroll
    for (unsigned k = 0; k < COUNT; k += STEP) {
        unsigned at[STEP];
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            at[j] = keys.has(k + j) ? starts[division.of(keys, k + j)] : 0;
#pragma unroll
        for (unsigned j = 0; j < STEP; j++)
            if (keys.has(k + j)) {
                const unsigned place = at[j] + places.get(k + j);
                tile[place] = keys.rank[k + j];
                moved(k + j, place);
            }
    }
}

/* Partitions a tile whose keys are loaded. load_next() may load the next tile's keys, which are on
 * their way while this tile is written. */
template <class Layout, class Division, class Destination, class Key, unsigned THREADS,
          unsigned COUNT, bool FULL, class LoadNext>
__device__ __forceinline__ void
partition_tile(Layout *tile, Division division, const Destination &destination,
               tile_keys<Key, THREADS, COUNT, FULL> &keys, LoadNext load_next)
{
    constexpr bool IS_BOUNDED = Destination::IS_BOUNDED;
    using own_buckets = own_buckets<THREADS, MOST_BUCKETS_OF_TILE>;
    packed_places<COUNT> places;
    division.find(keys);
    claim_places(tile->counts, division, keys, places);
    __syncthreads();
    const own_buckets own(division.buckets);
    unsigned count[own_buckets::OWN] = {}, start[own_buckets::OWN] = {};
    decltype(destination.claim(0, 0)) claimed[own_buckets::OWN] = {};
    const auto tell = [&](unsigned k, unsigned bucket) {
        const unsigned to = destination.place(bucket, claimed[k], count[k]);
        tile->destination[bucket] = IS_BOUNDED && to == NOWHERE ? to : to - start[k];
    };
    own.counts_to_starts(
        tile->warp_totals,
        [&](unsigned k, unsigned bucket) {
            count[k] = tile->counts[bucket];
            claimed[k] = destination.claim(bucket, count[k]);
            return count[k];
        },
        [&](unsigned k, unsigned bucket, unsigned begin) {
            start[k] = tile->counts[bucket] = begin;
            if (IS_BOUNDED) /* what has counts to compare would keep registers */
                tell(k, bucket);
        });
    __syncthreads();
    gather_keys(tile->keys, tile->counts, division, keys, places,
                [&](unsigned k, unsigned place) { division.move(k, place); });
    if (!IS_BOUNDED) /* as late as possible, because it waits for the claims */
        own.for_each(tell);
    load_next();
    __syncthreads();
    tile->template clear_counts<THREADS>(division.buckets);
    write_runs(tile, division, destination, keys);
    __syncthreads();
}

} // namespace SCANBENCH_BACKEND
