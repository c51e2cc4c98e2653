/* runtime.cpp: the host side of the runtime: errors, memory, events, devices. */
#include "scheduler.h"

#include <algorithm>
#include <functional>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <time.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

inline namespace emulator_cuda
{

/* --- Errors ----------------------------------------------------------------- */

/* The host thread's last error, on any device; cleared when read. */
static cudaError_t last_error = cudaSuccess;

static cudaError_t sticky_error(void)
{
    return current_device()->sticky_error;
}

static cudaError_t latch(cudaError_t error)
{
    if (sticky_error())
        return sticky_error();
    if (error)
        last_error = error;
    return error;
}

/* For sources of the user's: see plain_cuda.h. */
cudaError_t cudaPeekAtLastError(void)
{
    return sticky_error() ? sticky_error() : last_error;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} error_table[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize",
     "an invalid cluster size was requested"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &row : error_table)
        if (row.error == error)
            return row.name;
    return "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &row : error_table)
        if (row.error == error)
            return row.text;
    return "unknown error";
}

/* --- A device's objects ---------------------------------------------------- */

using objects = std::unordered_map<uintptr_t, struct extent>;

/* Adds the object to the current device. */
static void remember(objects emulated_device::*set, const void *object, size_t bytes = 0)
{
    (current_device()->*set)[~(uintptr_t)object] = {~(uintptr_t)object, bytes, bytes};
}

/* Removes the object from its device. Returns false if no device has it. */
static bool forget(objects emulated_device::*set, const void *object)
{
    for (struct emulated_device *device : all_devices())
        if ((device->*set).erase(~(uintptr_t)object) == 1)
            return true;
    return false;
}

/* The device that owns an object; NULL: none. */
static const struct emulated_device *device_of(objects emulated_device::*set, const void *object)
{
    for (const struct emulated_device *device : all_devices())
        if ((device->*set).count(~(uintptr_t)object) == 1)
            return device;
    return NULL;
}

/* The device of a stream; for the default stream, the current device. */
static const struct emulated_device *device_of_stream(cudaStream_t stream)
{
    return stream ? device_of(&emulated_device::streams, stream) : current_device();
}

/* --- Graphs ----------------------------------------------------------------- */

struct emulator_graph {
    std::vector<std::function<cudaError_t()>> steps;
};

struct emulator_executable {
    emulator_graph graph;
};

struct emulator_stream {
    unsigned flags;
    emulator_graph *captured; /* NULL: nothing is being captured */
};

bool emulator_captures(cudaStream_t stream)
{
    return stream && device_of_stream(stream) && stream->captured;
}

/* Is any stream of the current device being captured? */
static bool device_captures(void)
{
    for (const auto &[complement, extent] : current_device()->streams)
        if (((const emulator_stream *)~complement)->captured)
            return true;
    return false;
}

static cudaError_t record(cudaStream_t stream, std::function<cudaError_t()> step)
{
    stream->captured->steps.push_back(std::move(step));
    return latch(cudaSuccess);
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

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    if (!stream || !device_of_stream(stream))
        return latch(stream ? cudaErrorInvalidResourceHandle : cudaErrorStreamCaptureUnsupported);
    if (stream->captured)
        return latch(cudaErrorIllegalState);
    stream->captured = new emulator_graph();
    return latch(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (!emulator_captures(stream))
        return latch(cudaErrorIllegalState);
    *graph = stream->captured;
    stream->captured = NULL;
    return latch(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    if (!device_of_stream(stream))
        return latch(cudaErrorInvalidResourceHandle);
    *status =
        emulator_captures(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return latch(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long)
{
    if (!graph)
        return latch(cudaErrorInvalidValue);
    *executable = new emulator_executable{*graph};
    return latch(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    if (!executable || !device_of_stream(stream))
        return latch(cudaErrorInvalidValue);
    for (const auto &step : executable->graph.steps)
        if (const cudaError_t error = step())
            return error;
    return latch(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return latch(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete executable;
    return latch(cudaSuccess);
}

/* --- Launching -------------------------------------------------------------- */

static size_t shared_limit(const void *kernel)
{
    const auto &shared_limits = current_device()->shared_limits;
    const auto raised = shared_limits.find(kernel);
    return (size_t)(raised == shared_limits.end() ? EMULATOR_SHARED_BYTES : raised->second);
}

/* In the emulator only threads, blocks and shared memory are limited. */
unsigned blocks_per_multiprocessor(unsigned block, size_t shared_bytes)
{
    const unsigned warps = (block + EMULATOR_WARP_SIZE - 1) / EMULATOR_WARP_SIZE;
    const unsigned by_threads = EMULATOR_THREADS_PER_MULTIPROCESSOR / (warps * EMULATOR_WARP_SIZE);
    const size_t by_shared =
        EMULATOR_SHARED_BYTES_PER_MULTIPROCESSOR / (shared_bytes + EMULATOR_SHARED_BYTES_RESERVED);
    return (unsigned)std::min(
        {(size_t)by_threads, by_shared, (size_t)EMULATOR_BLOCKS_PER_MULTIPROCESSOR});
}

uint64_t blocks_per_device(unsigned block, size_t shared_bytes)
{
    return (uint64_t)current_device()->multiprocessors *
           blocks_per_multiprocessor(block, shared_bytes);
}

static cudaError_t check_launch(const struct emulator_launch_request *request, char *text,
                                size_t text_bytes)
{
    const uint64_t grid = request->grid;
    const size_t limit = shared_limit(request->kernel);
    if (current_launch.running) {
        snprintf(text, text_bytes, "a kernel cannot launch another");
        return cudaErrorNotSupported;
    }
    if (device_of_stream(request->stream) != current_device()) {
        snprintf(text, text_bytes, "its stream is not the current device's");
        return cudaErrorInvalidResourceHandle;
    }
    if (grid < 1 || grid > INT_MAX) {
        snprintf(text, text_bytes, "%llu blocks, where 1 to %d are allowed",
                 (unsigned long long)grid, INT_MAX);
        return cudaErrorInvalidConfiguration;
    }
    if (request->block < 1 || request->block > EMULATOR_MAX_BLOCK) {
        snprintf(text, text_bytes, "%u threads per block, where 1 to %d are allowed",
                 request->block, EMULATOR_MAX_BLOCK);
        return cudaErrorInvalidConfiguration;
    }
    if (request->shared_bytes > limit) {
        snprintf(text, text_bytes, "%zu bytes of shared memory, where %zu are allowed",
                 request->shared_bytes, limit);
        return cudaErrorInvalidValue;
    }
    const uint64_t held = blocks_per_device(request->block, request->shared_bytes);
    if (request->residency == EMULATOR_ALL_RESIDENT && grid > held) {
        snprintf(text, text_bytes, "%llu cooperative blocks, where the device holds %llu",
                 (unsigned long long)grid, (unsigned long long)held);
        return cudaErrorCooperativeLaunchTooLarge;
    }
    const uint64_t in_cluster = std::min<uint64_t>(held, EMULATOR_CLUSTER_BLOCKS);
    if (request->residency == EMULATOR_ONE_CLUSTER && grid > in_cluster) {
        snprintf(text, text_bytes, "%llu blocks in a cluster, where %llu are possible",
                 (unsigned long long)grid, (unsigned long long)in_cluster);
        return cudaErrorInvalidClusterSize;
    }
    return cudaSuccess;
}

static cudaError_t check_and_run(const emulator_launch_request *request)
{
    if (sticky_error())
        return sticky_error();
    char text[128];
    const cudaError_t error = check_launch(request, text, sizeof text);
    if (error) {
        describe_illegal_launch(request->name, text);
        return latch(error);
    }
    if (current_watch() && current_watch()->own_streams_only && !request->stream) {
        describe_default_stream(request->name);
        return latch(cudaErrorInvalidResourceHandle);
    }
    if (!emulator_run(request) || !memory_guards_hold(request->name))
        current_device()->sticky_error = cudaErrorLaunchFailure;
    return sticky_error();
}

/* The name and the arguments may be gone when the graph is launched. */
static cudaError_t record_launch(const emulator_launch_request *request)
{
    const auto *closure = static_cast<const unsigned char *>(request->closure);
    const std::vector<unsigned char> copy(closure, closure + request->closure_bytes);
    return record(request->stream, [copy, again = *request, name = std::string(request->name)] {
        emulator_launch_request launch = again;
        launch.name = name.c_str();
        launch.closure = copy.data();
        return check_and_run(&launch);
    });
}

cudaError_t emulator_submit(const emulator_launch_request *request)
{
    return emulator_captures(request->stream) ? record_launch(request) : check_and_run(request);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
        return latch(cudaSuccess);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        (unsigned)value > current_device()->shared_bytes)
        return latch(cudaErrorInvalidValue);
    current_device()->shared_limits[kernel] = value;
    return latch(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
    *attributes = {};
    attributes->ptxVersion = 90;
    return latch(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block, size_t shared_bytes)
{
    if (block < 1)
        return latch(cudaErrorInvalidValue);
    const bool fits = block <= EMULATOR_MAX_BLOCK && shared_bytes <= shared_limit(kernel);
    *blocks = fits ? (int)blocks_per_multiprocessor((unsigned)block, shared_bytes) : 0;
    return latch(cudaSuccess);
}

/* --- Memory ----------------------------------------------------------------- */

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

cudaError_t cudaMalloc(void **pointer, size_t bytes)
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
    return cudaSuccess;
}

/* Works even after a failed kernel, since nothing else would free the memory. */
cudaError_t cudaFree(void *pointer)
{
    if (pointer && !forget(&emulated_device::memory, pointer))
        return latch(cudaErrorInvalidValue);
    free_guarded(pointer);
    return latch(cudaSuccess);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes, unsigned)
{
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned)
{
    return cudaMalloc(pointer, bytes);
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

static bool copy_fits(const void *to, const void *from, size_t bytes)
{
    const size_t there = std::min(bytes_from(to), bytes_from(from));
    if (bytes > there)
        describe_illegal_copy(bytes, there);
    return bytes <= there;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if (sticky_error())
        return sticky_error();
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return latch(cudaErrorInvalidMemcpyDirection);
    if (bytes && (!to || !from || !copy_fits(to, from, bytes)))
        return latch(cudaErrorInvalidValue);
    if (bytes)
        memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
    if (sticky_error())
        return sticky_error();
    if (bytes && !to)
        return latch(cudaErrorInvalidValue);
    if (bytes)
        memset(to, byte, bytes);
    return cudaSuccess;
}

/* --- Streams and events ----------------------------------------------------- */

struct emulator_event {
    bool recorded;
    int64_t time_ns;
};

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new emulator_stream{flags, NULL};
    remember(&emulated_device::streams, *stream);
    return latch(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream || !forget(&emulated_device::streams, stream))
        return latch(cudaErrorInvalidResourceHandle);
    delete stream->captured;
    delete stream;
    return latch(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const struct emulated_device *device = device_of_stream(stream);
    if (!device)
        return latch(cudaErrorInvalidResourceHandle);
    if (emulator_captures(stream))
        return latch(cudaErrorStreamCaptureUnsupported);
    return device->sticky_error ? device->sticky_error : latch(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new emulator_event{false, 0};
    remember(&emulated_device::events, *event);
    return latch(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event || !forget(&emulated_device::events, event))
        return latch(cudaErrorInvalidResourceHandle);
    delete event;
    return latch(cudaSuccess);
}

static const struct emulated_device *device_of_event(cudaEvent_t event)
{
    return device_of(&emulated_device::events, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (!event || device_of_event(event) != device_of_stream(stream))
        return latch(cudaErrorInvalidResourceHandle);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->time_ns = now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
    event->recorded = true;
    return latch(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    if (!start || !stop || !start->recorded || !stop->recorded ||
        device_of_event(start) != device_of_event(stop))
        return latch(cudaErrorInvalidResourceHandle);
    *ms = (float)((double)(stop->time_ns - start->time_ns) * 1e-6);
    return latch(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void)
{
    return latch(cudaSuccess);
}

template <class T, class Function> static void take_all(objects *set, Function give_back)
{
    for (const auto &[complement, extent] : *set)
        give_back((T *)~complement);
    set->clear();
}

cudaError_t cudaDeviceReset(void)
{
    struct emulated_device *device = current_device();
    take_all<void>(&device->memory, free_guarded);
    take_all<emulator_stream>(&device->streams, [](emulator_stream *stream) { delete stream; });
    take_all<emulator_event>(&device->events, [](emulator_event *event) { delete event; });
    device->shared_limits.clear();
    device->peers.clear();
    emulator_reset();
    return cudaSuccess;
}

} // namespace emulator_cuda

void emulator_describe_memory(void *allocation, const void *data, size_t bytes)
{
    for (struct emulated_device *device : all_devices()) {
        const auto found = device->memory.find(~(uintptr_t)allocation);
        if (found != device->memory.end())
            found->second = {~(uintptr_t)data, bytes, found->second.allocated};
    }
}

void emulator_reset(void)
{
    using namespace emulator_cuda;
    current_device()->sticky_error = last_error = cudaSuccess;
    clear_failure();
}
