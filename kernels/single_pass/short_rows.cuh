/* short_rows.cuh: one pass over rows so short that no block waits for another.
 *
 * Each block reads the part of its first row that lies before its tile, where blocks of
 * one_wave.cuh wait for the totals of others. Most of these elements come from the L2, as the block
 * before reads them, too. So the output must not be the input. In place, floats are added in the
 * order of one_wave.cuh instead.
 *
 * The kernel is one_wave_kernel, with other Tiles. */
#pragma once

#include "one_wave.cuh"
#include "segment_slice.cuh"

namespace SCANBENCH_BACKEND
{

namespace short_rows
{

enum { READS = 4 }; /* elements before the tile that a thread reads at most */

/* See one_wave::own_tiles for when these are called. */
template <class Sum, class T> struct tiles {
    static constexpr one_wave::residency RESIDENT = one_wave::residency::NONE;

    struct shared {
        T before[one_wave::MAX_BLOCK / WARP]; /* sums of the warps' reads */
    };

    const T *in;
    row_heads heads;
    unsigned size; /* elements of a tile */

    __device__ __forceinline__ unsigned tile() const
    {
        return blockIdx.x;
    }
    __device__ __forceinline__ void begin(shared *) const
    {
    }
    /* Nothing is published. Loads of the tile are under way meanwhile. */
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
    __device__ __forceinline__ void add_before(shared *here, unsigned, Sum *sum) const
    {
        *sum = Sum(sum_of_first(blockDim.x / WARP, here->before), 0) + *sum;
    }
};

/* ---- host side ---- */

template <class Stream> constexpr bool HAS_ROWS = false;
template <class T> constexpr bool HAS_ROWS<segmented_arrays<T, row_heads>> = true;

inline bool are_short(const struct call *call)
{
    return call->problem.segment_length <= READS * (uint64_t)call->problem.block &&
           !call->problem.in_place;
}

template <template <unsigned> class Slice>
void run(const struct call *call, const typename Slice<1>::stream &stream)
{
    using tiles = tiles<typename Slice<1>::sum, typename Slice<1>::element>;
    const one_wave::wave_shape shape = one_wave::shape_of(&call->problem);
    const unsigned size = shape.threads * shape.rows.held * Slice<1>::WIDTH;
    one_wave::run_tiles<Slice, Slice>(call, stream, shape, tiles{stream.in, stream.heads, size});
}

} // namespace short_rows

} // namespace SCANBENCH_BACKEND
