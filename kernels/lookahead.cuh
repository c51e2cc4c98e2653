/* lookahead.cuh: one pass at the speed of memory, by blocks that stay.
 * Source: the ring of bulk copies is how the Hopper tuning guide keeps loads in
 *         flight; that a tile's prefix needs only the totals published since the
 *         block's last tile, as StreamScan's (PPoPP 2013) without its chain.
 *
 * A block for each multiprocessor, all resident; tile t is block t mod gridDim's.
 * The warps of a block have one job each, and meet at barriers of a ring of
 * stages in shared memory, a tile each:
 *
 *   producer    fills free stages by bulk copies, so that loads are in flight
 *               whatever else waits
 *   reducers    sum up a tile as soon as it is there, a slice each; the last of
 *               them publishes the tile's total
 *   look-ahead  one warp adds to the sum before the block's last tile the totals
 *               of the gridDim tiles since then: all at once, no chain of prefixes
 *   finishers   take their slice into registers, free the stage, and write
 *
 *   full[s]    -> reducers, finishers     the tile is there
 *   ready[s]   -> finishers               what is before the tile, and each slice
 *   free[s]    -> producer, look-ahead    all finishers are done with the stage
 *
 * Relies: on residency: the launch is cooperative, its grid from the occupancy.
 * On progress: a tile waits only for totals of tiles before it, and a total waits
 * for nothing but its stage to be free; a stage is freed by tiles before it. So
 * the tile with the lowest number that is not finished can always go on. */
#ifndef SCANBENCH_KERNELS_LOOKAHEAD_CUH
#define SCANBENCH_KERNELS_LOOKAHEAD_CUH

#include "async_copy.cuh"
#include "slice.cuh"
#include "tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace lookahead
{

enum {
    SLICES = 15, /* reducers, and as many finishers */
    ROWS = 4,    /* of a slice */
    THREADS = (2 * SLICES + 2) * WARP,
    SLICE_BYTES = ROWS * WARP * 16,
    TILE_BYTES = SLICES * SLICE_BYTES,
    MAX_STAGES = 7,
    LOOKS = 5, /* totals a lane looks at together */
};

/* What a stage needs beside its tile. */
template <class Sum> struct stage {
    mbarrier full, ready, free;
    unsigned reduced;   /* reducers that are done with the tile */
    Sum totals[SLICES]; /* of each slice, */
    Sum in_tile[SLICES]; /* and what is before it in the tile */
    Sum before;          /* the tile */
};

template <class Sum> struct shared_layout {
    stage<Sum> stages[MAX_STAGES];
    alignas(16) unsigned char tiles[][TILE_BYTES];
};

/* Where a warp is in the ring: its stage, and the parity of the phases there. */
struct ring_position {
    unsigned stage = 0, parity = 0;

    __device__ __forceinline__ void advance(unsigned stages)
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* The last tile may end in the middle of 16 bytes, and of the stage. */
template <class T>
__device__ __forceinline__ void fill_end_of_tile(T *tile, const T *in, unsigned copied,
                                                 unsigned there)
{
    for (unsigned i = copied + lane_index(); i < TILE_BYTES / sizeof(T); i += WARP)
        tile[i] = i < there ? in[i] : T(0);
    __syncwarp();
}

template <class Slice>
__device__ __forceinline__ void produce(const stream<typename Slice::element> &stream,
                                        shared_layout<typename Slice::sum> *shared, unsigned stages)
{
    using T = typename Slice::element;
    constexpr unsigned TILE = TILE_BYTES / sizeof(T), WIDTH = PACK_WIDTH<T>;
    ring_position at;
    at.parity = 1; /* no stage is in use: the phase before the first is over */
    for (uint64_t first = (uint64_t)blockIdx.x * TILE; first < stream.n;
         first += (uint64_t)gridDim.x * TILE) {
        auto *stage = &shared->stages[at.stage];
        T *tile = reinterpret_cast<T *>(shared->tiles[at.stage]);
        mbarrier_wait(&stage->free, at.parity);
        const unsigned there = stream.n - first < TILE ? (unsigned)(stream.n - first) : TILE;
        const unsigned copied = there / WIDTH * WIDTH;
        if (there < TILE)
            fill_end_of_tile(tile, stream.in + first, copied, there);
        if (lane_index() == 0) {
            mbarrier_arrive_expecting(&stage->full, copied * sizeof(T));
            if (copied > 0)
                bulk_copy_to_shared(tile, stream.in + first, copied * sizeof(T), &stage->full);
        }
        at.advance(stages);
    }
}

/* By the warp that was the last to reduce: what is before each slice, and the total. */
template <class Sum>
__device__ __forceinline__ void publish_tile(stage<Sum> *stage, tile_status<Sum> *status,
                                             uint32_t epoch)
{
    const unsigned lane = lane_index();
    const Sum mine = lane < SLICES ? stage->totals[lane] : Sum(0);
    const Sum through = warp_inclusive_sum(mine);
    if (lane == SLICES - 1)
        publish(status, through, epoch);
    const Sum left = __shfl_up_sync(ALL_LANES, through, 1);
    if (lane < SLICES)
        stage->in_tile[lane] = lane > 0 ? left : Sum(0);
    __syncwarp();
    if (lane == 0) {
        stage->reduced = 0;
        mbarrier_arrive(&stage->ready);
    }
}

template <class Slice>
__device__ __forceinline__ void reduce(uint64_t n, shared_layout<typename Slice::sum> *shared,
                                       unsigned stages, tile_status<typename Slice::sum> *status,
                                       uint32_t epoch, unsigned worker)
{
    using T = typename Slice::element;
    constexpr unsigned TILE = TILE_BYTES / sizeof(T);
    ring_position at;
    for (uint64_t tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        auto *stage = &shared->stages[at.stage];
        mbarrier_wait(&stage->full, at.parity);
        Slice slice;
        slice.load(reinterpret_cast<const T *>(shared->tiles[at.stage]) + worker * Slice::SIZE);
        const typename Slice::sum total = slice.total();
        unsigned before = 0;
        if (lane_index() == 0) {
            stage->totals[worker] = total;
            __threadfence_block();
            before = atomicAdd(&stage->reduced, 1u);
            __threadfence_block();
        }
        if (__shfl_sync(ALL_LANES, before, 0) == SLICES - 1)
            publish_tile(stage, &status[tile], epoch);
        at.advance(stages);
    }
}

/* The sum of the totals of tiles from..to-1, which one warp waits for together. */
template <class Sum>
__device__ __forceinline__ Sum sum_of_totals(const tile_status<Sum> *status, uint64_t from,
                                             uint64_t to, uint32_t epoch)
{
    Sum sum = 0;
    for (uint64_t start = from; start < to; start += LOOKS * WARP) {
        observation<Sum> seen[LOOKS];
        for (bool all = false; !all;) {
            all = true;
#pragma unroll
            for (unsigned k = 0; k < LOOKS; k++) {
                const uint64_t tile = start + k * WARP + lane_index();
                seen[k] = {Sum(0), epoch, true};
                if (tile < to)
                    seen[k] = look_at(&status[tile]);
            }
#pragma unroll
            for (unsigned k = 0; k < LOOKS; k++)
                all = all && seen[k].whole && seen[k].tag == epoch;
            if (!all)
                spin_wait();
        }
#pragma unroll
        for (unsigned k = 0; k < LOOKS; k++)
            sum += seen[k].value;
    }
    return warp_sum(sum);
}

template <class Slice>
__device__ __forceinline__ void look_ahead(uint64_t n, shared_layout<typename Slice::sum> *shared,
                                           unsigned stages,
                                           const tile_status<typename Slice::sum> *status,
                                           uint32_t epoch)
{
    constexpr unsigned TILE = TILE_BYTES / sizeof(typename Slice::element);
    typename Slice::sum before = 0;
    ring_position at;
    at.parity = 1;
    uint64_t summed = 0; /* tiles whose totals are in `before` */
    for (uint64_t tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        auto *stage = &shared->stages[at.stage];
        before += sum_of_totals(status, summed, tile, epoch);
        summed = tile;
        mbarrier_wait(&stage->free, at.parity);
        if (lane_index() == 0) {
            stage->before = before;
            mbarrier_arrive(&stage->ready);
        }
        at.advance(stages);
    }
}

template <class Slice>
__device__ __forceinline__ void finish(const stream<typename Slice::element> &stream,
                                       shared_layout<typename Slice::sum> *shared, unsigned stages,
                                       unsigned worker)
{
    using T = typename Slice::element;
    constexpr unsigned TILE = TILE_BYTES / sizeof(T);
    ring_position at;
    for (uint64_t first = (uint64_t)blockIdx.x * TILE; first < stream.n;
         first += (uint64_t)gridDim.x * TILE) {
        auto *stage = &shared->stages[at.stage];
        T *mine = reinterpret_cast<T *>(shared->tiles[at.stage]) + worker * Slice::SIZE;
        mbarrier_wait(&stage->full, at.parity);
        Slice slice;
        slice.load(mine);
        mbarrier_wait(&stage->ready, at.parity);
        const typename Slice::sum before = stage->before + stage->in_tile[worker];
        if (!Slice::STAGES) {
            __syncwarp();
            if (lane_index() == 0)
                mbarrier_arrive(&stage->free);
        }
        slice.finish(stream, first + worker * Slice::SIZE, before, mine);
        if (Slice::STAGES) {
            order_writes_before_bulk_copies();
            __syncwarp();
            if (lane_index() == 0)
                mbarrier_arrive(&stage->free);
        }
        at.advance(stages);
    }
}

template <class Slice>
__global__ void __launch_bounds__(THREADS, 1)
    kernel(stream<typename Slice::element> stream, unsigned stages,
           tile_status<typename Slice::sum> *status, uint32_t epoch)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    auto *shared = shared_memory<shared_layout<typename Slice::sum>>();
    if (threadIdx.x < stages) {
        auto *stage = &shared->stages[threadIdx.x];
        mbarrier_init(&stage->full, 1);
        mbarrier_init(&stage->ready, 2);
        mbarrier_init(&stage->free, SLICES);
        mbarrier_publish_init();
        stage->reduced = 0;
    }
    __syncthreads();
    const unsigned warp = threadIdx.x / WARP;
    if (warp < SLICES)
        finish<Slice>(stream, shared, stages, warp);
    else if (warp < 2 * SLICES)
        reduce<Slice>(stream.n, shared, stages, status, epoch, warp - SLICES);
    else if (warp == 2 * SLICES)
        produce<Slice>(stream, shared, stages);
    else
        look_ahead<Slice>(stream.n, shared, stages, status, epoch);
#endif
}

/* ---- the host's side ---- */

template <class Sum> size_t shared_bytes(unsigned stages)
{
    return sizeof(shared_layout<Sum>) + (size_t)stages * TILE_BYTES;
}

inline const char *supports(const struct problem *problem)
{
    if (problem->device->compute_capability < 90)
        return "needs sm_90 or newer, for bulk copies";
    if (problem->device->shared_bytes_per_block < shared_bytes<uint64_t>(2))
        return "needs more shared memory than a block of this device can have";
    return nullptr;
}

inline size_t scratch_bytes(const struct problem *problem)
{
    return ceil_div(problem->n * element_bytes(problem->type), TILE_BYTES) *
           sizeof(tile_status<uint64_t>);
}

inline void prepare(const struct call *call)
{
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(call->scratch, 0, scratch_bytes(&call->problem),
                              queue_of(call)->stream));
}

template <class Slice> void run(const struct call *call)
{
    using T = typename Slice::element;
    using Sum = typename Slice::sum;
    const struct device_limits *device = call->problem.device;
    const uint64_t tiles = ceil_div(call->problem.n, TILE_BYTES / sizeof(T));
    unsigned stages = 2;
    while (stages < MAX_STAGES && shared_bytes<Sum>(stages + 1) <= device->shared_bytes_per_block)
        stages++;
    const uint64_t blocks = std::min(tiles, (uint64_t)device->multiprocessors);
    launch<kernel<Slice>>(queue_of(call),
                          {blocks, THREADS, shared_bytes<Sum>(stages), blocks > 1},
                          stream_of<T>(call), stages,
                          static_cast<tile_status<Sum> *>(call->scratch), call->epoch);
}

} // namespace lookahead

} // namespace SCANBENCH_BACKEND

#endif
