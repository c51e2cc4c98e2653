/* scratch.cuh: lays out the scratch memory of a sort, and says how one sort disables another. */
#pragma once

#include "../launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Gives out scratch memory, array after array. From null, it only counts the bytes. */
struct allocator {
    char *start;
    size_t used = 0;

    template <class T> T *get(uint64_t count)
    {
        char *array = start == nullptr ? nullptr : start + used;
        used += next_place(count * sizeof(T));
        return reinterpret_cast<T *>(array);
    }
};

inline allocator scratch_memory(const struct call *call)
{
    return {static_cast<char *>(call->scratch)};
}

/* Sets an array to zero, in the order of the launches. */
template <class T> void clear(const struct call *call, T *array, uint64_t count = 1)
{
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(array, 0, count * sizeof(T), queue_of(call)->stream));
}

/* Two sorts of the same keys can be queued. The first decides on the device which one works, and
 * writes here whether the second is disabled. */
struct hand_over {
    unsigned disabled;
};

/* Prefetches an array, of which each thread of the block asks for a line at most. */
template <class T> __device__ __forceinline__ void prefetch_array(const T *array, unsigned count)
{
    enum { LINE = 128 };
    if (threadIdx.x * LINE < count * (unsigned)sizeof(T))
        prefetch_to_l2(reinterpret_cast<const char *>(array) + threadIdx.x * LINE);
}

} // namespace SCANBENCH_BACKEND
