/* lookahead.cuh: one pass at memory speed by persistent blocks.
 * Source: the ring of bulk copies is the Hopper tuning guide's way to keep loads in
 *         flight. As in StreamScan (PPoPP 2013), but without its chain, the prefix of
 *         a tile needs only the totals published since the block's previous tile.
 *
 * One block per multiprocessor, all resident; tile t belongs to block t mod gridDim.
 * Each warp of a block has one job. The warps synchronise at the barriers of a ring
 * of stages in shared memory, one tile per stage:
 *
 *   producer    fills free stages by bulk copies, so that loads are in flight
 *               whatever else is waiting
 *   reducers    sum a tile as soon as it has arrived, one slice per warp
 *   publisher   adds the slices' totals and publishes the tile's total
 *   look-ahead  add the totals of the gridDim tiles since the block's previous
 *               tile to that tile's prefix: all at once, no chain through the L2
 *   finishers   load their slice into registers, free the stage, and write
 *
 *   full     -> reducers, finishers     the tile has arrived
 *   reduced  -> publisher               the total of each slice
 *   summed   -> finishers               the sum before each slice within the tile
 *   known    -> finishers, look-ahead   the sum before the tile
 *   free     -> producer, look-ahead    all finishers are done with the stage
 *
 * Order of additions: fixed by n and the number of multiprocessors.
 *
 * Relies: on residency: the launch is cooperative, one block per multiprocessor.
 * Progress: a tile waits only for totals of earlier tiles, and a total waits only
 * for a free stage, which earlier tiles free. So the unfinished tile with the
 * lowest number can always proceed. */
#pragma once

#include "async_copy.cuh"
#include "slice.cuh"
#include "../tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace lookahead
{

enum {
    SLICES = 12,     /* number of reducers, and of finishers */
    MAX_LOOKERS = 2, /* look-ahead warps */
    /* The roles of the warps: finishers, reducers, and then */
    PRODUCER = 2 * SLICES,
    PUBLISHER,
    FIRST_LOOKER,
    THREADS = (FIRST_LOOKER + MAX_LOOKERS) * WARP,
    LOOKS = 5, /* totals a lane reads together */
    MAX_STAGES = 10,
    /* Bytes of all stages together. A larger ring would keep more loads in flight, but take L1
     * capacity from the stores: 12 % slower on an H200 at 210 KiB. */
    RING_BYTES = 180 * 1024,
    /* Bytes in flight at a time, but at least two tiles. This keeps DRAM busy; more would only
     * queue, and reads of other blocks' totals would queue after them. */
    FLIGHT_BYTES = 54 * 1024,
};

/* Elements of a tile, which fills one stage: one slice per reducer and finisher. */
template <class Slice> constexpr unsigned TILE = SLICES *Slice::SIZE; /* elements */
template <class Slice>
constexpr unsigned TILE_BYTES = Slice::INPUTS *TILE<Slice> * sizeof(typename Slice::element);

/* The data of a stage besides its tile. */
template <class Total, class Sum> struct stage {
    mbarrier full, reduced, summed, known, free;
    Total totals[SLICES];  /* total of each slice */
    Total in_tile[SLICES]; /* sum before each slice within the tile */
    Sum before;            /* sum before the tile */
};

template <class Slice> struct shared_layout {
    stage<typename Slice::total, typename Slice::sum> stages[MAX_STAGES];
    uint32_t epoch;
    /* For bulk copies: with an alignment of only 16 bytes, everything is up to 10 % slower. */
    alignas(128) typename Slice::element tiles[][Slice::INPUTS * TILE<Slice>];
};

/* A warp's position in the ring: its stage, and the parity of the phases there. */
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

/* All lanes of a warp arrive, each for what it has read and written itself; at `known`, the one
 * that wrote the sum. */
template <class Slice>
__device__ __forceinline__ void init_stages(shared_layout<Slice> *shared, unsigned stages)
{
    if (lane_index() < stages) {
        auto *stage = &shared->stages[lane_index()];
        mbarrier_init(&stage->full, Slice::INPUTS * WARP);
        mbarrier_init(&stage->reduced, SLICES * WARP);
        mbarrier_init(&stage->summed, WARP);
        mbarrier_init(&stage->known, 1);
        mbarrier_init(&stage->free, SLICES * WARP);
        mbarrier_publish_init();
    }
    __syncwarp();
}

/* Fills stages, starting with the tile at element `first`. */
template <class Slice> struct producer {
    uint64_t first;              /* first element of the next tile */
    ring_position next = {0, 1}; /* no stage is in use: the phase before the first is complete */
    ring_position landing = {};  /* the oldest tile that may be in flight */
    unsigned under_way = 0;      /* upper bound on the tiles in flight */

    /* Produces tiles up to element `end`, with at most `flights` tiles in flight. */
    __device__ __forceinline__ void produce(const typename Slice::stream &stream,
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
            for (unsigned k = 0; k < Slice::INPUTS; k++)
                bulk_load(shared->tiles[next.stage] + k * TILE<Slice>, TILE<Slice>,
                          k == 0 ? stream.in : stream.second(), first, stream.n, &stage->full);
            under_way++;
            next.advance(stages);
        }
    }
};

/* The slice of a reducer and of a finisher. */
template <class Slice>
__device__ __forceinline__ place_in_tile<typename Slice::element>
place_in_stage(shared_layout<Slice> *shared, unsigned stage, unsigned worker)
{
    const unsigned earlier = worker * Slice::SIZE;
    return {shared->tiles[stage] + earlier, TILE<Slice>, earlier};
}

template <class Slice>
__device__ __forceinline__ void reduce(const typename Slice::stream &stream,
                                       shared_layout<Slice> *shared, unsigned stages,
                                       unsigned worker)
{
    ring_position at;
    for (uint64_t tile = blockIdx.x; tile * TILE<Slice> < stream.n; tile += gridDim.x) {
        auto *stage = &shared->stages[at.stage];
        warp_wait(&stage->full, at.parity);
        const uint64_t first = tile * TILE<Slice> + worker * Slice::SIZE;
        const typename Slice::total total =
            total_of_tile<Slice>(stream, first, place_in_stage(shared, at.stage, worker));
        if (lane_index() == 0)
            stage->totals[worker] = total;
        mbarrier_arrive(&stage->reduced);
        at.advance(stages);
    }
}

/* Publishes the total of a tile for the other blocks, and the sum before each slice for this
 * block. */
template <class Slice>
__device__ __forceinline__ void publish_tiles(uint64_t n, shared_layout<Slice> *shared,
                                              unsigned stages,
                                              const copied_board<typename Slice::total> &board)
{
    using Total = typename Slice::total;
    const unsigned lane = lane_index();
    const uint32_t epoch = shared->epoch;
    ring_position at;
    for (uint64_t tile = blockIdx.x; tile * TILE<Slice> < n; tile += gridDim.x) {
        auto *stage = &shared->stages[at.stage];
        warp_wait(&stage->reduced, at.parity);
        const Total through = warp_inclusive_sum(lane < SLICES ? stage->totals[lane] : Total(0));
        if (lane == SLICES - 1)
            for (unsigned copy = 0; copy < board.copies; copy++)
                publish(board.status_of(tile, copy), through, aggregate_tag(epoch));
        const Total left = shuffle_up(through, 1);
        if (lane < SLICES)
            stage->in_tile[lane] = lane > 0 ? left : Total(0);
        mbarrier_arrive(&stage->summed);
        at.advance(stages);
    }
}

/* Each block prefetches the statuses of its own tiles some rounds ahead; together the blocks
 * cover all tiles. */
template <class Slice>
__device__ __forceinline__ void prefetch_own(const copied_board<typename Slice::total> &board,
                                             uint64_t n, uint64_t tile)
{
    if (tile * TILE<Slice> < n)
        for (unsigned copy = 0; copy < board.copies; copy++)
            prefetch_status(board.status_of(tile, copy));
}

/* Round r, the block's r-th tile, belongs to look-ahead warp r mod lookers. Each warp sums the
 * totals of its round alone; only the last addition waits for the warp of the previous round.
 * By then the totals of all earlier tiles have been seen, by one of the two. */
template <class Slice>
__device__ __forceinline__ void
look_ahead(uint64_t n, shared_layout<Slice> *shared, unsigned stages,
           const copied_board<typename Slice::total> &board, unsigned looker, unsigned lookers)
{
    using Sum = typename Slice::sum;
    const auto *status = board.status();
    const uint32_t epoch = shared->epoch;
    ring_position at, last;
    uint64_t summed = 0; /* tiles whose totals are in the previous round's sum */
    unsigned round = 0;
    if (looker == 0 && lane_index() < stages)
        prefetch_own<Slice>(board, n, blockIdx.x + (uint64_t)lane_index() * gridDim.x);
    for (uint64_t tile = blockIdx.x; tile * TILE<Slice> < n; tile += gridDim.x) {
        if (round == looker) {
            if (lane_index() == 0)
                prefetch_own<Slice>(board, n, tile + (uint64_t)stages * gridDim.x);
            Sum before =
                warp_sum(share_of_values<LOOKS>(status, summed, tile, lane_index(), WARP,
                                                aggregate_tag(epoch), [] { spin_wait(); }));
            if (summed > 0)
                warp_wait(&shared->stages[last.stage].known, last.parity);
            warp_wait(&shared->stages[at.stage].free, at.parity ^ 1);
            if (lane_index() == 0) {
                if (summed > 0)
                    before = shared->stages[last.stage].before + before;
                shared->stages[at.stage].before = before;
                mbarrier_arrive(&shared->stages[at.stage].known);
                if ((tile + 1) * TILE<Slice> >= n)
                    end_call(board.board, epoch);
            }
        }
        summed = tile;
        last = at;
        at.advance(stages);
        round = round + 1 == lookers ? 0 : round + 1;
    }
}

template <class Slice>
__device__ __forceinline__ void finish(const typename Slice::stream &stream,
                                       shared_layout<Slice> *shared, unsigned stages,
                                       unsigned worker)
{
    ring_position at;
    for (uint64_t first = (uint64_t)blockIdx.x * TILE<Slice>; first < stream.n;
         first += (uint64_t)gridDim.x * TILE<Slice>) {
        auto *stage = &shared->stages[at.stage];
        const auto place = place_in_stage(shared, at.stage, worker);
        auto *mine = place.elements;
        warp_wait(&stage->full, at.parity);
        Slice slice;
        slice.load_from_tile(stream, first + worker * Slice::SIZE, place);
        /* Not earlier: finishers would take time from the reducers, for which others wait, and
         * might write where reducers still read. */
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
    lookahead_kernel(typename Slice::stream stream, unsigned stages, unsigned flights,
                     unsigned lookers,
                     const __grid_constant__ copied_board<typename Slice::total> board)
{
    auto *shared = shared_memory<shared_layout<Slice>>();
    const unsigned warp = threadIdx.x / WARP;
    if (threadIdx.x == FIRST_LOOKER * WARP)
        shared->epoch = epoch_of(load_word(&board.board->progress));
    producer<Slice> producer = {(uint64_t)blockIdx.x * TILE<Slice>};
    if (warp == PRODUCER) {
        init_stages(shared, stages);
        /* The first tile need not wait for the setup of the other warps, nor they for it. */
        producer.produce(stream, shared, stages, flights, min(stream.n, producer.first + 1));
    }
    __syncthreads();
    if (warp < SLICES)
        finish<Slice>(stream, shared, stages, warp);
    else if (warp < 2 * SLICES)
        reduce<Slice>(stream, shared, stages, warp - SLICES);
    else if (warp == PRODUCER)
        producer.produce(stream, shared, stages, flights, stream.n);
    else if (warp == PUBLISHER)
        publish_tiles<Slice>(stream.n, shared, stages, board);
    else if (warp < FIRST_LOOKER + lookers)
        look_ahead<Slice>(stream.n, shared, stages, board, warp - FIRST_LOOKER, lookers);
}

/* ---- host side ---- */

/* Rows of a slice. Small tiles follow one another closely, which suits DRAM. Large tiles need
 * fewer reads of statuses, each as long as a round trip to the L2. */
constexpr unsigned FEW_ROWS = 3, ROWS = 5;
enum {
    /* Multiples of the capacity of all rings together: up to which the L2 evicts an array's results
     * first. */
    PASSING_UP_TO = 3,
    SCAN_COPIES = 2 /* of the totals */
};

template <class Slice> constexpr size_t ELEMENT_BYTES = sizeof(typename Slice::element);

/* Rows of large tiles, and the largest array that has them, in multiples of what the rings hold.
 * With bytes, or several inputs in registers, the additions of a large tile take so long that it
 * gains nothing. With 8 bytes, four rows were mostly faster than five on an H200. */
template <class Slice>
constexpr unsigned LARGE_ROWS = Slice::INPUTS > 1 || ELEMENT_BYTES<Slice> == 1 ? FEW_ROWS
                                : ELEMENT_BYTES<Slice> == 8                    ? 4
                                                                               : ROWS;
template <class Slice>
constexpr unsigned LARGE_TILES_UP_TO = ELEMENT_BYTES<Slice> == 8 ? PASSING_UP_TO : 2;

template <class Slice> constexpr size_t shared_bytes(unsigned stages)
{
    return sizeof(shared_layout<Slice>) + (size_t)stages * TILE_BYTES<Slice>;
}

inline const char *supports(const struct problem *problem)
{
    if (!has_sm_90(problem->device))
        return "needs sm_90 or newer, for bulk copies";
    if (problem->device->shared_bytes_per_block < shared_bytes<scan_slice<uint64_t, ROWS>>(2))
        return "needs more shared memory than a block of this device can have";
    return nullptr;
}

inline size_t scratch_bytes(const struct problem *problem)
{
    return board_bytes(
        ceil_div(problem->n * element_bytes(problem->type), SLICES * FEW_ROWS * WARP * 16),
        problem->op == OP_SCAN ? SCAN_COPIES : 1);
}

template <class Slice>
void run_rows(const struct call *call, const typename Slice::stream &stream, unsigned lookers,
              unsigned copies)
{
    const struct device_limits *device = call->problem.device;
    const uint64_t tiles = ceil_div(call->problem.n, TILE<Slice>);
    const uint64_t blocks = std::min(tiles, (uint64_t)device->multiprocessors);
    /* Only as many as are used: allocating shared memory takes time, about 1 us for the whole
     * ring. */
    unsigned stages = (unsigned)std::min(ceil_div(tiles, std::max<uint64_t>(blocks, 1)),
                                         (uint64_t)(RING_BYTES / TILE_BYTES<Slice>));
    static_assert(RING_BYTES / TILE_BYTES<Slice> <= MAX_STAGES);
    while (shared_bytes<Slice>(stages) > device->shared_bytes_per_block)
        stages--;
    queue_of(call)->lines_kept = true;
    const unsigned flights = std::min(stages, std::max(2u, FLIGHT_BYTES / TILE_BYTES<Slice>));
    launch<lookahead_kernel<Slice>>(queue_of(call),
                                    {blocks, THREADS, slice_traffic<Slice>(&call->problem),
                                     shared_bytes<Slice>(stages), blocks > 1},
                                    stream, stages, flights, lookers,
                                    copied_board_of<typename Slice::total>(call, copies, tiles));
}

/* Slice<ROWS> is the operation's slice; PassingSlice is the same, but asks the L2 to evict its
 * results first. With slices that use staging, finishers spend longer on a tile: small tiles
 * then bring no gain, and more statuses read at once, or copies of them, only get in the way. */
template <template <unsigned> class Slice, template <unsigned> class PassingSlice = Slice>
void run(const struct call *call, const typename Slice<1>::stream &stream)
{
    const struct problem *problem = &call->problem;
    const uint64_t rings_bytes = (uint64_t)problem->device->multiprocessors * RING_BYTES;
    const uint64_t bytes = problem->n * element_bytes(problem->type) * Slice<1>::INPUTS;
    if constexpr (Slice<1>::STAGES)
        run_rows<Slice<ROWS>>(call, stream, 1, 1);
    else if (bytes > PASSING_UP_TO * rings_bytes)
        run_rows<Slice<FEW_ROWS>>(call, stream, 2, SCAN_COPIES);
    else if (bytes <= LARGE_TILES_UP_TO<Slice<1>> * rings_bytes)
        run_rows<PassingSlice<LARGE_ROWS<Slice<1>>>>(call, stream, 2, SCAN_COPIES);
    else if constexpr (LARGE_TILES_UP_TO<Slice<1>> < PASSING_UP_TO)
        run_rows<PassingSlice<FEW_ROWS>>(call, stream, 2, SCAN_COPIES);
}

} // namespace lookahead

} // namespace SCANBENCH_BACKEND
