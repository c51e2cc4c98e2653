/* write_values.cuh: writes each value as often as it was counted. A warp writes a tile at a time:
 * it marks where values begin in it, and fills the places between marks. */
#pragma once

#include "../key_order.cuh"
#include "count_values.cuh"

namespace SCANBENCH_BACKEND::counting_sort
{

constexpr unsigned PAGE = 256; /* values of a page */

/* Where bins begin in the output. */
struct bin_starts {
    uint64_t at[BINS + 1];
    uint64_t warp_totals[WARP];
};

/* Finds them, given the count of a bin in each of the first threads. All threads call it. */
__device__ __forceinline__ void find_starts(bin_starts *starts, uint64_t count)
{
    const uint64_t before = sum_of_earlier_threads(count, starts->warp_totals);
    if (threadIdx.x == 0)
        starts->at[0] = 0;
    if (threadIdx.x < BINS)
        starts->at[threadIdx.x + 1] = before + count;
    __syncthreads();
}

/* The bin of the key at this place, found by a warp. It has keys: the next one begins later. */
__device__ __forceinline__ unsigned bin_at(const bin_starts *starts, uint64_t place)
{
    constexpr unsigned STEP = BINS / WARP;
    const auto begun = [=](unsigned bin) {
        return __popc(__ballot_sync(ALL_LANES, starts->at[bin] <= place));
    };
    const unsigned first = (begun(lane_index() * STEP) - 1) * STEP;
    /* Lanes from STEP on repeat the last one's look. */
    const unsigned last = first + min(lane_index(), STEP - 1);
    const unsigned more = __ballot_sync(ALL_LANES, starts->at[last] <= place);
    return first + __popc(more & ((1u << STEP) - 1)) - 1;
}

/* A warp's part of the output: `keys` from `base` on, of which the array has those from `begin` to
 * `end`. Where a value begins, its rank is marked. */
template <class Key> struct tile {
    uint64_t base, begin, end;
    key_pack<Key> *marks; /* rows of WARP packs */

    /* Marks a value with the keys from `first` to `last`, if it has any in this tile. */
    __device__ __forceinline__ void mark(unsigned rank, uint64_t first, uint64_t last) const
    {
        first = max(first, begin);
        if (first < min(last, end))
            reinterpret_cast<Key *>(marks)[first - base] = (Key)rank;
    }
};

/* Tile t, if each has so many packs. */
template <class Key>
__device__ __forceinline__ tile<Key> tile_of(const packed_array<Key> &out, uint64_t t,
                                             uint64_t packs, key_pack<Key> *marks)
{
    const uint64_t keys = packs * PACK_WIDTH<Key>;
    return {t * keys, max(t * keys, out.first), min((t + 1) * keys, out.end), marks};
}

/* Marks the values of 8 bits that begin in a tile, one per lane. */
template <class Pages>
__device__ __forceinline__ void mark_values(const tile<uint8_t> &tile, const bin_starts *starts,
                                            uint64_t shift, const Pages &)
{
    const unsigned last = bin_at(starts, tile.end - 1 - shift);
    for (unsigned bin = bin_at(starts, tile.begin - shift) + lane_index(); bin <= last; bin += WARP)
        tile.mark(bin, starts->at[bin] + shift, starts->at[bin + 1] + shift);
}

/* Marks those of 16 bits, one page that has keys after the other. pages(page, ends) says where the
 * lane's PAGE / WARP values end, counted from the begin of the page. */
template <class Pages>
__device__ __forceinline__ void mark_values(const tile<uint16_t> &tile, const bin_starts *starts,
                                            uint64_t shift, const Pages &pages)
{
    constexpr unsigned MINE = PAGE / WARP;
    const unsigned last = bin_at(starts, tile.end - 1 - shift);
    for (unsigned first = bin_at(starts, tile.begin - shift); first <= last; first += WARP) {
        const unsigned bin = first + lane_index();
        unsigned filled =
            __ballot_sync(ALL_LANES, bin <= last && starts->at[min(bin, BINS - 1u)] <
                                                        starts->at[min(bin + 1, (unsigned)BINS)]);
        for (; filled != 0; filled &= filled - 1) {
            const unsigned page = first + __ffs((int)filled) - 1;
            const uint64_t start = starts->at[page] + shift;
            uint64_t ends[MINE];
            pages(page, ends);
            uint64_t end = shuffle_up(ends[MINE - 1], 1);
            if (lane_index() == 0)
                end = 0;
#pragma unroll
            for (unsigned k = 0; k < MINE; k++) {
                tile.mark(page * PAGE + lane_index() * MINE + k, start + end, start + ends[k]);
                end = ends[k];
            }
        }
    }
}

/* Stores a pack, or what the array has of it. */
template <class Key>
__device__ __forceinline__ void store(const packed_array<Key> &out, uint64_t p,
                                      const key_pack<Key> &keys)
{
    if (out.has_whole(p))
        return store_whole(out.packs() + p, keys);
#pragma unroll
    for (unsigned k = 0; k < PACK_WIDTH<Key>; k++)
        if (out.has(p * PACK_WIDTH<Key> + k))
            out.at[p * PACK_WIDTH<Key> + k] = keys.at[k];
}

/* The keys of a pack: `rank` up to the first mark, then what was marked last. Returns the rank of
 * the last key. */
template <class Key>
__device__ __forceinline__ unsigned fill(key_pack<Key> *keys, unsigned rank,
                                         const key_order<Key> &order)
{
#pragma unroll
    for (unsigned k = 0; k < PACK_WIDTH<Key>; k++) {
        rank = max(rank, (unsigned)keys->at[k]);
        keys->at[k] = order.inverse((Key)rank);
    }
    return rank;
}

/* Writes what the marks say, row by row, and removes them. `rank`: of the key before, which matters
 * if the first place has no mark. A mark of rank 0 looks like none, and means the same: nothing
 * lower comes before. */
template <class Key>
__device__ __forceinline__ void write_rows(const packed_array<Key> &out, const tile<Key> &tile,
                                           unsigned rows, const key_order<Key> &order,
                                           unsigned rank = 0)
{
    const uint64_t first = tile.base / PACK_WIDTH<Key> + lane_index();
    for (unsigned row = 0; row < rows; row++) {
        key_pack<Key> &marks = tile.marks[row * WARP + lane_index()];
        key_pack<Key> keys = marks;
        unsigned word[PACK_BYTES / sizeof(unsigned)];
        memcpy(word, &keys, sizeof keys);
        const bool marked = (word[0] | word[1] | word[2] | word[3]) != 0;
        const unsigned lanes = __ballot_sync(ALL_LANES, marked);
        if (lanes == 0) {
            store(out, first + row * WARP, pack_of(order.inverse((Key)rank)));
            continue;
        }
        marks = {};
        /* The highest rank of a lane is its last mark. */
        unsigned highest = 0;
#pragma unroll
        for (unsigned k = 0; k < PACK_WIDTH<Key>; k++)
            highest = max(highest, (unsigned)keys.at[k]);
        const unsigned earlier = lanes & (lanes_up_to_here() >> 1);
        const unsigned before = shuffle_from(highest, last_lane(earlier));
        const unsigned end = fill(&keys, earlier != 0 ? before : rank, order);
        rank = shuffle_from(end, WARP - 1);
        store(out, first + row * WARP, keys);
    }
}

/* Writes the tiles whose turn it is. `marks` has rows of packs for each warp of the block, with no
 * marks. */
template <class Key, class Pages>
__device__ __forceinline__ void write_tiles(const packed_array<Key> &out, unsigned rows,
                                            key_pack<Key> *marks, const bin_starts *starts,
                                            const key_order<Key> &order, const Pages &pages)
{
    const uint64_t packs = rows * WARP;
    const unsigned warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    for (uint64_t t = (uint64_t)blockIdx.x * warps + warp; t * packs < out.pack_count();
         t += (uint64_t)gridDim.x * warps) {
        const tile<Key> tile = tile_of(out, t, packs, marks + warp * packs);
        mark_values(tile, starts, out.first, pages);
        __syncwarp();
        write_rows(out, tile, rows, order);
        __syncwarp();
    }
}

} // namespace SCANBENCH_BACKEND::counting_sort
