/* launch.cuh: launches of kernels; included by every kernel file.
 *
 * Kernel files are compiled twice: by nvcc for the GPU, and by a C++ compiler against
 * emulator/cuda_runtime.h. platform.cuh has what differs between the two. */
#pragma once

#include "launch_log.cuh"
#include "operators.cuh"
#include "platform.cuh"
#include "queue.cuh"
#include "with_type.cuh"

/* The descriptor at the end of a kernel file: gpu_NAME or emulated_NAME. */
#define DESCRIPTOR_JOIN(backend, name) backend##_##name
#define DESCRIPTOR_NAME(backend, name) DESCRIPTOR_JOIN(backend, name)
#define ALGORITHM_DESCRIPTOR(name) \
    extern "C" const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, name)
#define ENGINE_DESCRIPTOR(name) \
    extern "C" const struct engine DESCRIPTOR_NAME(SCANBENCH_BACKEND, name)

namespace SCANBENCH_BACKEND
{

/* A block can have 48 KiB of shared memory unless the kernel requests more. It always requests the
 * most there is: what holds for a kernel holds for the launches of other threads as well. */
template <class Kernel> cudaError_t allow_shared_bytes(Kernel *kernel, size_t shared_bytes)
{
    int device = 0, most = 0;
    cudaFuncAttributes attributes = {};
    if (shared_bytes <= 48 * 1024)
        return cudaSuccess;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (error != cudaSuccess)
        return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                most - (int)attributes.sharedSizeBytes);
}

/* Every device with clusters has them of 8 blocks. More must be asked for. */
inline cudaError_t allow_cluster(const void *kernel, uint64_t blocks)
{
    return blocks <= 8
               ? cudaSuccess
               : cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

template <class... Parameters>
void launch_as(queue *queue, const char *name, void (*kernel)(Parameters...), launch_shape shape,
               std::type_identity_t<Parameters>... arguments)
{
    if (queue->error[0] != '\0' || shape.blocks == 0)
        return;
    if (shape.blocks > 0x7FFFFFFF)
        return fail(queue, "launch", "more than 2^31-1 blocks");
    if (!succeeded(queue, "shared memory", allow_shared_bytes(kernel, shape.shared_bytes)))
        return;
    if (shape.cluster &&
        !succeeded(queue, "cluster", allow_cluster((const void *)kernel, shape.blocks)))
        return;
    /* After allow_shared_bytes(), without which the occupancy is unknown. */
    if (queue->log != nullptr)
        record_launch(queue, (const void *)kernel, name, shape);
    if (queue->mark != nullptr)
        queue->mark(queue);
    succeeded(queue, "launch", start_kernel(kernel, name, shape, queue->stream, arguments...));
    if (queue->mark != nullptr)
        queue->mark(queue);
}

/* launch<kernel<T>>(queue, {blocks, threads, traffic, shared_bytes}, arguments...) replaces
 * kernel<T><<<blocks, threads, shared_bytes, stream>>>(arguments...). */
template <auto Kernel, class... Arguments>
void launch(queue *queue, launch_shape shape, Arguments... arguments)
{
    launch_as(queue, __PRETTY_FUNCTION__, Kernel, shape, arguments...);
}

/* The index of this thread in the grid. */
__device__ __forceinline__ uint64_t global_thread()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__host__ __device__ constexpr uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

} // namespace SCANBENCH_BACKEND
