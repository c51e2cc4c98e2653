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
 *   reducers    sum up a tile as soon as it is there, a slice each
 *   publisher   adds those up and publishes the tile's total
 *   look-ahead  add to the sum before the block's last tile the totals of the
 *               gridDim tiles since then: all at once, no chain through the L2
 *   finishers   take their slice into registers, free the stage, and write
 *
 *   full     -> reducers, finishers     the tile is there
 *   reduced  -> publisher               the total of each slice
 *   summed   -> finishers               what is before each slice in the tile
 *   known    -> finishers, look-ahead   what is before the tile
 *   free     -> producer, look-ahead    all finishers are done with the stage
 *
 * Order of additions: fixed by n and the device's multiprocessors.
 *
 * Relies: on residency: the launch is cooperative, a block a multiprocessor.
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
    SLICES = 12,     /* reducers, and as many finishers */
    MAX_LOOKERS = 2, /* look-ahead warps */
    /* Which warps are what: finishers, reducers, and then */
    PRODUCER = 2 * SLICES,
    PUBLISHER,
    FIRST_LOOKER,
    THREADS = (FIRST_LOOKER + MAX_LOOKERS) * WARP,
    LOOKS = 5, /* totals a lane looks at together */
    MAX_STAGES = 10,
    /* All stages together. More would hold more loads in flight, but take the L1
     * from the stores: 12 % slower on an H200 at 210 KiB. */
    RING_BYTES = 180 * 1024,
    /* Of them under way at a time, or two tiles. That keeps DRAM busy; more would only
     * queue, and looks at other blocks' totals behind them. */
    FLIGHT_BYTES = 54 * 1024,
};

/* A tile, and with it a stage: a slice for each reducer and finisher. */
template <class Slice> constexpr unsigned TILE = SLICES *Slice::SIZE; /* elements */
template <class Slice>
constexpr unsigned TILE_BYTES = TILE<Slice> * sizeof(typename Slice::element);

/* What a stage needs beside its tile. */
template <class Total, class Sum> struct stage {
    mbarrier full, reduced, summed, known, free;
    Total totals[SLICES];  /* of each slice, */
    Total in_tile[SLICES]; /* and what is before it in the tile */
    Sum before;            /* the tile */
};

template <class Slice> struct shared_layout {
    stage<typename Slice::total, typename Slice::sum> stages[MAX_STAGES];
    /* Bulk copies want it: aligned to 16 bytes only, all is up to 10 % slower. */
    alignas(128) typename Slice::element tiles[][TILE<Slice>];
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

/* A warp arrives with all its lanes, each for what it has read and written itself. */
template <class Slice>
__device__ __forceinline__ void init_stages(shared_layout<Slice> *shared, unsigned stages)
{
    if (lane_index() < stages) {
        auto *stage = &shared->stages[lane_index()];
        mbarrier_init(&stage->full, WARP);
        mbarrier_init(&stage->reduced, SLICES * WARP);
        mbarrier_init(&stage->summed, WARP);
        mbarrier_init(&stage->known, 1);
        mbarrier_init(&stage->free, SLICES * WARP);
        mbarrier_publish_init();
    }
    __syncwarp();
}

/* Fills stages, from the tile at `first` on. */
template <class Slice> struct producer {
    uint64_t first;              /* element of the next tile */
    ring_position next = {0, 1}; /* no stage is in use: the phase before the first is over */
    ring_position landing = {};  /* the oldest tile that may be under way */
    unsigned under_way = 0;      /* tiles, at most */

    /* Up to element `end`; `flights` tiles at most are under way at a time. */
    __device__ __forceinline__ void produce(const stream<typename Slice::element> &stream,
                                            shared_layout<Slice> *shared, unsigned stages,
                                            unsigned flights, uint64_t end)
    {
        for (; first < end; first += (uint64_t)gridDim.x * TILE<Slice>) {
            auto *stage = &shared->stages[next.stage];
            warp_wait(&stage->free, next.parity);
            if (under_way == flights) {
                warp_wait(&shared->stages[landing.stage].full, landing.parity);
                landing.advance(stages);
                under_way--;
            }
            bulk_load(shared->tiles[next.stage], TILE<Slice>, stream.in, first, stream.n,
                      &stage->full);
            under_way++;
            next.advance(stages);
        }
    }
};

template <class Slice>
__device__ __forceinline__ void reduce(uint64_t n, shared_layout<Slice> *shared, unsigned stages,
                                       unsigned worker)
{
    ring_position at;
    for (uint64_t tile = blockIdx.x; tile * TILE<Slice> < n; tile += gridDim.x) {
        auto *stage = &shared->stages[at.stage];
        warp_wait(&stage->full, at.parity);
        Slice slice;
        slice.load(shared->tiles[at.stage] + worker * Slice::SIZE);
        const typename Slice::total total = warp_sum(slice.lane_total());
        if (lane_index() == 0)
            stage->totals[worker] = total;
        mbarrier_arrive(&stage->reduced);
        at.advance(stages);
    }
}

/* The total of a tile for all other blocks, and what is before each slice for ours. */
template <class Slice>
__device__ __forceinline__ void
publish_tiles(uint64_t n, shared_layout<Slice> *shared, unsigned stages,
              tile_status<typename Slice::total> *status, uint32_t epoch)
{
    using Total = typename Slice::total;
    const unsigned lane = lane_index();
    ring_position at;
    for (uint64_t tile = blockIdx.x; tile * TILE<Slice> < n; tile += gridDim.x) {
        auto *stage = &shared->stages[at.stage];
        warp_wait(&stage->reduced, at.parity);
        const Total through = warp_inclusive_sum(lane < SLICES ? stage->totals[lane] : Total(0));
        if (lane == SLICES - 1)
            publish(&status[tile], through, epoch);
        const Total left = __shfl_up_sync(ALL_LANES, through, 1);
        if (lane < SLICES)
            stage->in_tile[lane] = lane > 0 ? left : Total(0);
        mbarrier_arrive(&stage->summed);
        at.advance(stages);
    }
}

/* The sum of the totals of tiles from..to-1, which one warp waits for together. */
template <class Total>
__device__ __forceinline__ Total sum_of_totals(const tile_status<Total> *status, uint64_t from,
                                               uint64_t to, uint32_t epoch)
{
    Total sum = 0;
    for (uint64_t start = from; start < to; start += LOOKS * WARP) {
        observation<Total> seen[LOOKS];
#pragma unroll
        for (unsigned k = 0; k < LOOKS; k++)
            seen[k] = {Total(0), start + k * WARP + lane_index() < to ? ~epoch : epoch, true};
        for (bool all = false; !all;) {
            all = true;
#pragma unroll
            for (unsigned k = 0; k < LOOKS; k++) {
                const uint64_t tile = start + k * WARP + lane_index();
                if (tile < to && !(seen[k].whole && seen[k].tag == epoch))
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

/* Each block sees to its own tiles, rounds ahead; together they see to all. */
template <class Slice>
__device__ __forceinline__ void prefetch_own(const tile_status<typename Slice::total> *status,
                                             uint64_t n, uint64_t tile)
{
    if (tile * TILE<Slice> < n)
        prefetch_status(&status[tile]);
}

/* Round r, the block's r-th tile, is the look-ahead warp r mod lookers's: each sums
 * up its round's totals by itself, and only the last addition waits for the warp of
 * the round before. */
template <class Slice>
__device__ __forceinline__ void look_ahead(uint64_t n, shared_layout<Slice> *shared,
                                           unsigned stages,
                                           const tile_status<typename Slice::total> *status,
                                           uint32_t epoch, unsigned looker, unsigned lookers)
{
    using Sum = typename Slice::sum;
    ring_position at, last;
    uint64_t summed = 0; /* tiles whose totals are in the sum of the round before */
    unsigned round = 0;
    if (looker == 0 && lane_index() < stages)
        prefetch_own<Slice>(status, n, blockIdx.x + (uint64_t)lane_index() * gridDim.x);
    for (uint64_t tile = blockIdx.x; tile * TILE<Slice> < n; tile += gridDim.x) {
        if (round == looker) {
            if (lane_index() == 0)
                prefetch_own<Slice>(status, n, tile + (uint64_t)stages * gridDim.x);
            Sum before = sum_of_totals(status, summed, tile, epoch);
            if (summed > 0)
                warp_wait(&shared->stages[last.stage].known, last.parity);
            warp_wait(&shared->stages[at.stage].free, at.parity ^ 1);
            if (lane_index() == 0) {
                if (summed > 0)
                    before += shared->stages[last.stage].before;
                shared->stages[at.stage].before = before;
                mbarrier_arrive(&shared->stages[at.stage].known);
            }
        }
        summed = tile;
        last = at;
        at.advance(stages);
        round = round + 1 == lookers ? 0 : round + 1;
    }
}

template <class Slice>
__device__ __forceinline__ void finish(const stream<typename Slice::element> &stream,
                                       shared_layout<Slice> *shared, unsigned stages,
                                       unsigned worker)
{
    ring_position at;
    for (uint64_t first = (uint64_t)blockIdx.x * TILE<Slice>; first < stream.n;
         first += (uint64_t)gridDim.x * TILE<Slice>) {
        auto *stage = &shared->stages[at.stage];
        auto *mine = shared->tiles[at.stage] + worker * Slice::SIZE;
        warp_wait(&stage->full, at.parity);
        Slice slice;
        slice.load(mine);
        /* Not sooner: it would take time from the reducers, for whom others wait,
         * and may write where they read. */
        warp_wait(&stage->summed, at.parity);
        slice.prepare(mine);
        warp_wait(&stage->known, at.parity);
        const typename Slice::sum before = stage->before + stage->in_tile[worker];
        if (!Slice::STAGES)
            mbarrier_arrive(&stage->free);
        slice.finish(stream, first + worker * Slice::SIZE, before, mine);
        if (Slice::STAGES) {
            order_writes_before_bulk_copies();
            mbarrier_arrive(&stage->free);
        }
        at.advance(stages);
    }
}

template <class Slice>
__global__ void __launch_bounds__(THREADS, 1)
    lookahead_kernel(stream<typename Slice::element> stream, unsigned stages, unsigned flights,
                     unsigned lookers, tile_status<typename Slice::total> *status, uint32_t epoch)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    auto *shared = shared_memory<shared_layout<Slice>>();
    const unsigned warp = threadIdx.x / WARP;
    producer<Slice> producer = {(uint64_t)blockIdx.x * TILE<Slice>};
    if (warp == PRODUCER) {
        init_stages(shared, stages);
        /* The first tile need not wait for the other warps, nor they for the others. */
        producer.produce(stream, shared, stages, flights, min(stream.n, producer.first + 1));
    }
    __syncthreads();
    if (warp < SLICES)
        finish<Slice>(stream, shared, stages, warp);
    else if (warp < 2 * SLICES)
        reduce<Slice>(stream.n, shared, stages, warp - SLICES);
    else if (warp == PRODUCER)
        producer.produce(stream, shared, stages, flights, stream.n);
    else if (warp == PUBLISHER)
        publish_tiles<Slice>(stream.n, shared, stages, status, epoch);
    else if (warp < FIRST_LOOKER + lookers)
        look_ahead<Slice>(stream.n, shared, stages, status, epoch, warp - FIRST_LOOKER, lookers);
#endif
}

/* ---- the host's side ---- */

/* Rows of a slice. Small tiles follow one another closely, which DRAM likes; large
 * ones need fewer looks, each as long as a way through the L2 and back. Sums of 8
 * bytes are twice as much to look at. */
constexpr unsigned FEW_ROWS = 3, ROWS = 5, WIDE_SUM_ROWS = 6;
/* Times what all rings together hold: the largest array that counts as small. */
enum { SMALL_UP_TO = 3 };

template <class Slice> constexpr size_t shared_bytes(unsigned stages)
{
    return sizeof(shared_layout<Slice>) + (size_t)stages * TILE_BYTES<Slice>;
}

inline const char *supports(const struct problem *problem)
{
    if (problem->device->compute_capability < 90)
        return "needs sm_90 or newer, for bulk copies";
    if (problem->device->shared_bytes_per_block <
        shared_bytes<scan_slice<uint64_t, WIDE_SUM_ROWS>>(2))
        return "needs more shared memory than a block of this device can have";
    return nullptr;
}

inline size_t scratch_bytes(const struct problem *problem)
{
    return ceil_div(problem->n * element_bytes(problem->type), SLICES * FEW_ROWS * WARP * 16) *
           sizeof(tile_status<uint64_t>);
}

inline void prepare(const struct call *call)
{
    succeeded(
        queue_of(call), "memset",
        cudaMemsetAsync(call->scratch, 0, scratch_bytes(&call->problem), queue_of(call)->stream));
}

template <class Slice> void run_rows(const struct call *call, unsigned lookers)
{
    using T = typename Slice::element;
    const struct device_limits *device = call->problem.device;
    const uint64_t tiles = ceil_div(call->problem.n, TILE<Slice>);
    const uint64_t blocks = std::min(tiles, (uint64_t)device->multiprocessors);
    /* No more than are used: shared memory takes time to be had, the whole ring about 1 us. */
    unsigned stages = (unsigned)std::min(ceil_div(tiles, std::max<uint64_t>(blocks, 1)),
                                         (uint64_t)(RING_BYTES / TILE_BYTES<Slice>));
    static_assert(RING_BYTES / TILE_BYTES<Slice> <= MAX_STAGES);
    while (shared_bytes<Slice>(stages) > device->shared_bytes_per_block)
        stages--;
    queue_of(call)->lines_kept = true;
    const unsigned flights = std::min(stages, std::max(2u, FLIGHT_BYTES / TILE_BYTES<Slice>));
    launch<lookahead_kernel<Slice>>(
        queue_of(call),
        {blocks, THREADS, slice_traffic<T>(&call->problem), shared_bytes<Slice>(stages),
         blocks > 1},
        stream_of<T>(call), stages, flights, lookers,
        static_cast<tile_status<typename Slice::total> *>(call->scratch), call->epoch);
}

/* Slice<ROWS> is the operation's, and PassingSlice the same whose results the L2 is to let
 * go first. What stages has finishers that are longer at a tile: small tiles do not gain,
 * and more looks at once only get in their way. */
template <template <unsigned> class Slice, template <unsigned> class PassingSlice = Slice>
void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t rings_bytes = (uint64_t)problem->device->multiprocessors * RING_BYTES;
    if constexpr (Slice<1>::STAGES)
        run_rows<Slice<ROWS>>(call, 1);
    else if constexpr (sizeof(typename Slice<1>::sum) == 8)
        run_rows<PassingSlice<WIDE_SUM_ROWS>>(call, 2);
    else if (problem->n * element_bytes(problem->type) <= SMALL_UP_TO * rings_bytes)
        run_rows<PassingSlice<ROWS>>(call, 2);
    else
        run_rows<Slice<FEW_ROWS>>(call, 2);
}

} // namespace lookahead

} // namespace SCANBENCH_BACKEND

#endif
