/* reduce_then_scan.cuh: a scan that first computes the total of every tile, so that every element
 * is written once.
 * Source: Dotsenko, Govindaraju, Sloan, Boyd and Manferdelli, "Fast scan
 *         algorithms on graphics processors", ICS 2008; Merrill and Grimshaw,
 *         "Parallel scan for stream architectures", 2009.
 *
 * Level 0 is the array, and level l + 1 holds the totals of the tiles of level l, up to a level of
 * one tile. reduce_levels() computes them from the bottom up, scan_levels() scans them from the top
 * down, each from the prefixes that the level above has become. */
#pragma once

#include "divide_and_conquer.cuh"
#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

namespace reduce_then_scan
{

/* A warp takes ROWS rows of one pack per lane: coalesced, and in order. */
constexpr unsigned ROWS = 4;

template <class T> constexpr unsigned ROW = WARP *PACK_WIDTH<T>; /* elements */
template <class T> constexpr unsigned PER_THREAD = ROWS *PACK_WIDTH<T>;

template <class T> struct thread_rows {
    pack<T, PACK_WIDTH<T>> row[ROWS];
};

/* The first element of this lane in row 0; row r begins r * ROW further. */
template <class T> __device__ __forceinline__ uint64_t first_of_lane()
{
    return global_thread() / WARP * (ROWS * ROW<T>)+lane_index() * PACK_WIDTH<T>;
}

template <class T>
__device__ __forceinline__ thread_rows<T> load_rows(const T *in, uint64_t i, uint64_t n)
{
    thread_rows<T> x;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++)
        x.row[r] = load_pack<T, PACK_WIDTH<T>>(in, i + r * ROW<T>, n);
    return x;
}

/* First pass: computes the total of every tile. */
template <class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK) tile_totals_kernel(const T *in, T *totals, uint64_t n)
{
    const thread_rows<T> x = load_rows(in, first_of_lane<T>(), n);
    T sum = T(0);
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++)
        sum += pack_sum(x.row[r]);
    const T total = sum_of_warps<T>(warp_sum(sum), shared_memory<T>());
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

/* What comes before a level: the prefix of each of its tiles and, if it has only one tile, the
 * totals of earlier slices. */
template <class T> struct prefixes {
    const T *of_tile = nullptr; /* one per tile; nullptr: 0 */
    const T *earlier = nullptr;
    unsigned earlier_count = 0;
};

/* Last pass: every tile is scanned from the sum of all before it. */
template <class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK)
    scan_from_prefix_kernel(const T *in, T *out, prefixes<T> before_tiles, uint64_t n,
                            bool inclusive)
{
    const uint64_t i = first_of_lane<T>();
    const thread_rows<T> x = load_rows(in, i, n);
    T before[ROWS], warp_total = T(0);
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        const T mine = pack_sum(x.row[r]);
        const T through = warp_inclusive_sum(mine);
        const T left = shuffle_up(through, 1);
        before[r] = warp_total + (lane_index() > 0 ? left : T(0));
        warp_total += shuffle_from(through, WARP - 1);
    }
    T base = sum_of_earlier_warps<T>(warp_total, shared_memory<T>());
    if (before_tiles.of_tile != nullptr)
        base += before_tiles.of_tile[blockIdx.x];
    for (unsigned k = 0; k < before_tiles.earlier_count; k++)
        base += before_tiles.earlier[k];

#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        T sum = base + before[r];
        pack<T, PACK_WIDTH<T>> sums;
        for (unsigned k = 0; k < PACK_WIDTH<T>; k++) {
            const T exclusive = sum;
            sum += x.row[r].at[k];
            sums.at[k] = inclusive ? sum : exclusive;
        }
        store_pack(out, i + r * ROW<T>, n, sums);
    }
}

template <class T, unsigned BLOCK> constexpr unsigned TILE = BLOCK *PER_THREAD<T>;
template <class T, unsigned BLOCK> constexpr size_t SHARED_BYTES = BLOCK / WARP * sizeof(T);

/* The top level, with at most one tile. */
template <class T> struct top_level {
    const T *values;
    uint64_t n;
};

template <class T, unsigned BLOCK>
top_level<T> reduce_levels(queue *queue, const T *in, T *totals, uint64_t n)
{
    const uint64_t tiles = ceil_div(n, TILE<T, BLOCK>);
    if (tiles <= 1)
        return {in, n};
    launch<tile_totals_kernel<T, BLOCK>>(
        queue, {tiles, BLOCK, {(n + tiles) * sizeof(T)}, SHARED_BYTES<T, BLOCK>}, in, totals, n);
    return reduce_levels<T, BLOCK>(queue, totals, totals + totals_of_level(n, TILE<T, BLOCK>),
                                   tiles);
}

/* `above` holds what comes before the top level. */
template <class T, unsigned BLOCK>
void scan_levels(queue *queue, const T *in, T *out, T *totals, uint64_t n, enum scan_kind kind,
                 prefixes<T> above = {})
{
    const uint64_t tiles = ceil_div(n, TILE<T, BLOCK>);
    if (tiles > 1) {
        scan_levels<T, BLOCK>(queue, totals, totals, totals + totals_of_level(n, TILE<T, BLOCK>),
                              tiles, KIND_EXCLUSIVE, above);
        above = {totals};
    }
    launch<scan_from_prefix_kernel<T, BLOCK>>(
        queue,
        {tiles, BLOCK, tile_scan_traffic<T>(n, tiles > 1 ? tiles : 0), SHARED_BYTES<T, BLOCK>}, in,
        out, above, n, kind == KIND_INCLUSIVE);
}

/* Scratch for the levels above the array. */
inline size_t level_bytes(const struct problem *problem, unsigned block)
{
    const unsigned per_thread = ROWS * PACK_BYTES / (unsigned)element_bytes(problem->type);
    return tile_totals_bytes(problem->n, block * per_thread, element_bytes(problem->type));
}

} // namespace reduce_then_scan

} // namespace SCANBENCH_BACKEND
