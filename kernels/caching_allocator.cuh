/* caching_allocator.cuh: device memory that is asked for again and again. */
#ifndef SCANBENCH_KERNELS_CACHING_ALLOCATOR_CUH
#define SCANBENCH_KERNELS_CACHING_ALLOCATOR_CUH

#include "launch.cuh"

#include <cstddef>
#include <map>
#include <new>

namespace SCANBENCH_BACKEND
{

/* Keeps the blocks it is given back, by size, for the next request of that size.
 * One stream only: a block may be handed out while earlier work still uses it. */
class caching_allocator
{
  public:
    using value_type = char;

    char *allocate(std::ptrdiff_t bytes)
    {
        const auto free_block = unused.find(bytes);
        void *block = nullptr;
        if (free_block != unused.end()) {
            block = free_block->second;
            unused.erase(free_block);
        } else if (cudaMalloc(&block, (size_t)bytes) != cudaSuccess) {
            cudaGetLastError();
            throw std::bad_alloc();
        }
        used[block] = bytes;
        return static_cast<char *>(block);
    }

    void deallocate(char *block, size_t)
    {
        const auto it = used.find(block);
        unused.emplace(it->second, it->first);
        used.erase(it);
    }

    /* What was cached for another problem would only be in the way of this one. */
    void prepare_for(const struct problem *problem)
    {
        if (problem->n != n || problem->type != type)
            clear();
        n = problem->n;
        type = problem->type;
    }

    /* Gives everything back to the device. */
    void clear()
    {
        for (const auto &[bytes, block] : unused)
            cudaFree(block);
        unused.clear();
    }

  private:
    std::multimap<std::ptrdiff_t, void *> unused;
    std::map<void *, std::ptrdiff_t> used;
    uint64_t n = 0; /* what is cached is of this problem */
    enum element_type type = TYPE_I32;
};

} // namespace SCANBENCH_BACKEND

#endif
