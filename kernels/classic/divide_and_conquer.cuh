/* divide_and_conquer.cuh: a scan of any n, built from a scan of tiles.
 * Source: Sengupta, Harris, Zhang and Owens, "Scan primitives for GPU
 *         computing", Graphics Hardware 2007.
 *
 *   1. Scan every tile separately; keep each tile's total.
 *   2. Scan the totals in the same way, until one tile holds them all.
 *   3. Add to every element the total of all earlier tiles.
 *
 * Step 3 reads and writes the array once more: 4n elements of DRAM in all. */
#pragma once

#include "../pack.cuh"

namespace SCANBENCH_BACKEND
{

/* Step 3, "uniform add": element i gets the scanned total of its tile. Tiles are powers of two
 * and whole packs, so every pack lies in one tile. */
template <class T>
__global__ void uniform_add_kernel(T *array, const T *tile_prefixes, uint64_t n, unsigned log2_tile)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t i = global_thread() * WIDTH;
    if (i >= n)
        return;
    const T prefix = tile_prefixes[i >> log2_tile];
    pack<T, WIDTH> values = load_pack<T, WIDTH>(array, i, n);
    for (unsigned k = 0; k < WIDTH; k++)
        values.at[k] = prefix + values.at[k];
    store_pack(array, i, n, values);
}

/* The traffic of a launch that reads and writes n elements and one total per tile. */
template <class T> launch_traffic tile_scan_traffic(uint64_t n, uint64_t tiles)
{
    return {(2 * n + tiles) * sizeof(T)};
}

/* The number of totals of one level, rounded up to keep the next level aligned. */
inline uint64_t totals_of_level(uint64_t n, unsigned tile)
{
    return ceil_div(ceil_div(n, tile), 64) * 64;
}

/* Scratch for the totals of all levels, in bytes, given those of an element. */
inline size_t tile_totals_bytes(uint64_t n, unsigned tile, size_t element)
{
    size_t elements = 0;
    for (; n > tile; n = ceil_div(n, tile))
        elements += totals_of_level(n, tile);
    return elements * element;
}

/* Scans `n` elements of `in` to `out`, which may be the same array.
 *
 * scan_tiles(in, out, totals, n, kind) enqueues the separate scan of every
 * tile; it writes tile t's total to totals[t], unless `totals` is null. */
template <class T, class ScanTiles>
void divide_and_conquer(queue *queue, const T *in, T *out, T *scratch, uint64_t n,
                        enum scan_kind kind, unsigned tile, unsigned block, ScanTiles scan_tiles)
{
    if (n <= tile)
        return scan_tiles(in, out, static_cast<T *>(nullptr), n, kind);

    T *totals = scratch;
    const uint64_t tiles = ceil_div(n, tile);
    scan_tiles(in, out, totals, n, kind);
    divide_and_conquer(queue, totals, totals, scratch + totals_of_level(n, tile), tiles,
                       KIND_EXCLUSIVE, tile, block, scan_tiles);

    unsigned log2_tile = 0;
    while (tile >> log2_tile != 1)
        log2_tile++;
    launch<uniform_add_kernel<T>>(
        queue, {ceil_div(ceil_div(n, PACK_WIDTH<T>), block), block, tile_scan_traffic<T>(n, tiles)},
        out, totals, n, log2_tile);
}

/* The interface of a tile scan for scan_by_tiles():
 *
 *   template <class T, unsigned BLOCK> struct Tile {
 *       static constexpr unsigned PER_THREAD;    elements per thread
 *       static constexpr size_t SHARED_BYTES;    shared memory per block
 *       static __device__ pack<T, PER_THREAD> prefixes(pack<T, PER_THREAD> x,
 *                                                      bool inclusive, T *total);
 *   };
 *
 * prefixes() is called by every thread of the block with its neighbouring
 * elements and returns their scan within the tile. At least in the last thread,
 * it sets `*total` to the sum of the tile. */
template <template <class, unsigned> class Tile, class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK)
    tile_scan_kernel(const T *in, T *out, T *totals, uint64_t n, bool inclusive)
{
    constexpr unsigned WIDTH = Tile<T, BLOCK>::PER_THREAD;
    const uint64_t i = global_thread() * WIDTH;
    T total;
    const pack<T, WIDTH> sums =
        Tile<T, BLOCK>::prefixes(load_pack<T, WIDTH>(in, i, n), inclusive, &total);
    store_pack(out, i, n, sums);
    if (threadIdx.x == BLOCK - 1 && totals != nullptr)
        totals[blockIdx.x] = total;
}

/* Scans n elements of `in` to `out`, by divide and conquer over a tile scan. */
template <template <class, unsigned> class Tile, class T>
void scan_array_by_tiles(const struct call *call, const T *in, T *out, T *scratch,
                         enum scan_kind kind)
{
    with_block(call->problem.block, [&](auto block) {
        using tile_scan = Tile<T, block.value>;
        constexpr unsigned BLOCK = block.value, TILE = BLOCK * tile_scan::PER_THREAD;
        const auto scan_tiles = [&](const T *in, T *out, T *totals, uint64_t n, scan_kind kind) {
            const uint64_t tiles = ceil_div(n, TILE);
            const launch_traffic traffic = tile_scan_traffic<T>(n, totals ? tiles : 0);
            launch<tile_scan_kernel<Tile, T, BLOCK>>(
                queue_of(call), {tiles, BLOCK, traffic, tile_scan::SHARED_BYTES}, in, out, totals,
                n, kind == KIND_INCLUSIVE);
        };
        divide_and_conquer(queue_of(call), in, out, scratch, call->problem.n, kind, TILE, BLOCK,
                           scan_tiles);
    });
}

/* The whole scan of a call. */
template <template <class, unsigned> class Tile> void scan_by_tiles(const struct call *call)
{
    with_operand<false>(&call->problem, [&]<class T>(T) {
        scan_array_by_tiles<Tile>(call, static_cast<const T *>(call->input),
                                  static_cast<T *>(call->output), static_cast<T *>(call->scratch),
                                  call->problem.kind);
    });
}

template <template <class, unsigned> class Tile>
size_t scan_by_tiles_scratch_bytes(const struct problem *problem)
{
    size_t bytes = 0;
    with_operand<false>(problem, [&]<class T>(T) {
        bytes = tile_totals_bytes(problem->n, problem->block * Tile<T, 32>::PER_THREAD, sizeof(T));
    });
    return bytes;
}

} // namespace SCANBENCH_BACKEND
