/* cluster.cuh: one pass over an array that the blocks of one cluster hold (sm_90).
 *
 * As one_wave.cuh, but the blocks of a cluster can store in each other's shared memory: a block
 * stores its total in that of every later block, and waits there for those of all earlier ones. A
 * total takes one trip between multiprocessors, where a status takes one to the L2 and one back;
 * and no scratch is needed.
 *
 * Order of additions: fixed by n and block size.
 *
 * The kernel is one_wave_kernel, with other Tiles.
 *
 * Relies: on clusters, of as many blocks as the device says. */
#pragma once

#include "one_wave.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace cluster
{

enum {
    MAX_BLOCKS = 16,
    MULTIPROCESSORS = 8, /* a cluster has no more blocks than these hold: more were not measured */
};

/* See one_wave::own_tiles for when these are called. */
template <class Sum> struct tiles {
    static constexpr one_wave::residency RESIDENT = one_wave::residency::CLUSTER;

    struct shared {
        Sum total[MAX_BLOCKS];
        mbarrier arrived; /* its only phase ends with the last earlier total */
    };

    __device__ __forceinline__ unsigned tile() const
    {
        return blockIdx.x;
    }
    __device__ __forceinline__ void begin(shared *here) const
    {
        if (threadIdx.x == 0) {
            mbarrier_init(&here->arrived, 1);
            mbarrier_publish_init();
            mbarrier_expect(&here->arrived, blockIdx.x * sizeof here->total[0]);
            mbarrier_arrive(&here->arrived);
        }
        __syncwarp();
        cluster_arrive();
    }
    __device__ __forceinline__ void wait_to_publish(shared *) const
    {
    }
    __device__ __forceinline__ void publish_total(shared *here, Sum total) const
    {
        static_assert(MAX_BLOCKS <= WARP, "the first warp has the total");
        /* Not earlier: loads of the input are under way meanwhile. */
        cluster_wait();
        if (threadIdx.x > blockIdx.x && threadIdx.x < gridDim.x)
            store_in_block(threadIdx.x, &here->total[blockIdx.x], total, &here->arrived);
    }
    __device__ __forceinline__ void add_before(shared *here, unsigned, Sum *sum) const
    {
        mbarrier_wait_for_cluster(&here->arrived);
        __syncwarp();
        *sum = sum_of_first(blockIdx.x, here->total) + *sum;
    }
};

/* ---- host side ---- */

inline unsigned most_blocks(const struct problem *problem)
{
    const struct device_limits *device = problem->device;
    const unsigned held =
        std::min<unsigned>(device->multiprocessors, MULTIPROCESSORS) * one_wave::WAVE_THREADS;
    const auto allowed = (unsigned)std::min<int>(device->cluster_blocks, MAX_BLOCKS);
    return std::min(allowed, held / problem->block);
}

/* The fewest rows with which the blocks of a cluster hold n elements. */
inline one_wave::wave_shape shape_of(const struct problem *problem)
{
    one_wave::slice_rows rows = {0, 1};
    while (rows.held < one_wave::most_held(problem) &&
           one_wave::shape_of_rows(problem, rows).blocks > most_blocks(problem))
        rows.held = one_wave::more_rows(rows.held);
    return one_wave::shape_of_rows(problem, rows);
}

inline const char *supports(const struct problem *problem)
{
    if (problem->device->cluster_blocks == 0)
        return "needs clusters of blocks, which came with sm_90";
    const one_wave::wave_shape shape = shape_of(problem);
    if (shape.blocks > most_blocks(problem))
        return "more elements than one cluster of blocks holds";
    if (one_wave::shared_bytes<tiles<uint64_t>, uint64_t, uint64_t>(problem, shape) >
        problem->device->shared_bytes_per_block)
        return "more shared memory than a block can have";
    return nullptr;
}

template <template <unsigned> class Slice>
void run(const struct call *call, const typename Slice<1>::stream &stream)
{
    using Sum = typename Slice<1>::sum;
    one_wave::run_tiles<Slice, Slice>(call, stream, shape_of(&call->problem), tiles<Sum>{});
}

} // namespace cluster

} // namespace SCANBENCH_BACKEND
