/* lookback.cuh: one pass over any array, by decoupled look-back.
 * Source: Merrill and Garland, "Single-pass parallel prefix scan with decoupled
 *         look-back", NVIDIA technical report NVR-2016-002.
 *
 *   1. A block loads the next tile and publishes its total, the "aggregate".
 *   2. One warp looks back: it adds up aggregates, 32 tiles at a time, until it
 *      reaches a tile that has published its inclusive sum, the "prefix".
 *   3. The block publishes its own prefix and finishes its tile.
 *
 * Order of additions: depends on the progress of earlier tiles, so sums of floats may
 * differ from run to run in their last bits.
 *
 * Relies: on all earlier tiles being in progress. Tiles are assigned by tickets,
 * not by blockIdx, whose order is not guaranteed: a block with a ticket is
 * running, and waits only for smaller tickets. */
#pragma once

#include "slice.cuh"
#include "../tile_status.cuh"

namespace SCANBENCH_BACKEND
{

namespace lookback
{

enum {
    MAX_BLOCK = 1024, /* threads */
    MAX_ROWS = 8,     /* rows of one pack per thread */
    ROWS_ANYWHERE = 2 /* of unaligned arrays: their slices are compiled for one number only */
};

template <class Sum, class T> struct shared_layout {
    Sum warp_totals[MAX_BLOCK / WARP];
    Sum before;
    unsigned tile;
    uint32_t epoch;
    alignas(16) T staging[]; /* one slice per warp, for slices that use staging */
};

/* Waits until the tile has published a status in this call. */
template <class Sum>
__device__ __forceinline__ observation<Sum> wait_for(const tile_status<Sum> *status, uint32_t epoch)
{
    for (;;) {
        const observation<Sum> seen = look_at(status);
        if (seen.whole && (seen.tag == aggregate_tag(epoch) || seen.tag == prefix_tag(epoch)))
            return seen;
        spin_wait();
    }
}

/* What lane l has, whose tile is l + 1 before this one, in the order of tiles, if order matters. */
template <class Sum> __device__ __forceinline__ Sum in_order_of_tiles(Sum value)
{
    if constexpr (COMMUTES<Sum>)
        return value;
    else
        return shuffle_from(value, WARP - 1 - lane_index());
}

/* The sum of all earlier tiles, computed by one warp; all lanes get it. */
template <class Sum>
__device__ __forceinline__ Sum look_back(const tile_status<Sum> *status, unsigned tile,
                                         uint32_t epoch)
{
    Sum before = 0;
    for (unsigned back = lane_index() + 1;; back += WARP) {
        Sum value = 0;
        bool is_prefix = true; /* the prefix before the first tile is 0 */
        if (back <= tile) {
            const observation<Sum> seen = wait_for(&status[tile - back], epoch);
            value = seen.value;
            is_prefix = seen.tag == prefix_tag(epoch);
        }
        const unsigned prefixes = __ballot_sync(ALL_LANES, is_prefix);
        const unsigned nearest = prefixes != 0 ? __ffs(prefixes) - 1 : WARP;
        value = lane_index() <= nearest ? value : Sum(0);
        before = warp_sum(in_order_of_tiles(value)) + before;
        if (prefixes != 0)
            return before;
    }
}

/* The number of this block's tile. Ticket and epoch are one word, taken together. */
template <class Shared, class Sum>
__device__ __forceinline__ unsigned take_tile(Shared *shared, tile_board<Sum> *board)
{
    if (threadIdx.x == 0) {
        const uint64_t progress =
            atomicAdd(reinterpret_cast<unsigned long long *>(&board->progress), 1ull);
        shared->tile = (unsigned)progress;
        shared->epoch = epoch_of(progress);
    }
    __syncthreads();
    return shared->tile;
}

template <class Slice>
__global__ void __launch_bounds__(MAX_BLOCK)
    lookback_kernel(typename Slice::stream stream, tile_board<typename Slice::sum> *board)
{
    using T = typename Slice::element;
    using Sum = typename Slice::sum;
    auto *shared = shared_memory<shared_layout<Sum, T>>();
    const unsigned warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const unsigned tile = take_tile(shared, board);
    const uint64_t first = ((uint64_t)tile * warps + warp) * Slice::SIZE;
    if (threadIdx.x == 0)
        prefetch_status(&board->status[tile]);
    Slice slice;
    T *staging = shared->staging + warp * Slice::SIZE;
    slice.load(stream, first);

    Sum total;
    const Sum in_tile =
        sum_of_earlier_warps(Sum(slice.total_soon(staging)), shared->warp_totals, &total);
    if (warp == 0) {
        const uint32_t epoch = shared->epoch;
        tile_status<Sum> *mine = &board->status[tile];
        if (threadIdx.x == 0 && tile > 0)
            publish(mine, total, aggregate_tag(epoch));
        const Sum before = look_back(board->status, tile, epoch);
        if (threadIdx.x == 0) {
            publish(mine, Sum(before + total), prefix_tag(epoch));
            if (tile == gridDim.x - 1)
                end_call(board, epoch);
            shared->before = before;
        }
    }
    slice.prepare_rest(staging);
    __syncthreads();
    slice.finish(stream, first, shared->before + in_tile, staging);
}

/* As many rows as possible while every multiprocessor still gets a block and a block's staged
 * tile fits. */
inline unsigned rows_for(const struct problem *problem)
{
    if (problem->unaligned)
        return ROWS_ANYWHERE;
    const uint64_t wave = (uint64_t)problem->device->multiprocessors * problem->block * PACK_BYTES /
                          element_bytes(problem->type);
    unsigned rows = problem->n <= wave       ? 1
                    : problem->n <= 2 * wave ? 2
                    : problem->n <= 8 * wave ? 4
                                             : MAX_ROWS;
    while (rows > 1 && sizeof(shared_layout<uint64_t, uint64_t>) + staging_bytes(problem, rows) >
                           problem->device->shared_bytes_per_block)
        rows /= 2;
    return rows;
}

inline uint64_t tile_count(const struct problem *problem)
{
    return ceil_div(problem->n, (uint64_t)problem->block * rows_for(problem) * PACK_BYTES /
                                    element_bytes(problem->type));
}

inline size_t scratch_bytes(const struct problem *problem)
{
    return board_bytes(tile_count(problem));
}

template <class Slice> void run_rows(const struct call *call, const typename Slice::stream &stream)
{
    using T = typename Slice::element;
    using Sum = typename Slice::sum;
    const unsigned block = call->problem.block, warps = block / WARP;
    const size_t shared_bytes =
        sizeof(shared_layout<Sum, T>) + (Slice::STAGES ? warps * Slice::SIZE * sizeof(T) : 0);
    launch<lookback_kernel<Slice>>(
        queue_of(call),
        {tile_count(&call->problem), block, slice_traffic<Slice>(&call->problem), shared_bytes},
        stream, static_cast<tile_board<Sum> *>(call->scratch));
}

/* Calls run_rows() with as many rows as suit n. Slices::slice<ROWS> is the operation's slice. */
template <class Slices> void run(const struct call *call, const typename Slices::stream &stream)
{
    if (call->problem.unaligned)
        return run_rows<typename Slices::template slice_anywhere<ROWS_ANYWHERE>>(call, stream);
    switch (rows_for(&call->problem)) {
    case 1:
        return run_rows<typename Slices::template slice<1>>(call, stream);
    case 2:
        return run_rows<typename Slices::template slice<2>>(call, stream);
    case 4:
        return run_rows<typename Slices::template slice<4>>(call, stream);
    default:
        return run_rows<typename Slices::template slice<MAX_ROWS>>(call, stream);
    }
}

} // namespace lookback

} // namespace SCANBENCH_BACKEND
