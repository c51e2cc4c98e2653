/* policy.cuh: the size of each kind of launch of a sort, and the scratch that launches share. */
#pragma once

#include "../launch.cuh"

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

/* The number of blocks of a kernel that the device holds at once; 0 after an error. */
template <class Kernel>
uint64_t resident_blocks(const struct call *call, Kernel *kernel, unsigned threads,
                         size_t shared_bytes)
{
    int blocks = 0;
    if (!succeeded(queue_of(call), "shared memory", allow_shared_bytes(kernel, shared_bytes)) ||
        !succeeded(queue_of(call), "occupancy",
                   cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads,
                                                                 shared_bytes)))
        return 0;
    return (uint64_t)blocks * call->problem.device->multiprocessors;
}

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

/* Fills scratch with zeros. */
inline void clear(const struct call *call, void *from, size_t bytes)
{
    succeeded(queue_of(call), "memset", cudaMemsetAsync(from, 0, bytes, queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND
