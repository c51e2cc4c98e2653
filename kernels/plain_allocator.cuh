/* plain_allocator.cuh: device memory as Thrust allocates it by default, but for errors. */
#ifndef SCANBENCH_KERNELS_PLAIN_ALLOCATOR_CUH
#define SCANBENCH_KERNELS_PLAIN_ALLOCATOR_CUH

#include "launch.cuh"

#include <cstddef>
#include <new>

namespace SCANBENCH_BACKEND
{

/* cudaMalloc and cudaFree for each request, as Thrust itself calls them. Its own
 * cudaFree throws out of a destructor when a kernel has failed, which ends the program;
 * this one leaves the error to whoever looks next. */
struct plain_allocator {
    using value_type = char;

    char *allocate(std::ptrdiff_t bytes)
    {
        void *block = nullptr;
        if (cudaMalloc(&block, (size_t)bytes) != cudaSuccess) {
            cudaGetLastError();
            throw std::bad_alloc();
        }
        return static_cast<char *>(block);
    }

    void deallocate(char *block, size_t)
    {
        cudaFree(block);
    }
};

} // namespace SCANBENCH_BACKEND

#endif
