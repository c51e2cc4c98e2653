/* gpu: what a handle does on a GPU or, compiled for the emulator, in the emulator. */
#include "handle.h"

#include "../kernels/device_limits.cuh"
#include "../kernels/launch.cuh"

#define ALGORITHM(where, op_name) DECLARE_##where(op_name)
#define DECLARE_CPU(op_name)
#define DECLARE_GPU(op_name) \
    extern "C" const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, op_name);
#include "algorithms.def"

namespace SCANBENCH_BACKEND
{

#ifdef __CUDACC__
constexpr enum device_kind KIND = DEVICE_GPU;
#else
constexpr enum device_kind KIND = DEVICE_EMULATOR;
#endif

static const struct algorithm *const algorithms[] = {
#define ALGORITHM(where, op_name) LIST_##where(op_name)
#define LIST_CPU(op_name)
#define LIST_GPU(op_name) &DESCRIPTOR_NAME(SCANBENCH_BACKEND, op_name),
#include "algorithms.def"
};

/* The interface calls a stream void *, for programs that do not include CUDA's headers. */
static cudaStream_t stream_of(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

/* Reports an error of the runtime, and leaves none behind for the caller to find. */
static scanbench_status report(scanbench_handle *handle, const char *what, cudaError_t error)
{
    if (error == cudaSuccess)
        return SCANBENCH_OK;
    cudaGetLastError();
    return refuse(handle, SCANBENCH_ERROR_CUDA, "%s: %s", what, cudaGetErrorString(error));
}

/* Makes the handle's device the current one for a while. */
struct current_device {
    int index, before;
    cudaError_t error;

    explicit current_device(int index) : index(index), before(index)
    {
        error = cudaGetDevice(&before);
        if (error == cudaSuccess && before != index)
            error = cudaSetDevice(index);
    }
    ~current_device()
    {
        if (before != index)
            cudaSetDevice(before);
    }
};

static scanbench_status open_gpu(scanbench_handle *handle, unsigned index)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || index >= (unsigned)count) {
        cudaGetLastError();
        return SCANBENCH_ERROR_NO_DEVICE;
    }
    handle->index = (int)index;
    const current_device current(handle->index);
    cudaDeviceProp properties;
    cudaError_t error = current.error;
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, handle->index);
    if (error == cudaSuccess)
        error = read_limits(handle->index, &handle->limits);
    if (error == cudaSuccess)
        error = cudaMalloc(&handle->own_count, sizeof *handle->own_count);
    if (error == cudaSuccess)
        snprintf(handle->name, sizeof handle->name, "%s", properties.name);
    return report(handle, "cannot use the device", error);
}

static void close_gpu(scanbench_handle *handle)
{
    cudaFree(handle->own_count);
    cudaGetLastError();
}

/* Waits for the zeros, since the calls that rely on them may be made on any stream. */
static scanbench_status allocate(scanbench_handle *handle, size_t bytes, void **memory)
{
    cudaError_t error = cudaMalloc(memory, bytes);
    if (error != cudaSuccess) {
        *memory = nullptr;
        report(handle, "cannot allocate scratch memory", error);
        return SCANBENCH_ERROR_MEMORY;
    }
    error = cudaMemsetAsync(*memory, 0, bytes, cudaStreamPerThread);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(cudaStreamPerThread);
    return report(handle, "cannot clear scratch memory", error);
}

static void release(scanbench_handle *, void *memory)
{
    cudaFree(memory);
    cudaGetLastError();
}

static scanbench_status enter(scanbench_handle *handle, void *stream, bool *capturing)
{
    int current = 0;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    cudaError_t error = cudaGetDevice(&current);
    if (error == cudaSuccess && current != handle->index)
        return refuse(handle, SCANBENCH_ERROR_DEVICE,
                      "the current device is GPU %d: it must be GPU %d, the handle's", current,
                      handle->index);
    if (error == cudaSuccess)
        error = cudaStreamIsCapturing(stream_of(stream), &capture);
    *capturing = capture != cudaStreamCaptureStatusNone;
    return report(handle, "cannot use the stream", error);
}

static const struct algorithm *find(enum operation op, const char *name, enum device_kind)
{
    for (const struct algorithm *algorithm : algorithms)
        if (algorithm->op == op && strcmp(algorithm->name, name) == 0)
            return algorithm;
    return nullptr;
}

static struct resolved choose(const struct problem *problem)
{
    return resolve_choice(problem, find);
}

/* Kernels write to the memory of the device and to page-locked memory of the host. */
static scanbench_status place_count(scanbench_handle *handle, uint64_t *count, uint64_t **place)
{
    cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, count);
    if (error != cudaSuccess)
        return report(handle, "count", error);
    *place = attributes.type == cudaMemoryTypeUnregistered
                 ? handle->own_count
                 : static_cast<uint64_t *>(attributes.devicePointer);
    return SCANBENCH_OK;
}

static scanbench_status copy(scanbench_handle *handle, void *to, const void *from, size_t bytes,
                             void *stream)
{
    return report(handle, "copy",
                  cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream)));
}

/* CUDA does not promise that a copy to pageable memory is complete when it returns. */
static scanbench_status fetch_count(scanbench_handle *handle, uint64_t *count,
                                    const uint64_t *place, void *stream, bool capturing)
{
    const scanbench_status status = copy(handle, count, place, sizeof *count, stream);
    if (status != SCANBENCH_OK || capturing)
        return status;
    return report(handle, "count", cudaStreamSynchronize(stream_of(stream)));
}

static scanbench_status run(scanbench_handle *handle, const struct algorithm *algorithm,
                            struct call *call, bool prepare, void *stream)
{
    struct queue queue = {};
    queue.stream = stream_of(stream);
    call->queue = &queue;
    if (prepare && algorithm->prepare != nullptr)
        algorithm->prepare(call);
    algorithm->run(call);
    if (queue.error[0] == '\0')
        return SCANBENCH_OK;
    cudaGetLastError();
    return refuse(handle, SCANBENCH_ERROR_CUDA, "%s", queue.error);
}

} // namespace SCANBENCH_BACKEND

using namespace SCANBENCH_BACKEND;

extern "C" const struct side DESCRIPTOR_NAME(SCANBENCH_BACKEND, side) = {
    .kind = KIND,
    .open = open_gpu,
    .close = close_gpu,
    .allocate = allocate,
    .release = release,
    .enter = enter,
    .choose = choose,
    .place_count = place_count,
    .fetch_count = fetch_count,
    .copy = copy,
    .run = run,
};
