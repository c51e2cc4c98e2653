/* thrust_allocators.cuh: allocators for Thrust's temporary memory. */
#pragma once

#include "../launch.cuh"

#include <cstddef>
#include <map>
#include <new>

namespace SCANBENCH_BACKEND
{

inline char *allocate_on_device(std::ptrdiff_t bytes)
{
    void *block = nullptr;
    if (cudaMalloc(&block, (size_t)bytes) != cudaSuccess) {
        cudaGetLastError();
        throw std::bad_alloc();
    }
    return static_cast<char *>(block);
}

/* Calls cudaMalloc and cudaFree for each request, as Thrust itself does. Thrust's own cudaFree
 * throws out of a destructor when a kernel has failed, which ends the program; this one leaves
 * the error to the next check. */
struct plain_allocator {
    using value_type = char;

    char *allocate(std::ptrdiff_t bytes)
    {
        return allocate_on_device(bytes);
    }

    void deallocate(char *block, size_t)
    {
        cudaFree(block);
    }
};

/* Keeps freed blocks, by size, for the next request of that size, and frees them at the end.
 * For one stream only: a block may be handed out while earlier work still uses it. */
class caching_allocator
{
  public:
    using value_type = char;

    caching_allocator() = default;
    caching_allocator(const caching_allocator &) = delete;
    caching_allocator &operator=(const caching_allocator &) = delete;

    ~caching_allocator()
    {
        for (const auto &[bytes, block] : unused)
            cudaFree(block);
    }

    char *allocate(std::ptrdiff_t bytes)
    {
        const auto free_block = unused.find(bytes);
        char *block = nullptr;
        if (free_block != unused.end()) {
            block = free_block->second;
            unused.erase(free_block);
        } else {
            block = allocate_on_device(bytes);
        }
        used[block] = bytes;
        return block;
    }

    void deallocate(char *block, size_t)
    {
        const auto it = used.find(block);
        unused.emplace(it->second, it->first);
        used.erase(it);
    }

  private:
    std::multimap<std::ptrdiff_t, char *> unused;
    std::map<char *, std::ptrdiff_t> used;
};

} // namespace SCANBENCH_BACKEND
