/* one_wave.cuh: an array that fits into the registers of one wave of blocks.
 *
 *   1. Every block loads its tile, keeps it, and publishes its total.
 *   2. It watches the totals of all tiles before its own, a thread for each, and
 *      adds them up: no chain of prefixes, one hop through the L2 for all.
 *   3. It finishes its tile from the registers.
 *
 * Relies: on all blocks being resident at once, or step 2 would wait for ever:
 * the launch is cooperative, and fails where they would not be. */
#ifndef SCANBENCH_KERNELS_ONE_WAVE_CUH
#define SCANBENCH_KERNELS_ONE_WAVE_CUH

#include "slice.cuh"
#include "tile_status.cuh"

namespace SCANBENCH_BACKEND
{

namespace one_wave
{

enum {
    MAX_BLOCK = 1024,   /* threads */
    MAX_ROWS = 8,       /* of a pack a thread: half of the registers of MAX_BLOCK threads */
    WAVE_THREADS = 1024 /* of a multiprocessor, with MAX_ROWS */
};

template <class Sum, class T> struct shared_layout {
    Sum warp_totals[MAX_BLOCK / WARP];
    Sum watched[MAX_BLOCK / WARP];
    alignas(16) T staging[]; /* one slice for each warp, for what stages */
};

/* The sum of the totals of all tiles before this one; every thread gets it. */
template <class Sum>
__device__ __forceinline__ Sum watch_all_before(const tile_status<Sum> *status, uint32_t epoch,
                                                Sum *watched)
{
    Sum sum = 0;
    for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += blockDim.x) {
        observation<Sum> seen = look_at(&status[tile]);
        while (!seen.whole || seen.tag != epoch) {
            spin_wait();
            seen = look_at(&status[tile]);
        }
        sum += seen.value;
    }
    if (threadIdx.x / WARP * WARP < blockIdx.x)
        sum = warp_sum(sum);
    block_exclusive_sum(sum, watched, &sum);
    return sum;
}

template <class Slice>
__global__ void __launch_bounds__(MAX_BLOCK)
    one_wave_kernel(stream<typename Slice::element> stream,
                    tile_status<typename Slice::sum> *status, uint32_t epoch)
{
    using T = typename Slice::element;
    using Sum = typename Slice::sum;
    auto *shared = shared_memory<shared_layout<Sum, T>>();
    const unsigned warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const uint64_t first = ((uint64_t)blockIdx.x * warps + warp) * Slice::SIZE;
    if (threadIdx.x == 0)
        prefetch_status(&status[blockIdx.x]);
    Slice slice;
    slice.load(stream.in, first, stream.n);

    Sum total;
    Sum before = block_exclusive_sum(slice.total(), shared->warp_totals, &total);
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
        publish(&status[blockIdx.x], total, epoch);
    T *staging = shared->staging + warp * Slice::SIZE;
    slice.prepare(staging);
    if (blockIdx.x > 0)
        before += watch_all_before(status, epoch, shared->watched);
    slice.finish(stream, first, before, staging);
}

/* How many elements one wave holds, and the fewest rows that hold n. */
inline uint64_t capacity(const struct problem *problem)
{
    return (uint64_t)problem->device->multiprocessors * WAVE_THREADS * MAX_ROWS *
           (PACK_BYTES / element_bytes(problem->type));
}

inline unsigned rows_for(const struct problem *problem)
{
    unsigned rows = 1;
    while (rows < MAX_ROWS && capacity(problem) / MAX_ROWS * rows < problem->n)
        rows *= 2;
    return rows;
}

inline uint64_t block_count(const struct problem *problem)
{
    return ceil_div(problem->n, (uint64_t)problem->block * rows_for(problem) * PACK_BYTES /
                                    element_bytes(problem->type));
}

/* Can a multiprocessor hold its share of the blocks? Registers are bounded at compile
 * time; what is left are shared memory and the number of blocks. */
inline const char *supports(const struct problem *problem)
{
    enum { RESERVED = 1024 }; /* bytes of shared memory a block, by the system */
    const struct device_limits *device = problem->device;
    if (problem->n > capacity(problem))
        return "more elements than one wave of blocks holds";
    const size_t bytes =
        sizeof(shared_layout<uint64_t, uint64_t>) + staging_bytes(problem, rows_for(problem));
    const uint64_t blocks = ceil_div(block_count(problem), (uint64_t)device->multiprocessors);
    if (blocks > (uint64_t)device->blocks_per_multiprocessor)
        return "more blocks than the device holds at once: take larger ones";
    if (bytes > device->shared_bytes_per_block ||
        blocks * (bytes + RESERVED) > device->shared_bytes_per_multiprocessor)
        return "more shared memory than the device has for all blocks at once";
    return nullptr;
}

inline size_t scratch_bytes(const struct problem *problem)
{
    return block_count(problem) * sizeof(tile_status<uint64_t>);
}

inline void prepare(const struct call *call)
{
    succeeded(
        queue_of(call), "memset",
        cudaMemsetAsync(call->scratch, 0, scratch_bytes(&call->problem), queue_of(call)->stream));
}

template <class Slice> void run_rows(const struct call *call)
{
    using T = typename Slice::element;
    using Sum = typename Slice::sum;
    const unsigned block = call->problem.block;
    const size_t shared_bytes = sizeof(shared_layout<Sum, T>) +
                                (Slice::STAGES ? block / WARP * Slice::SIZE * sizeof(T) : 0);
    const uint64_t blocks = block_count(&call->problem);
    launch<one_wave_kernel<Slice>>(queue_of(call), {blocks, block, shared_bytes, blocks > 1},
                                   stream_of<T>(call),
                                   static_cast<tile_status<Sum> *>(call->scratch), call->epoch);
}

/* Calls run_rows() with as many rows as n needs; Slice<ROWS> is the operation's. */
template <template <unsigned> class Slice> void run(const struct call *call)
{
    switch (rows_for(&call->problem)) {
    case 1:
        return run_rows<Slice<1>>(call);
    case 2:
        return run_rows<Slice<2>>(call);
    case 4:
        return run_rows<Slice<4>>(call);
    default:
        return run_rows<Slice<8>>(call);
    }
}

} // namespace one_wave

} // namespace SCANBENCH_BACKEND

#endif
