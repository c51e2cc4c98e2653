/* segment_sums.cuh: the sum of each segment: by lanes of a warp, by a block, or by several blocks,
 * whichever suits the mean length. Where lanes do it and lengths differ, all lanes of the warp help
 * with a segment that is much longer than the mean, or all threads of the block; never more than
 * one block. Many rows of few packs are summed by warps whose loads each take in several rows
 * (short_rows_kernel).
 *
 * DRAM: one read, 16 bytes per access, wherever segments begin; one sum per segment. */
#pragma once

#include "block_totals.cuh"

#include <bit>

namespace SCANBENCH_BACKEND
{

namespace segment_sums
{

enum {
    LANES_UP_TO = 16,  /* packs of a lane, on average; longer segments have blocks */
    MIN_THREADS = 64,  /* of a block */
    MIN_HELPERS = 256, /* the same where a segment may be much longer than others */
    LONG = 4,          /* times the mean length: other threads help with what is longer */
    MOST_WAVES = 8,    /* of blocks, to which pieces of segments are fitted */
    ROUND_BYTES = PACKS * PACK_BYTES, /* that a thread reads at a time */
    SECTOR = 32,                      /* bytes; what the L2 loads at least */
    MOST_PREFETCHED = 8192            /* bytes of an array for each multiprocessor */
};

struct segment {
    uint64_t begin, end;
};

/* WHOLE_PACKS: no pack belongs to two rows. */
template <bool WHOLE> struct rows {
    static constexpr bool LENGTHS_DIFFER = false, WHOLE_PACKS = WHOLE;
    uint64_t length, n;

    __device__ __forceinline__ segment operator[](uint64_t s) const
    {
        return {s * length, min(n, (s + 1) * length)};
    }
};

struct between_offsets {
    static constexpr bool LENGTHS_DIFFER = true, WHOLE_PACKS = false;
    const uint64_t *offsets;

    __device__ __forceinline__ segment operator[](uint64_t s) const
    {
        return {offsets[s], offsets[s + 1]};
    }
};

/* What a pack that begins with element i adds to the sum of a segment. */
template <class T>
__device__ __forceinline__ T sum_within(const pack<T, PACK_WIDTH<T>> &x, uint64_t i,
                                        const segment &segment)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    if (segment.begin <= i && i + WIDTH <= segment.end)
        return pack_sum(x);
    const auto begin = (int)(max(segment.begin, i) - i);
    const auto end = (int)(min(segment.end, i + WIDTH) - i);
    T sum = T(0);
    for (int k = 0; k < (int)WIDTH; k++)
        sum += begin <= k && k < end ? x.at[k] : T(0);
    return sum;
}

template <class T, class Held>
__device__ __forceinline__ pack<T, PACK_WIDTH<T>> as_pack(const Held &x)
{
    pack<T, PACK_WIDTH<T>> elements;
    memcpy(&elements, &x, sizeof elements);
    return elements;
}

/* Thread `member` of `members` reads every `members`-th pack of the segment. Returns the sum of
 * what it reads. All loads of a round are issued before the first is used; instead of a pack
 * that is not there, the round's first is loaded. Whole packs that are not there are left out by a
 * selection: at a branch, the compiler would make the first load conditional, too. */
template <class Segments, class T>
__device__ __forceinline__ T member_sum(const T *in, uint64_t n, const segment &segment,
                                        unsigned member, unsigned members)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t whole = n / WIDTH; /* packs of the array */
    const uint64_t end = min(whole, (segment.end + WIDTH - 1) / WIDTH);
    T sum = T(0);
    for (uint64_t at = segment.begin / WIDTH + member; at < end; at += PACKS * members) {
        const auto left = (unsigned)min(end - at, (uint64_t)PACKS * members);
        const auto there = [&](unsigned p) { return p == 0 || p * members < left; };
        held_pack<T> x[PACKS];
#pragma unroll
        for (unsigned p = 0; p < PACKS; p++)
            x[p] = load_held<held_pack<T>>(in + (at + (there(p) ? p * members : 0)) * WIDTH);
#pragma unroll
        for (unsigned p = 0; p < PACKS; p++)
            if constexpr (Segments::WHOLE_PACKS)
                sum += there(p) ? T(pack_sum(x[p])) : T(0);
            else if (there(p))
                sum += sum_within(as_pack<T>(x[p]), (at + p * members) * WIDTH, segment);
    }
    /* The elements of the pack that the array cuts off. */
    for (uint64_t i = max(segment.begin, whole * WIDTH) + member; i < segment.end; i += members)
        sum += in[i];
    return sum;
}

/* Only offsets tell where a segment is, and they have to be read first. Meanwhile the threads
 * prefetch the first `prefetched` bytes of the array. Each prefetches as many as it reads in a
 * round, though seldom those; if the threads are too few, the end of the array is left out. */
template <class T>
__device__ __forceinline__ void prefetch_elements(const T *in, uint64_t prefetched)
{
    for (unsigned sector = 0; sector < ROUND_BYTES; sector += SECTOR) {
        const uint64_t at = global_thread() * ROUND_BYTES + sector;
        if (at < prefetched)
            prefetch_to_l2(reinterpret_cast<const char *>(in) + at);
    }
}

/* The block stores the sum of a segment. */
template <class T, class Segments>
__device__ __forceinline__ void store_sum(const T *in, uint64_t n, const Segments &segments,
                                          uint64_t s, T *warp_totals, T *results)
{
    const T sum = member_sum<Segments>(in, n, segments[s], threadIdx.x, blockDim.x);
    const T total = block_sum(sum, warp_totals);
    if (threadIdx.x == 0)
        results[s] = total;
}

template <class T> struct lanes_layout {
    T warp_totals[1024 / WARP];
    unsigned count;    /* of the segments that the block sums */
    uint64_t number[]; /* of each; at most one per thread */
};

/* Sums the segments of lanes that need help, each by its warp or by the block. */
template <class T, class Segments>
__device__ __forceinline__ void help(const T *in, uint64_t n, const Segments &segments, uint64_t s,
                                     uint64_t length, bool needs_help, T *results)
{
    constexpr unsigned MOST_OF_WARP = 4 * PACKS * PACK_WIDTH<T> * WARP; /* four rounds */
    auto *shared = shared_memory<lanes_layout<T>>();
    const bool needs_block = needs_help && length > MOST_OF_WARP;
    if (threadIdx.x == 0)
        shared->count = 0;
    if (!__syncthreads_or(needs_help))
        return;
    if (needs_block)
        shared->number[atomicAdd(&shared->count, 1u)] = s;
    for (unsigned left = __ballot_sync(ALL_LANES, needs_help && !needs_block); left != 0;
         left &= left - 1) {
        const uint64_t its = shuffle_from(s, __ffs((int)left) - 1);
        const T sum = warp_sum(member_sum<Segments>(in, n, segments[its], lane_index(), WARP));
        if (lane_index() == 0)
            results[its] = sum;
    }
    __syncthreads();
    for (unsigned k = 0; k < shared->count; k++) {
        store_sum(in, n, segments, shared->number[k], shared->warp_totals, results);
        __syncthreads(); /* all have read the totals */
    }
}

/* How many of the largest blocks are to be resident together. Two leave 32 registers per thread. */
template <class T> constexpr unsigned LARGEST_BLOCKS = sizeof(T) < sizeof(uint32_t) ? 1 : 2;

/* A segment has 2^log_members lanes, and help if it has more elements than `most`. To take packs
 * apart needs more than 32 registers. */
template <class T, class Segments>
__global__ void LAUNCH_BOUNDS(1024, Segments::WHOLE_PACKS ? LARGEST_BLOCKS<T> : 1)
    lanes_kernel(const T *in, uint64_t n, Segments segments, uint64_t count, unsigned log_members,
                 uint64_t most, uint64_t prefetched, T *results)
{
    if constexpr (Segments::LENGTHS_DIFFER)
        prefetch_elements(in, prefetched);
    const unsigned members = 1u << log_members;
    const uint64_t s = global_thread() >> log_members;
    const unsigned member = threadIdx.x % members;
    const segment own = s < count ? segments[s] : segment{0, 0};
    const uint64_t length = own.end - own.begin;
    const bool needs_help = Segments::LENGTHS_DIFFER && length > most;
    T sum = T(0);
    if (!needs_help)
        sum = member_sum<Segments>(in, n, own, member, members);
    for (unsigned stride = members / 2; stride > 0; stride /= 2)
        sum += shuffle_xor(sum, stride);
    if (s < count && member == 0 && !needs_help)
        results[s] = sum;
    if constexpr (Segments::LENGTHS_DIFFER)
        help(in, n, segments, s, length, needs_help && member == 0, results);
}

/* Rows of `lanes` packs, one for each lane, so that neighbouring lanes read neighbouring packs. A
 * warp sums PACKS times as many rows as it has lanes for. */
template <class T>
__global__ void __launch_bounds__(1024)
    short_rows_kernel(const T *in, uint64_t n, uint64_t count, unsigned lanes, T *results)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t warp = global_thread() / WARP;
    const uint64_t first = (warp * PACKS * WARP + lane_index()) * WIDTH; /* element */
    const uint64_t end = (warp + 1) * PACKS * WARP * WIDTH;
    const unsigned rows = WARP / lanes; /* that the lanes read together */
    const uint64_t row = warp * PACKS * rows + lane_index() / lanes;
    held_pack<T> x[PACKS];
    T sum[PACKS];
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        if (end <= n)
            x[p] = load_held<held_pack<T>>(in + first + p * WARP * WIDTH);
        else
            load_held<false>(&x[p], in, first + p * WARP * WIDTH, n);
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        sum[p] = T(pack_sum(x[p]));
    for (unsigned stride = 1; stride < lanes; stride *= 2)
#pragma unroll
        for (unsigned p = 0; p < PACKS; p++)
            sum[p] += shuffle_xor(sum[p], stride);
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        if (lane_index() % lanes == 0 && row + p * rows < count)
            results[row + p * rows] = sum[p];
}

/* A segment has a block. */
template <class T, class Segments>
__global__ void LAUNCH_BOUNDS(1024, LARGEST_BLOCKS<T>)
    block_kernel(const T *in, uint64_t n, Segments segments, uint64_t prefetched, T *results)
{
    if constexpr (Segments::LENGTHS_DIFFER)
        prefetch_elements(in, prefetched);
    store_sum(in, n, segments, blockIdx.x, shared_memory<shared_layout<T>>()->warp_totals, results);
}

/* A segment has `sums.blocks` blocks. */
template <class T, class Segments>
__global__ void LAUNCH_BOUNDS(1024, LARGEST_BLOCKS<T>)
    blocks_kernel(const T *in, uint64_t n, Segments segments, uint64_t prefetched,
                  block_sums<T> sums, T *results)
{
    if constexpr (Segments::LENGTHS_DIFFER)
        prefetch_elements(in, prefetched);
    const unsigned s = blockIdx.x / sums.blocks, piece = blockIdx.x % sums.blocks;
    sum_of_blocks(
        sums, s, piece,
        [&] {
            return member_sum<Segments>(in, n, segments[s], piece * blockDim.x + threadIdx.x,
                                        sums.blocks * blockDim.x);
        },
        &results[s]);
}

/* ---- host side ---- */

struct shape {
    unsigned lanes;   /* of a segment; 0: it has blocks */
    unsigned threads; /* of a block */
    unsigned pieces;  /* of a segment, each with a block */
};

/* The threads of a block that needs so many for the segments themselves. */
inline unsigned block_of(const struct problem *problem, uint64_t threads)
{
    const uint64_t least = problem->segments == SEGMENTS_ROWS ? MIN_THREADS : MIN_HELPERS;
    return (unsigned)std::min<uint64_t>(std::max(threads, least), problem->block);
}

/* The lanes of short segments: as many as have PACKS packs each, or fewer packs if an eighth of the
 * device's threads is enough. Rows have small blocks where there would be fewer of them than
 * multiprocessors. */
inline shape lanes_for(const struct problem *problem, uint64_t packs)
{
    const struct device_limits *device = problem->device;
    const auto multiprocessors = (uint64_t)device->multiprocessors;
    const uint64_t most = std::min<uint64_t>(std::bit_ceil(packs), WARP);
    uint64_t lanes = std::min<uint64_t>(std::bit_ceil(ceil_div(packs, PACKS)), most);
    while (lanes < most &&
           problem->segment_count * lanes * 2 <= (uint64_t)resident_threads(device) / 8)
        lanes *= 2;
    const uint64_t threads =
        std::bit_ceil(ceil_div(problem->segment_count * lanes, multiprocessors));
    return {(unsigned)lanes, block_of(problem, threads), 1};
}

/* The pieces of long segments. Where blocks add by atomics, one per round of packs, up to
 * MOST_ATOMICS. Else as few as leave at most a tenth of the last wave of blocks idle. */
template <class T> shape pieces_for(const struct problem *problem, uint64_t packs)
{
    const unsigned threads = block_of(problem, std::bit_ceil(ceil_div(packs, PACKS)));
    const uint64_t rounds = ceil_div(packs, threads * PACKS);
    if (ADDS_BY_ATOMICS<T>)
        return {0, threads, (unsigned)std::min<uint64_t>(rounds, MOST_ATOMICS)};
    const uint64_t wave = resident_blocks(problem->device, threads);
    const uint64_t count = problem->segment_count;
    uint64_t pieces = 1;
    for (unsigned waves = 1; waves <= MOST_WAVES; waves++) {
        pieces = std::max<uint64_t>(waves * wave / count, 1);
        if (10 * pieces * count >= 9 * waves * wave)
            break;
    }
    return {0, threads, (unsigned)std::min(pieces, rounds)};
}

/* At least 1. */
inline uint64_t mean_length(const struct problem *problem)
{
    return std::max<uint64_t>(ceil_div(problem->n, problem->segment_count), 1);
}

/* A lane gets a single round of packs if the threads for that leave half of the device idle. */
template <class T> shape shape_of(const struct problem *problem)
{
    if (problem->segment_count == 0)
        return {1, MIN_THREADS, 1};
    const uint64_t width = PACK_BYTES / element_bytes(problem->type);
    const uint64_t length = mean_length(problem);
    const uint64_t packs = ceil_div(length, width) + (length % width != 0); /* two are partial */
    const bool are_few = problem->segment_count * ceil_div(packs, PACKS) * 2 <=
                         (uint64_t)resident_threads(problem->device);
    const unsigned most_per_lane = are_few ? PACKS : (unsigned)LANES_UP_TO;
    return packs <= WARP * most_per_lane ? lanes_for(problem, packs)
                                         : pieces_for<T>(problem, packs);
}

/* Calls f with a zero of the type that segments are summed in. */
template <class Function> void with_segment_sum(const struct problem *problem, Function f)
{
    with_sum_type(problem->type, [&](auto zero) { with_counting(zero, f); });
}

inline size_t scratch_bytes(const struct problem *problem)
{
    size_t bytes = 0;
    with_segment_sum(problem, [&]<class T>(T) {
        bytes = block_sums_bytes<T>(problem->segment_count, shape_of<T>(problem).pieces);
    });
    return bytes;
}

/* The whole of a small array. Of larger ones enough loads are in flight anyway, and prefetches are
 * in their way: on an H200 the time was 0.1 to 0.5 us less up to 1 MiB, and up to 1.5 us more at 4
 * and 16 MiB. */
inline uint64_t prefetched_bytes(const struct problem *problem)
{
    const uint64_t bytes = problem->n * element_bytes(problem->type);
    return bytes <= (uint64_t)problem->device->multiprocessors * MOST_PREFETCHED ? bytes : 0;
}

/* Have rows so few packs that those which a warp loads together are of several rows, and does that
 * leave threads for half of the device? Where there is less, a lane should have one load. */
template <class T> bool are_short_rows(const struct problem *problem)
{
    const uint64_t packs = problem->segment_length / PACK_WIDTH<T>;
    return problem->segment_length % PACK_WIDTH<T> == 0 && packs < WARP &&
           std::has_single_bit(packs) &&
           problem->segment_count * packs * 2 >=
               (uint64_t)resident_threads(problem->device) * PACKS;
}

template <class T> void run_on_short_rows(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t packs = problem->segment_length / PACK_WIDTH<T>, count = problem->segment_count;
    launch<short_rows_kernel<T>>(queue_of(call),
                                 {ceil_div(count * packs, (uint64_t)PACKS * problem->block),
                                  problem->block,
                                  {problem->n * sizeof(T), sizeof(T)}},
                                 static_cast<const T *>(call->input), problem->n, count,
                                 (unsigned)packs, static_cast<T *>(call->output));
}

template <class T, class Segments> void run_on(const struct call *call, const Segments &segments)
{
    const struct problem *problem = &call->problem;
    const shape shape = shape_of<T>(problem);
    const uint64_t count = problem->segment_count;
    const launch_traffic traffic = {problem->n * sizeof(T) + second_bytes(problem), sizeof(T)};
    const T *in = static_cast<const T *>(call->input);
    T *results = static_cast<T *>(call->output);
    const uint64_t blocks =
        shape.lanes > 0 ? ceil_div(count * shape.lanes, shape.threads) : count * shape.pieces;
    const uint64_t prefetched = prefetched_bytes(problem);
    if (shape.lanes > 0)
        return launch<lanes_kernel<T, Segments>>(
            queue_of(call),
            {blocks, shape.threads, traffic,
             Segments::LENGTHS_DIFFER ? sizeof(lanes_layout<T>) + shape.threads * sizeof(uint64_t)
                                      : 0},
            in, problem->n, segments, count, std::countr_zero(shape.lanes),
            LONG * mean_length(problem), prefetched, results);
    const size_t shared = sizeof(shared_layout<T>);
    if (shape.pieces == 1)
        return launch<block_kernel<T, Segments>>(queue_of(call),
                                                 {blocks, shape.threads, traffic, shared}, in,
                                                 problem->n, segments, prefetched, results);
    launch<blocks_kernel<T, Segments>>(queue_of(call), {blocks, shape.threads, traffic, shared}, in,
                                       problem->n, segments, prefetched,
                                       block_sums_in<T>(call, count, shape.pieces), results);
}

inline void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    if (problem->segment_count == 0)
        return;
    with_segment_sum(problem, [&]<class T>(T) {
        if (problem->segments == SEGMENTS_ROWS && are_short_rows<T>(problem))
            return run_on_short_rows<T>(call);
        if (problem->segments == SEGMENTS_ROWS && problem->segment_length % PACK_WIDTH<T> == 0)
            return run_on<T>(call, rows<true>{problem->segment_length, problem->n});
        if (problem->segments == SEGMENTS_ROWS)
            return run_on<T>(call, rows<false>{problem->segment_length, problem->n});
        run_on<T>(call, between_offsets{static_cast<const uint64_t *>(call->second)});
    });
}

} // namespace segment_sums

} // namespace SCANBENCH_BACKEND
