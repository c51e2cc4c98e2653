/* policy.cuh: what sorts tell of themselves, the size of each kind of launch, launches whose blocks
 * are all resident, with a barrier of these, and the scratch that launches share. */
#pragma once

#include "../launch.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* A kind of launch. */
struct launch_policy {
    unsigned threads; /* per block */
    unsigned blocks;  /* per multiprocessor */
    unsigned keys;    /* per thread */

    __host__ __device__ constexpr unsigned tile() const
    {
        return threads * keys;
    }
};

/* A policy of the bucket sort: its functions, as algorithm.h describes them, for a sort that queues
 * another after it. other_disabled() says where a call finds the address of the other's `disabled`,
 * or null, as prepare() leaves it. If it is not null, skewed keys may be left to the other sort:
 * this one sets the other's `disabled`, or its own, and may still clear the other's later. */
struct bucket_policy {
    const char *(*supports)(const struct problem *problem);
    size_t (*scratch_bytes)(const struct problem *problem);
    void (*prepare)(const struct call *call);
    void (*run)(const struct call *call);
    unsigned **(*other_disabled)(const struct call *call);
};
extern const bucket_policy MSD_SORT, SAMPLE_SORT; /* in sort_msd.cu and sort_sample.cu */

/* ---- Resident blocks ---- */

constexpr uint64_t ALL_RESIDENT = UINT64_MAX; /* for launch_shape::blocks */

/* Launches as many blocks as the device holds at once, or shape.blocks if these are fewer. */
template <auto Kernel, class... Arguments>
void launch_resident(const struct call *call, launch_shape shape, Arguments... arguments)
{
    queue *queue = queue_of(call);
    int blocks = 0;
    if (!succeeded(queue, "shared memory", allow_shared_bytes(Kernel, shape.shared_bytes)) ||
        !succeeded(queue, "occupancy",
                   cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                       &blocks, Kernel, (int)shape.threads, shape.shared_bytes)))
        return;
    if (blocks == 0)
        return fail(queue, "occupancy", "a multiprocessor cannot hold a block");
    shape.blocks = std::min(shape.blocks, (uint64_t)blocks * call->problem.device->multiprocessors);
    launch<Kernel>(queue, shape, arguments...);
}

/* A barrier of all blocks of a launch, all of which must be resident. They see what the others
 * wrote. The counter is never set back. */
__device__ __forceinline__ void grid_barrier(unsigned long long *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned long long ticket = atomicAdd(arrived, 1ull);
        const unsigned long long all = (ticket / gridDim.x + 1) * gridDim.x;
        while (load_word(reinterpret_cast<uint64_t *>(arrived)) < all)
            spin_wait();
        __threadfence();
    }
    __syncthreads();
}

/* ---- Scratch ---- */

/* Gives out scratch memory, one array after the other. If `start` is null, it only counts bytes. */
struct allocator {
    void *start;
    size_t used = 0;

    template <class T> T *get(uint64_t count)
    {
        char *piece = start == nullptr ? nullptr : static_cast<char *>(start) + used;
        used += next_place(count * sizeof(T));
        return reinterpret_cast<T *>(piece);
    }
};

/* The scratch of a call, and its bytes, where LAY_OUT(problem, allocator) gets and returns it. */
template <auto LAY_OUT> auto scratch_of(const struct call *call)
{
    allocator memory = {call->scratch};
    return LAY_OUT(&call->problem, &memory);
}

template <auto LAY_OUT> size_t bytes_laid_out(const struct problem *problem)
{
    allocator memory = {nullptr};
    LAY_OUT(problem, &memory);
    return memory.used;
}

} // namespace SCANBENCH_BACKEND
