/* cuda_runtime.h: the part of the CUDA runtime that our kernels use, on the CPU.
 *
 * Kernels compiled by a plain C++ compiler include this file instead of NVIDIA's. All names are
 * global, as there, but lie in an inline namespace, so that one binary can hold both this and
 * the real runtime. For the same reason nothing here is extern "C".
 *
 * Launches, copies and events are complete when the call returns. The extra functions of
 * emulator.h are for the harness. */
#pragma once

#include "device_functions.h"
#include "ptx.h"
#include "vector_types.h"

#include <stddef.h>
#include <stdint.h>
#include <tuple>
#include <type_traits>

#define CUDART_VERSION 13000
#define CUDART_CB

inline namespace emulator_cuda
{

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorPeerAccessUnsupported = 217,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorInvalidClusterSize = 912,
    cudaErrorIllegalState = 401,
};
typedef enum cudaError cudaError_t;

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);

/* --- Launching -------------------------------------------------------------- */

typedef struct emulator_stream *cudaStream_t;
typedef struct emulator_event *cudaEvent_t;
inline constexpr cudaStream_t cudaStreamLegacy = nullptr, cudaStreamPerThread = nullptr;

/* Which blocks of a launch are resident together. */
enum emulator_residency {
    EMULATOR_IN_TURN,      /* as many as fit */
    EMULATOR_ALL_RESIDENT, /* all: a cooperative launch */
    EMULATOR_ONE_CLUSTER,  /* all, which can also store in each other's shared memory */
};
enum { EMULATOR_CLUSTER_BLOCKS = 16 };

struct emulator_launch_request {
    const void *kernel;
    const char *name;
    uint64_t grid; /* blocks */
    unsigned block;
    size_t shared_bytes;
    enum emulator_residency residency;
    void (*run)(const void *closure); /* runs one thread from beginning to end */
    const void *closure;
    size_t closure_bytes;
    cudaStream_t stream;
    const char *file; /* of the launch; NULL: not known */
    int line;
    const char *illegal; /* what else is wrong with its shape; NULL: nothing */
};

/* Checks the request as CUDA does, and runs it to completion. While a graph captures the stream,
 * what is enqueued there is not done but recorded: a step of the graph, done each time that is
 * launched. */
cudaError_t emulator_submit(const emulator_launch_request *request);
bool emulator_captures(cudaStream_t stream);

template <class... P> struct emulator_closure {
    void (*kernel)(P...);
    std::tuple<P...> arguments;

    static void run(const void *closure)
    {
        const auto *self = static_cast<const emulator_closure *>(closure);
        std::apply(self->kernel, self->arguments);
    }
};

/* kernel<<<grid, block, shared_bytes, stream>>>(arguments...). */
template <class... P, class... A>
cudaError_t emulator_launch(void (*kernel)(P...), const char *name, uint64_t grid, unsigned block,
                            size_t shared_bytes, enum emulator_residency residency,
                            cudaStream_t stream, A &&...arguments)
{
    static_assert(sizeof...(P) == sizeof...(A), "as many arguments as the kernel has parameters");
    static_assert((std::is_trivially_copyable_v<P> && ...), "a graph copies the arguments' bytes");
    const emulator_closure<P...> closure = {kernel, std::tuple<P...>(static_cast<P>(arguments)...)};
    const emulator_launch_request request = {reinterpret_cast<const void *>(kernel),
                                             name,
                                             grid,
                                             block,
                                             shared_bytes,
                                             residency,
                                             emulator_closure<P...>::run,
                                             &closure,
                                             sizeof closure,
                                             stream,
                                             nullptr,
                                             0};
    return emulator_submit(&request);
}

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    int numRegs, ptxVersion;
};

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block, size_t shared_bytes);

/* The emulator reads none of these: clusters have EMULATOR_CLUSTER_BLOCKS at most. */
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
};

template <class... P>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, void (*)(P...),
                                                 const cudaLaunchConfig_t *)
{
    *blocks = EMULATOR_CLUSTER_BLOCKS;
    return cudaSuccess;
}

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}

template <class... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}

template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                          int block, size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks, reinterpret_cast<const void *>(kernel), block, shared_bytes);
}

/* --- Memory ----------------------------------------------------------------- */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};

inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1,
                          cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4;

/* Allocates exactly `bytes` bytes, aligned to 256 bytes and filled with poison. */
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t bytes, unsigned flags = 0);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *to, int byte, size_t bytes);

cudaError_t emulator_record_copy(cudaStream_t stream, void *to, const void *from, size_t bytes,
                                 cudaMemcpyKind kind);
cudaError_t emulator_record_set(cudaStream_t stream, void *to, int byte, size_t bytes);

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                          cudaMemcpyKind kind, cudaStream_t stream = nullptr)
{
    return emulator_captures(stream) ? emulator_record_copy(stream, to, from, bytes, kind)
                                     : cudaMemcpy(to, from, bytes, kind);
}

static inline cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes,
                                          cudaStream_t stream = nullptr)
{
    return emulator_captures(stream) ? emulator_record_set(stream, to, byte, bytes)
                                     : cudaMemset(to, byte, bytes);
}

enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged,
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

/* Knows the beginnings of device memory; all other memory is unregistered. */
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);

template <class T> cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}

template <class T> cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = 0)
{
    return cudaMallocHost(reinterpret_cast<void **>(pointer), bytes, flags);
}

template <class T> cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned flags)
{
    return cudaHostAlloc(reinterpret_cast<void **>(pointer), bytes, flags);
}

template <class T> cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags)
{
    return cudaHostGetDevicePointer(reinterpret_cast<void **>(device), host, flags);
}

/* --- Streams and events ----------------------------------------------------- */

inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop);

static inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return cudaEventCreate(event);
}

/* What was queued before the event is done. */
static inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0)
{
    return cudaSuccess;
}

/* --- Graphs ----------------------------------------------------------------- */

typedef struct emulator_graph *cudaGraph_t;
typedef struct emulator_executable *cudaGraphExec_t;

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed,
};

enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated,
};

/* Meanwhile nothing can be allocated on the stream's device, and the stream not be waited for. */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

/* --- The device ------------------------------------------------------------- */

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int major, minor, multiProcessorCount;
    /* For sources of the user's, which may ask for these: */
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
    int warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int maxThreadsDim[3], maxGridSize[3];
    int regsPerBlock, regsPerMultiprocessor, l2CacheSize, concurrentKernels, cooperativeLaunch;
};

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other);
cudaError_t cudaDeviceEnablePeerAccess(int other, unsigned flags);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaRuntimeGetVersion(int *version);

} // namespace emulator_cuda
