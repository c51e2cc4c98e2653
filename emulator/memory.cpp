/* memory.cpp: allocates, copies and sets memory, and refuses what is outside of it. */
#include "runtime.h"
#include "sanitizer.h"

#include <algorithm>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

inline namespace emulator_cuda
{

/* Is any stream of the current device being captured? */
static bool device_captures(void)
{
    for (const auto &[complement, extent] : current_device()->streams)
        if (((const emulator_stream *)~complement)->captured)
            return true;
    return false;
}

/* A value from /proc/meminfo, in bytes; 0 if there is none. */
static size_t meminfo_bytes(const char *format)
{
    char line[128];
    size_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = meminfo_bytes("MemAvailable: %zu kB");
    *total_bytes = meminfo_bytes("MemTotal: %zu kB");
    if (!*total_bytes) { /* no /proc: assume that all memory is free */
        *total_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
        *free_bytes = *total_bytes;
    }
    return latch(cudaSuccess);
}

static cudaError_t allocate(void **pointer, size_t bytes, memory_side side)
{
    if (sticky_error())
        return sticky_error();
    *pointer = NULL;
    if (device_captures())
        return latch(cudaErrorStreamCaptureUnsupported);
    if (bytes == 0)
        return cudaSuccess;
    size_t free_bytes, total_bytes;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    *pointer = bytes <= free_bytes ? allocate_guarded(bytes) : NULL;
    if (!*pointer)
        return latch(cudaErrorMemoryAllocation);
    remember(&emulated_device::memory, *pointer, bytes);
    current_device()->memory[~(uintptr_t)*pointer].side = side;
    if (side == SIDE_OF_DEVICE)
        close_new_memory(*pointer, bytes);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, SIDE_OF_DEVICE);
}

/* Works even after a failed kernel, since nothing else would free the memory. */
cudaError_t cudaFree(void *pointer)
{
    if (pointer && !forget(&emulated_device::memory, pointer)) {
        describe_illegal_free();
        return latch(cudaErrorInvalidValue);
    }
    free_guarded(pointer);
    return latch(cudaSuccess);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes, unsigned)
{
    return allocate(pointer, bytes, BOTH_SIDES);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return cudaMallocHost(pointer, bytes, flags);
}

cudaError_t cudaFreeHost(void *pointer)
{
    return cudaFree(pointer);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    if (!host || flags)
        return latch(cudaErrorInvalidValue);
    *device = host;
    return latch(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    const struct emulated_device *device = device_of(&emulated_device::memory, pointer);
    void *address = const_cast<void *>(pointer);
    *attributes = {};
    attributes->type = device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    attributes->device = device ? device->index : -2; /* as in CUDA */
    attributes->devicePointer = device ? address : NULL;
    attributes->hostPointer = device ? NULL : address;
    return latch(cudaSuccess);
}

/* How many bytes of the current device's memory begin at the address; SIZE_MAX: it is the host's,
 * of which nothing is known. */
static size_t bytes_from(const void *address)
{
    for (const auto &[complement, extent] : current_device()->memory) {
        const size_t offset = (uintptr_t)address - ~complement;
        if (offset < extent.allocated)
            return extent.allocated - offset;
    }
    return SIZE_MAX;
}

static bool fits(const char *call, size_t bytes, size_t there)
{
    if (bytes > there)
        describe_illegal_size(call, bytes, there);
    return bytes <= there;
}

static bool copy_fits(const void *to, const void *from, size_t bytes)
{
    return fits("cudaMemcpy", bytes, std::min(bytes_from(to), bytes_from(from)));
}

/* Memory that cudaMalloc() knows nothing of may be a variable of either side. */
static bool is_of(memory_side side, const void *address)
{
    for (const auto &[complement, extent] : current_device()->memory)
        if ((uintptr_t)address - ~complement < extent.allocated)
            return extent.side == side;
    return false;
}

static bool has_direction(const void *to, const void *from, cudaMemcpyKind kind)
{
    static const struct {
        const char *name;
        memory_side never_to, never_from;
    } kinds[] = {
        {"cudaMemcpyHostToHost", SIDE_OF_DEVICE, SIDE_OF_DEVICE},
        {"cudaMemcpyHostToDevice", SIDE_OF_HOST, SIDE_OF_DEVICE},
        {"cudaMemcpyDeviceToHost", SIDE_OF_DEVICE, SIDE_OF_HOST},
        {"cudaMemcpyDeviceToDevice", SIDE_OF_HOST, SIDE_OF_HOST},
    };
    if (kind == cudaMemcpyDefault)
        return true;
    const auto &the_kind = kinds[kind - cudaMemcpyHostToHost];
    const bool wrong_to = is_of(the_kind.never_to, to);
    if (!wrong_to && !is_of(the_kind.never_from, from))
        return true;
    const memory_side wrong_side = wrong_to ? the_kind.never_to : the_kind.never_from;
    describe_copy_direction(the_kind.name, wrong_to, wrong_side == SIDE_OF_HOST);
    return false;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if (sticky_error())
        return sticky_error();
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return latch(cudaErrorInvalidMemcpyDirection);
    if (bytes && (!to || !from || !has_direction(to, from, kind) || !copy_fits(to, from, bytes)))
        return latch(cudaErrorInvalidValue);
    const device_opened opened;
    if (bytes)
        memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
    if (sticky_error())
        return sticky_error();
    if (bytes && (!to || !fits("cudaMemset", bytes, bytes_from(to))))
        return latch(cudaErrorInvalidValue);
    const device_opened opened;
    if (bytes)
        memset(to, byte, bytes);
    return cudaSuccess;
}

cudaError_t emulator_record_copy(cudaStream_t stream, void *to, const void *from, size_t bytes,
                                 cudaMemcpyKind kind)
{
    return record(stream, [=] { return cudaMemcpy(to, from, bytes, kind); });
}

cudaError_t emulator_record_set(cudaStream_t stream, void *to, int byte, size_t bytes)
{
    return record(stream, [=] { return cudaMemset(to, byte, bytes); });
}

} // namespace emulator_cuda

void emulator_describe_memory(void *allocation, const void *data, size_t bytes)
{
    for (struct emulated_device *device : all_devices()) {
        const auto found = device->memory.find(~(uintptr_t)allocation);
        if (found != device->memory.end())
            found->second = {~(uintptr_t)data, bytes, found->second.allocated, SIDE_OF_DEVICE};
    }
}

void emulator_lend_to_host(const void *const arrays[2], bool lent)
{
    for (auto &[complement, extent] : current_device()->memory)
        if ((const void *)~extent.complement == arrays[0] ||
            (const void *)~extent.complement == arrays[1])
            extent.side = lent ? SIDE_OF_HOST : SIDE_OF_DEVICE;
}
