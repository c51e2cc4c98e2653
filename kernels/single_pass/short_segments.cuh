/* short_segments.cuh: one pass over segments so short that no block waits for another.
 *
 * A block itself reads what the first segment of its tile has before the tile, where blocks of
 * one_wave.cuh wait for the totals of others. Most of these elements come from the L2, as other
 * blocks read them, too. So the output must not be the input. How long segments at offsets are is
 * not known when the kernel is launched, only that they are no longer than the array.
 *
 * The kernel is one_wave_kernel, with other Tiles. */
#pragma once

#include "one_wave.cuh"
#include "segment_slice.cuh"

namespace SCANBENCH_BACKEND
{

namespace short_segments
{

enum {
    READS = 4,          /* elements of a row before the tile that a thread reads at most */
    SHORT_ARRAY = 16384 /* elements: the most before a tile for segments at offsets */
};

/* See one_wave::own_tiles for when these are called. */
template <class Sum, class T, class Heads> struct tiles {
    static constexpr one_wave::residency RESIDENT = one_wave::residency::EACH;

    struct shared {
        T before[one_wave::MAX_BLOCK / WARP]; /* sums of the warps' reads */
    };

    const T *in;
    Heads heads;
    unsigned size; /* elements of a tile */

    __device__ __forceinline__ unsigned tile() const
    {
        return blockIdx.x;
    }
    __device__ __forceinline__ void begin(shared *) const
    {
    }
    /* Nothing is published, but here is where loads of the tile are under way. */
    __device__ __forceinline__ void wait_to_publish(shared *here) const
    {
        const uint64_t first = (uint64_t)blockIdx.x * size;
        const auto before = (unsigned)heads.before(first);
        T sum(0);
#pragma unroll READS
        for (unsigned i = threadIdx.x; i < before; i += blockDim.x)
            sum += in[first - before + i];
        sum = warp_sum(sum);
        if (lane_index() == 0)
            here->before[threadIdx.x / WARP] = sum;
    }
    __device__ __forceinline__ void publish_total(shared *, Sum) const
    {
    }
    __device__ __forceinline__ void add_before(shared *here, unsigned, Sum *sum) const
    {
        *sum = Sum(sum_of_first(blockDim.x / WARP, here->before), 0) + *sum;
    }
};

/* ---- host side ---- */

/* Do the heads of a stream say how much of a segment lies before an element? */
template <class Stream> constexpr bool SERVE = requires(const Stream &stream)
{
    stream.heads.before(0);
};

inline bool are_short(const struct call *call)
{
    const struct problem *problem = &call->problem;
    return call->input != call->output &&
           (problem->segments == SEGMENTS_ROWS
                ? problem->segment_length <= READS * (uint64_t)problem->block
                : problem->n <= SHORT_ARRAY);
}

template <template <unsigned> class Slice>
void run(const struct call *call, const typename Slice<1>::stream &stream)
{
    using tiles = tiles<typename Slice<1>::sum, typename Slice<1>::element, decltype(stream.heads)>;
    const one_wave::wave_shape shape = one_wave::shape_of(&call->problem);
    const unsigned size = shape.threads * shape.rows.held * Slice<1>::WIDTH;
    one_wave::run_tiles<Slice, Slice>(call, stream, shape, tiles{stream.in, stream.heads, size});
}

} // namespace short_segments

} // namespace SCANBENCH_BACKEND
