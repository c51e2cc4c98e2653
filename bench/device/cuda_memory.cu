/* cuda_memory: buffers in device memory between guard zones, and host memory for copies. */
#include "cuda_device.cuh"

#include "guard.h"
#include "host_memory.h"

#include <algorithm>
#include <cstdlib>

namespace SCANBENCH_BACKEND
{

/* If the free memory is unknown, allocation will show whether it suffices. */
size_t free_memory_bytes(cuda_device *)
{
    if (!device_runs_asynchronously)
        return read_host_memory("").free_bytes;
    size_t free_bytes = 0, total = 0;
    return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : SIZE_MAX;
}

const char *write_guards(cuda_device *device, const struct buffer *buffer)
{
    unsigned char *data = static_cast<unsigned char *>(buffer->data);
    unsigned char *zones[2] = {data - GUARD_BYTES, data + buffer->bytes};
    cudaError_t error = cudaSuccess;
    for (int z = 0; z < 2 && error == cudaSuccess; z++) {
        if (!device_runs_asynchronously)
            GUARD_UNPOISON(zones[z]);
        error = cudaMemsetAsync(zones[z], GUARD_BYTE, GUARD_BYTES, device->work.stream);
        if (!device_runs_asynchronously)
            GUARD_POISON(zones[z]);
    }
    return error == cudaSuccess ? nullptr : because(device, "cannot write guards", error);
}

const char *allocate(cuda_device *device, size_t bytes, struct buffer *buffer)
{
    unsigned char *base = nullptr;
    cudaError_t error = cudaMalloc(&base, guarded_bytes(bytes));
    if (error != cudaSuccess) {
        cudaGetLastError();
        return because(device, "cannot allocate", error);
    }
    *buffer = {.data = base + GUARD_BYTES, .bytes = bytes, .allocated = bytes};
    describe_buffer(buffer);
    return write_guards(device, buffer);
}

const char *resize(cuda_device *device, struct buffer *buffer, size_t bytes)
{
    if (!device_runs_asynchronously)
        guard_open_rest(buffer);
    buffer->bytes = bytes;
    describe_buffer(buffer);
    const char *why = write_guards(device, buffer);
    if (!device_runs_asynchronously)
        guard_close_rest(buffer);
    return why;
}

void release(cuda_device *, struct buffer *buffer)
{
    if (buffer->data == nullptr)
        return;
    unsigned char *base = static_cast<unsigned char *>(buffer->data) - GUARD_BYTES;
    if (!device_runs_asynchronously) {
        GUARD_UNPOISON(base);
        guard_open_rest(buffer);
    }
    cudaFree(base);
    *buffer = {};
}

const char *read_device(cuda_device *device, void *host, const void *data, size_t bytes)
{
    if (bytes == 0)
        return nullptr;
    const cudaError_t error = cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost);
    return error == cudaSuccess ? nullptr : because(device, "cannot read from the device", error);
}

const char *allocate_host(cuda_device *, size_t bytes, bool pinned, void **memory)
{
    const size_t at_least_one = std::max<size_t>(bytes, 1);
    if (!pinned)
        *memory = malloc(at_least_one);
    else if (cudaHostAlloc(memory, at_least_one, cudaHostAllocDefault) != cudaSuccess)
        *memory = nullptr;
    if (*memory != nullptr)
        return nullptr;
    cudaGetLastError();
    return pinned ? "cannot allocate page-locked memory of the host"
                  : "cannot allocate memory of the host";
}

void release_host(cuda_device *, void *memory, bool pinned)
{
    if (pinned)
        cudaFreeHost(memory);
    else
        free(memory);
}

const char *check_guards(cuda_device *device, const struct buffer *buffer, bool *damaged,
                         struct guard_damage *damage)
{
    unsigned char *data = static_cast<unsigned char *>(buffer->data);
    unsigned char *zones[2] = {data - GUARD_BYTES, data + buffer->bytes};
    for (int z = 0; z < 2; z++) {
        if (!device_runs_asynchronously)
            GUARD_UNPOISON(zones[z]);
        const char *why = read_device(device, device->zones[z], zones[z], GUARD_BYTES);
        if (!device_runs_asynchronously)
            GUARD_POISON(zones[z]);
        if (why != nullptr)
            return why;
    }
    *damaged = guard_damaged(device->zones[0], device->zones[1], buffer->bytes, damage);
    return nullptr;
}

const char *poison(cuda_device *device, const struct buffer *buffer)
{
    if (buffer->bytes == 0)
        return nullptr;
    const cudaError_t error =
        cudaMemsetAsync(buffer->data, POISON_BYTE, buffer->bytes, device->work.stream);
    return error == cudaSuccess ? nullptr : because(device, "cannot poison the output", error);
}

} // namespace SCANBENCH_BACKEND
