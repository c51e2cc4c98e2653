/* one_wave.cuh: one pass over an array that one wave of resident blocks can hold.
 *
 *   1. Every block loads its tile, keeps it, and publishes its total.
 *   2. It waits for the totals of all earlier tiles, one thread per total, and
 *      adds them up: no chain of prefixes, a single hop through the L2. If its first
 *      segment is known to begin in a later tile, it waits from there on.
 *   3. It finishes its tile, without reading it again.
 *
 * Up to MAX_HELD rows of a slice are kept in registers. If there are more, the first
 * rows of the slice are parked in shared memory by bulk copies (sm_90).
 *
 * Order of additions: fixed by n, block size and the number of multiprocessors.
 *
 * Relies: on all blocks being resident at once; otherwise step 2 would never end.
 * The launch is cooperative, and fails if they cannot be. */
#pragma once

#include "async_copy.cuh"
#include "../segment_heads.cuh"
#include "slice.cuh"
#include "../tile_status.cuh"

#include <algorithm>
#include <cassert>

namespace SCANBENCH_BACKEND
{

namespace one_wave
{

enum {
    MAX_BLOCK = 1024, /* threads */
    MAX_HELD = 8,     /* rows of one pack per thread: half of the registers of MAX_BLOCK threads */
    WAVE_THREADS = 1024, /* threads per multiprocessor, with MAX_HELD */
    COPIES = 4           /* of the totals, where a block has several rows */
};

/* Totals a thread reads together. Two of 8 bytes would take registers of the rows. */
template <class Sum> constexpr unsigned LOOKS = sizeof(Sum) == 8 ? 1 : 2;

/* What blocks need in shared memory to watch others' totals. */
template <class Sum> struct watch {
    Sum watched[MAX_BLOCK / WARP];
    uint32_t epoch;
};

/* The blocks of a launch that wait for each other, and so have to be resident at once. */
enum class residency { NONE, ALL, CLUSTER };

template <class Tiles, class Sum, class T> struct shared_layout {
    Sum warp_totals[MAX_BLOCK / WARP];
    typename Tiles::shared exchange;
    unsigned needed_from; /* the first tile whose total matters to this one */
    mbarrier parked[MAX_BLOCK / WARP];
    /* For each warp in turn: space for its parked rows, and for the kept elements of the rows in
     * registers once the parked ones are finished. Or where segments begin in the tile. */
    alignas(128) T rows[];
};

/* The sum of the totals from tile `first` to the one before this; every thread gets it. */
template <class Sum, class Tiles>
__device__ __forceinline__ Sum watch_before(const Tiles &tiles, unsigned first, uint32_t tag,
                                            Sum *watched)
{
    const tile_status<Sum> *status = tiles.status();
    const unsigned before = tiles.before();
    typename Tiles::patience patience;
    Sum sum = share_of_values<LOOKS<Sum>, Tiles::FAR>(status, first, before, threadIdx.x,
                                                      blockDim.x, tag, [&] { patience.wait(); });
    if (threadIdx.x / WARP * WARP < before - first)
        sum = warp_sum(sum);
    return sum_of_warps(sum, watched);
}

/* The tiles of a launch that no other launch shares, and how their totals get from block to block.
 * Those of several devices: team_tiles.cuh; of one cluster: cluster.cuh; of short rows, which need
 * no totals: short_rows.cuh. */
template <class Sum> struct own_tiles {
    static constexpr bool FAR = false; /* do other GPUs publish here? */
    static constexpr residency RESIDENT = residency::ALL;
    using shared = watch<Sum>;
    copied_board<Sum> tiles;
    unsigned late; /* see late_blocks() */

    /* The tile of this block. */
    __device__ __forceinline__ unsigned tile() const
    {
        return blockIdx.x < late ? gridDim.x - late + blockIdx.x : blockIdx.x - late;
    }
    /* The number of tiles before it. */
    __device__ __forceinline__ unsigned before() const
    {
        return tile();
    }
    __device__ __forceinline__ const tile_status<Sum> *status() const
    {
        return tiles.status();
    }
    /* The following are called by all threads: begin() first of all, wait_to_publish() once loads
     * of the input are under way. */
    __device__ __forceinline__ void begin(shared *) const
    {
        if (threadIdx.x < tiles.copies && gridDim.x > 1)
            prefetch_status(tiles.status_of(tile(), threadIdx.x));
    }
    __device__ __forceinline__ void wait_to_publish(shared *here) const
    {
        if (threadIdx.x == 0 && gridDim.x > 1)
            here->epoch = epoch_of(load_word(&tiles.board->progress));
    }
    /* Called after a barrier that follows wait_to_publish(). Every lane of the first warp has the
     * total; one for each copy publishes it. */
    __device__ __forceinline__ void publish_total(shared *here, Sum total) const
    {
        static_assert((unsigned)COPIES <= WARP, "a lane of the first warp publishes each copy");
        if (threadIdx.x < tiles.copies && tile() + 1 < gridDim.x)
            publish(tiles.status_of(tile(), threadIdx.x), total, aggregate_tag(here->epoch));
    }
    /* Adds the totals of earlier tiles, from `first` on, to each thread's `*sum`. The last tile
     * waits for all, since it ends the call. */
    __device__ __forceinline__ void add_before(shared *here, unsigned first, Sum *sum) const
    {
        const bool is_last = tile() + 1 == gridDim.x;
        if (is_last)
            first = 0;
        if (first >= tile())
            return;
        *sum = watch_before(*this, first, aggregate_tag(here->epoch), here->watched) + *sum;
        if (threadIdx.x == 0 && is_last)
            end_call(tiles.board, here->epoch);
    }

    struct patience {
        __device__ __forceinline__ void wait()
        {
            spin_wait();
        }
    };
};

/* How many rows a slice has in registers and parked. */
struct slice_rows {
    unsigned parked, held;
};

/* How many rows of a warp lie in shared memory. */
__host__ __device__ constexpr unsigned rows_in_shared(bool stages, slice_rows rows)
{
    return stages && rows.held > rows.parked ? rows.held : rows.parked;
}

/* Starts the loads of a warp's parked rows. */
template <class T>
__device__ __forceinline__ void park(T *rows, unsigned size, const T *in, uint64_t first,
                                     uint64_t n, mbarrier *barrier)
{
    if (lane_index() == 0) {
        mbarrier_init(barrier, WARP);
        mbarrier_publish_init();
    }
    __syncwarp();
    bulk_load(rows, size, in, first, n, barrier);
}

/* Order is lost where a lane adds parked rows to those in registers. */
template <class Slice> constexpr bool CAN_PARK = COMMUTES<typename Slice::sum>;

/* Can a slice say from where on earlier elements matter to it? */
template <class Slice> constexpr bool KNOWS_FIRST_TILE = requires(const Slice &slice)
{
    slice.needs_from();
};

/* Do the threads of a block find together where segments begin? */
template <class Slice> constexpr bool FINDS_BY_BLOCK = requires
{
    requires Slice::FINDS_BY_BLOCK;
};

/* Are the rows in registers scanned while the block waits, even if others are parked? Elements of 8
 * bytes and halves take long enough to scan to gain by it. Others need the registers, and sums of
 * doubles gain as often as they lose. */
template <class Slice, class T = typename Slice::element>
constexpr bool SCANS_WAITING =
    !Slice::STAGES &&
    (sizeof(T) == 8 ? !std::is_same_v<T, double> : sizeof(T) == 2 && !std::is_integral_v<T>);

/* How many parked rows are prepared together; rows_for() parks multiples of it. */
template <class Slice>
constexpr unsigned PREPARED_TOGETHER = Slice::STAGES || SCANS_WAITING<Slice> ? 2 : 1;

/* At least 1 block: otherwise ptxas may save registers down to 32. */
template <template <unsigned> class Slice, unsigned HELD, bool PARKS, class Tiles>
__global__ void __launch_bounds__(MAX_BLOCK, 1)
    one_wave_kernel(typename Slice<1>::stream stream, unsigned parked_rows,
                    const __grid_constant__ Tiles tiles)
{
    using T = typename Slice<1>::element;
    using Sum = typename Slice<1>::sum;
    using parked_slice = Slice<PREPARED_TOGETHER<Slice<1>>>;
    constexpr unsigned ROW = Slice<1>::SIZE;
    constexpr bool KNOWS_NEED = Tiles::RESIDENT == residency::ALL && KNOWS_FIRST_TILE<Slice<HELD>>;
    static_assert(!(PARKS && (KNOWS_NEED || FINDS_BY_BLOCK<Slice<HELD>>)));
    auto *shared = shared_memory<shared_layout<Tiles, Sum, T>>();
    const unsigned warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const unsigned parked = PARKS ? parked_rows * ROW : 0;
    const uint64_t first = ((uint64_t)tiles.tile() * warps + warp) * (parked + HELD * ROW);
    T *rows = shared->rows + warp * rows_in_shared(Slice<1>::STAGES, {parked_rows, HELD}) * ROW;
    tiles.begin(&shared->exchange);
    if constexpr (PARKS)
        park(rows, parked, stream.in, first, stream.n, &shared->parked[warp]);
    /* To stage parked rows takes long, and is done while the rows for registers are loaded. These
     * are asked for when the parked ones are there: at the same time, they would delay them. */
    constexpr bool PARKED_FIRST = PARKS && Slice<1>::STAGES;
    /* The first thread waits for the epoch while the first input is on its way. */
    if constexpr (PARKED_FIRST) {
        tiles.wait_to_publish(&shared->exchange);
        warp_wait(&shared->parked[warp], 0);
    }
    Slice<HELD> held;
    held.load(stream, first + parked);
    if constexpr (FINDS_BY_BLOCK<Slice<HELD>>)
        held.template find<KNOWS_NEED>(stream, first + parked, shared->rows);
    if constexpr (!PARKED_FIRST)
        tiles.wait_to_publish(&shared->exchange);

    typename parked_slice::parked waiting = {rows, parked};
    typename parked_slice::total parked_total = 0;
    Sum mine;
    if constexpr (PARKS) {
        if constexpr (!PARKED_FIRST)
            warp_wait(&shared->parked[warp], 0);
        parked_total = waiting.prepare();
        mine = warp_sum(parked_total + held.lane_total());
    } else {
        mine = held.total_soon(rows);
    }
    if constexpr (KNOWS_NEED)
        if (threadIdx.x == 0)
            shared->needed_from = (unsigned)held.needs_from() / (warps * Slice<HELD>::SIZE);
    Sum before;
    if constexpr (Tiles::RESIDENT == residency::NONE) { /* nobody waits for its total */
        before = sum_of_earlier_warps(mine, shared->warp_totals);
    } else {
        Sum total;
        before = sum_of_earlier_warps(mine, shared->warp_totals, &total);
        tiles.publish_total(&shared->exchange, total);
    }
    if constexpr (!PARKS || SCANS_WAITING<Slice<1>>)
        held.prepare_rest(rows);
    if constexpr (PARKS && SCANS_WAITING<Slice<1>>)
        parked_total = warp_sum(parked_total);
    tiles.add_before(&shared->exchange, KNOWS_NEED ? shared->needed_from : 0, &before);

    if constexpr (!PARKS) {
        held.finish(stream, first, before, rows);
    } else if constexpr (SCANS_WAITING<Slice<1>>) {
        /* The rows in registers first: the parked ones then have their registers. */
        held.finish(stream, first + parked, before + parked_total, rows);
        waiting.finish(stream, first, before);
    } else {
        before += waiting.finish(stream, first, before);
        /* Not earlier: with staging, the parked rows occupied the space. */
        __syncwarp();
        held.prepare(rows);
        held.finish(stream, first + parked, before, rows);
    }
}

/* ---- host side ---- */

/* The number of elements in one row of all slices of a wave. */
inline uint64_t wave_row(const struct problem *problem)
{
    return (uint64_t)problem->device->multiprocessors * WAVE_THREADS *
           (PACK_BYTES / element_bytes(problem->type));
}

/* How many rows to hold if so many are not enough: what run_tiles() has kernels for. */
constexpr unsigned more_rows(unsigned held)
{
    return held < 4 ? 2 * held : held + 1;
}

/* Rows of the problem's slices that registers hold: their MOST_HELD. */
inline unsigned most_held(const struct problem *problem)
{
    return problem->binary_operator == OPERATOR_RECURRENCE ? MOST_HELD_OF_RECURRENCES
           : problem->segments == SEGMENTS_KEYS            ? key_heads::MOST_HELD
                                                           : (unsigned)MAX_HELD;
}

/* The fewest rows that hold n elements. */
inline slice_rows rows_for(const struct problem *problem)
{
    const uint64_t needed = ceil_div(problem->n, wave_row(problem));
    slice_rows rows = {0, 1};
    while (rows.held < most_held(problem) && rows.held < needed)
        rows.held = more_rows(rows.held);
    if (needed > rows.held) {
        const bool sums_doubles =
            problem->type == TYPE_F64 && problem->binary_operator == OPERATOR_SUM;
        const bool scans_waiting = (TYPES_OF_WIDE_SUMS >> problem->type & 1) ||
                                   (element_bytes(problem->type) == 8 && !sums_doubles);
        const unsigned together = problem->op == OP_COMPACT || scans_waiting ? 2 : 1;
        rows.parked = (unsigned)ceil_div(needed - rows.held, together) * together;
    }
    return rows;
}

/* The blocks of a launch. */
struct wave_shape {
    unsigned threads; /* of a block */
    slice_rows rows;
    uint64_t blocks;
};

/* As few blocks as hold n elements in so many rows. */
inline wave_shape shape_of_rows(const struct problem *problem, slice_rows rows)
{
    const uint64_t tile = (uint64_t)problem->block * (rows.parked + rows.held) * PACK_BYTES /
                          element_bytes(problem->type);
    return {problem->block, rows, ceil_div(problem->n, tile)};
}

inline wave_shape shape_of(const struct problem *problem)
{
    return shape_of_rows(problem, rows_for(problem));
}

template <class Tiles, class Sum, class T>
size_t shared_bytes(const struct problem *problem, const wave_shape &shape)
{
    const uint64_t row = (uint64_t)shape.threads * PACK_BYTES;
    const uint64_t tile = shape.rows.held * row / element_bytes(problem->type);
    return sizeof(shared_layout<Tiles, Sum, T>) +
           rows_in_shared(problem->op == OP_COMPACT, shape.rows) * row +
           (problem->segments == SEGMENTS_OFFSETS ? offset_heads::tile_bits_bytes(tile) : 0);
}

/* Can a multiprocessor hold its share of the blocks? Registers are bounded at compile time, so
 * this depends on shared memory and the number of blocks. */
inline const char *supports(const struct problem *problem)
{
    enum { RESERVED = 1024 }; /* bytes of shared memory per block, used by the system */
    const struct device_limits *device = problem->device;
    const wave_shape shape = shape_of(problem);
    const uint64_t rows_there =
        MAX_HELD + device->shared_bytes_per_multiprocessor / ((size_t)WAVE_THREADS * PACK_BYTES);
    if (ceil_div(problem->n, wave_row(problem)) > rows_there ||
        ((!has_sm_90(device) || keeps_order(problem)) && shape.rows.parked > 0))
        return "more elements than one wave of blocks holds";
    const size_t bytes = shared_bytes<own_tiles<uint64_t>, uint64_t, uint64_t>(problem, shape);
    const uint64_t blocks = ceil_div(shape.blocks, (uint64_t)device->multiprocessors);
    if (blocks > (uint64_t)device->blocks_per_multiprocessor)
        return "more blocks than the device holds at once: use a larger --block";
    if (bytes > device->shared_bytes_per_block ||
        blocks * (bytes + RESERVED) > device->shared_bytes_per_multiprocessor)
        return "more shared memory than the device has for all blocks at once";
    return nullptr;
}

/* With few rows, blocks are done so soon that to publish copies costs more than it gains. */
inline unsigned copy_count(enum operation op, const wave_shape &shape)
{
    return shape.rows.held > (op == OP_COMPACT ? 4 : 1) ? COPIES : 1;
}

inline size_t scratch_bytes(const struct problem *problem)
{
    const wave_shape shape = shape_of(problem);
    return shape.blocks > 1 ? board_bytes(shape.blocks, copy_count(problem->op, shape)) : 0;
}

template <template <unsigned> class Slice, unsigned HELD, bool PARKS, class Tiles>
void run_rows(const struct call *call, const typename Slice<1>::stream &stream,
              const wave_shape &shape, const Tiles &tiles)
{
    using T = typename Slice<1>::element;
    using Sum = typename Slice<1>::sum;
    assert(!PARKS || shape.rows.parked % PREPARED_TOGETHER<Slice<1>> == 0);
    queue_of(call)->lines_kept |= PARKS;
    launch_shape how = {shape.blocks, shape.threads, slice_traffic<Slice<1>>(&call->problem),
                        shared_bytes<Tiles, Sum, T>(&call->problem, shape)};
    how.cluster = Tiles::RESIDENT == residency::CLUSTER && shape.blocks > 1;
    how.cooperative = Tiles::RESIDENT == residency::ALL && shape.blocks > 1;
    launch<one_wave_kernel<Slice, HELD, PARKS, Tiles>>(queue_of(call), how, stream,
                                                       shape.rows.parked, tiles);
}

/* Calls run_rows() with as many rows as the shape has. Slice<ROWS> is the operation's slice;
 * LargeSlice is the one for arrays that registers cannot hold. */
template <template <unsigned> class Slice, template <unsigned> class LargeSlice, class Tiles>
void run_tiles(const struct call *call, const typename Slice<1>::stream &stream,
               const wave_shape &shape, const Tiles &tiles)
{
    if constexpr (Tiles::RESIDENT == residency::ALL && CAN_PARK<Slice<1>>)
        if (shape.rows.parked > 0)
            return run_rows<LargeSlice, MAX_HELD, true>(call, stream, shape, tiles);
    switch (shape.rows.held) {
    case 1:
        return run_rows<Slice, 1, false>(call, stream, shape, tiles);
    case 2:
        return run_rows<Slice, 2, false>(call, stream, shape, tiles);
    default:
        break;
    }
    if constexpr (Slice<1>::MOST_HELD > 2)
        if (shape.rows.held == 4)
            return run_rows<Slice, 4, false>(call, stream, shape, tiles);
    if constexpr (Slice<1>::MOST_HELD > 4)
        switch (shape.rows.held) {
        case 5:
            return run_rows<Slice, 5, false>(call, stream, shape, tiles);
        case 6:
            return run_rows<Slice, 6, false>(call, stream, shape, tiles);
        case 7:
            return run_rows<Slice, 7, false>(call, stream, shape, tiles);
        default:
            return run_rows<Slice, MAX_HELD, false>(call, stream, shape, tiles);
        }
}

/* How many of the first blocks have the last tiles. A multiprocessor's second block loads after
 * its first, and publishes later. Most launches go round all multiprocessors before any gets a
 * second block; a cooperative one fills a few first (8 of 132 on an H200; of few, a quarter is
 * assumed). With early tiles, the last of their blocks would make everyone wait. */
inline unsigned late_blocks(const struct problem *problem, const wave_shape &shape)
{
    const auto multiprocessors = (unsigned)problem->device->multiprocessors;
    if (shape.blocks <= multiprocessors)
        return 0;
    const unsigned filled_first = std::min(8u, multiprocessors / 4);
    return (unsigned)std::min<uint64_t>(shape.blocks, filled_first * WAVE_THREADS / shape.threads);
}

template <template <unsigned> class Slice, template <unsigned> class LargeSlice = Slice>
void run(const struct call *call, const typename Slice<1>::stream &stream)
{
    using Sum = typename Slice<1>::sum;
    const struct problem *problem = &call->problem;
    const wave_shape shape = shape_of(problem);
    const unsigned copies = copy_count(problem->op, shape);
    run_tiles<Slice, LargeSlice>(call, stream, shape,
                                 own_tiles<Sum>{copied_board_of<Sum>(call, copies, shape.blocks),
                                                late_blocks(problem, shape)});
}

} // namespace one_wave

} // namespace SCANBENCH_BACKEND
