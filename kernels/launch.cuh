/* launch.cuh: launches, shared memory and types, included by every kernel file.
 *
 * Kernel files are compiled twice: by nvcc for the GPU, and by a C++ compiler against
 * emulator/cuda_runtime.h. Only this header knows the difference. */
#ifndef SCANBENCH_KERNELS_LAUNCH_CUH
#define SCANBENCH_KERNELS_LAUNCH_CUH

#include "../bench/algorithm.h"
#include "../bench/launch_log.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
inline constexpr bool device_runs_asynchronously = true;

/* Must be called in each turn of a loop that waits for another thread. In the emulator it lets
 * other threads run; on a GPU they run anyway. */
__device__ __forceinline__ void spin_wait()
{
}
#endif

/* In a kernel that is launched with `overlaps`: waits until the launch before has ended. Every
 * thread must call it before it reads or writes global memory, and before it ends. */
__device__ __forceinline__ void wait_for_launch_before()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next launch begin, if it overlaps, as soon as blocks of this one leave it room. */
__device__ __forceinline__ void let_next_launch_begin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* The descriptor at the end of a kernel file: gpu_NAME or emulated_NAME. */
#define DESCRIPTOR_JOIN(backend, name) backend##_##name
#define DESCRIPTOR_NAME(backend, name) DESCRIPTOR_JOIN(backend, name)
#define ALGORITHM_DESCRIPTOR(name) \
    extern "C" const struct algorithm DESCRIPTOR_NAME(SCANBENCH_BACKEND, name)
#define ENGINE_DESCRIPTOR(name) \
    extern "C" const struct engine DESCRIPTOR_NAME(SCANBENCH_BACKEND, name)

namespace SCANBENCH_BACKEND
{

/* Where an algorithm's work goes. The first error is kept here, and later launches are dropped,
 * so an algorithm neither needs to check for errors nor can ignore one. */
struct queue {
    cudaStream_t stream;
    int device;
    char error[256];        /* empty: no error so far */
    struct launch_log *log; /* NULL: launches are not recorded */
    /* A kernel has asked the L2 to keep lines that it read. Such lines survive a flush, and
     * would still be there in a cold sample. */
    bool lines_kept;
    /* NULL, or called right before and right after each launch to time it. */
    void (*mark)(struct queue *);
};

inline queue *queue_of(const struct call *call)
{
    return static_cast<queue *>(call->queue);
}

inline void fail(queue *queue, const char *what, const char *reason)
{
    if (queue->error[0] == '\0')
        snprintf(queue->error, sizeof queue->error, "%s: %s", what, reason);
}

/* Keeps the first error of the runtime calls. Returns false on an error. */
inline bool succeeded(queue *queue, const char *what, cudaError_t error)
{
    if (error == cudaSuccess)
        return true;
    fail(queue, what, cudaGetErrorString(error));
    return false;
}

/* Has the device what came with sm_90: bulk copies, clusters, and launches that overlap? */
inline bool has_sm_90(const struct device_limits *device)
{
    return device->compute_capability >= 90;
}

/* The shape of a launch. With more blocks than a grid can have, the launch fails with that
 * reason. With no blocks, nothing is launched. */
struct launch_shape {
    uint64_t blocks;
    unsigned threads;
    struct launch_traffic traffic = {};
    size_t shared_bytes = 0;
    bool cooperative = false; /* all blocks must be resident at once, or the launch fails */
    /* For devices with has_sm_90(): */
    bool overlaps = false; /* may begin before the launch before has ended */
    bool cluster = false;  /* all blocks are one cluster */
};

/* Extracts "hillis_steele_step_kernel" from the compiler's spelling of launch<kernel<T>>. */
inline void kernel_name(const char *pretty_function, char *name, size_t size)
{
    const char *start = strstr(pretty_function, "Kernel = ");
    start = start ? start + strlen("Kernel = ") : pretty_function;
    const char *end = start + strcspn(start, "<;]");
    for (const char *p = start; p < end; p++)
        if (*p == ':' || *p == '(' || *p == '&')
            start = p + 1;
    snprintf(name, size, "%.*s", (int)strcspn(start, "<;])"), start);
}

inline void record_launch(queue *queue, const void *kernel, const char *name, launch_shape shape)
{
    struct launch_log *log = queue->log;
    if (log->count++ >= LAUNCH_LOG_RECORDS)
        return;
    struct launch_record *record = &log->record[log->count - 1];
    kernel_name(name, record->kernel, sizeof record->kernel);
    record->blocks = shape.blocks;
    record->threads = shape.threads;
    record->traffic = shape.traffic;
    record->dynamic_shared_bytes = shape.shared_bytes;

    cudaFuncAttributes attributes;
    int resident = 0, device = 0, threads = 0;
    if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess) {
        record->registers = attributes.numRegs;
        record->static_shared_bytes = attributes.sharedSizeBytes;
    }
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)shape.threads,
                                                      shape.shared_bytes) == cudaSuccess &&
        cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device) ==
            cudaSuccess &&
        threads > 0)
        record->occupancy_pct = 100.0 * resident * (int)shape.threads / threads;
}

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
    cudaError_t error = cudaSuccess;
#ifdef __CUDACC__
    if (blocks > 8)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
#else
    (void)kernel, (void)blocks;
#endif
    return error;
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
#ifdef __CUDACC__
    void *pointers[] = {(void *)&arguments..., nullptr};
    cudaLaunchAttribute attributes[3] = {};
    unsigned count = 0;
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = shape.cooperative;
    if (shape.overlaps) {
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cluster) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count++].val.clusterDim = {(unsigned)shape.blocks, 1, 1};
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = queue->stream;
    config.attrs = attributes;
    config.numAttrs = count;
    const cudaError_t error = cudaLaunchKernelExC(&config, (const void *)kernel, pointers);
#else
    char short_name[64];
    kernel_name(name, short_name, sizeof short_name);
    const enum emulator_residency resident = shape.cluster       ? EMULATOR_ONE_CLUSTER
                                             : shape.cooperative ? EMULATOR_ALL_RESIDENT
                                                                 : EMULATOR_IN_TURN;
    const cudaError_t error =
        emulator_launch(kernel, short_name, (unsigned)shape.blocks, shape.threads,
                        shape.shared_bytes, resident, queue->stream, arguments...);
#endif
    succeeded(queue, "launch", error);
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

/* The block's dynamic shared memory, as a Layout or an array of Layout. */
template <class Layout> __device__ __forceinline__ Layout *shared_memory()
{
#ifdef __CUDACC__
    extern __shared__ __align__(128) unsigned char dynamic_shared_memory[];
    return reinterpret_cast<Layout *>(dynamic_shared_memory);
#else
    return static_cast<Layout *>(emulator_shared_memory());
#endif
}

/* Bytes of the narrowest element that an operation takes; kernels are not compiled for narrower
 * ones. */
constexpr size_t least_bytes(enum operation op)
{
    switch (op) {
#define OPERATION(NAME, name, PROPERTIES, LEAST_BYTES, ...) \
    case OP_##NAME:                                         \
        return LEAST_BYTES;
#include "../bench/operations.def"
#undef OPERATION
    default:
        return 0;
    }
}

/* Calls f with a zero of the type in which elements are summed. */
template <enum operation OP = OP_SCAN, class Function>
void with_sum_type(enum element_type type, Function f)
{
    switch (type) {
#define TYPE(NAME, name, T, SUM, ...)               \
    case TYPE_##NAME:                               \
        if constexpr (sizeof(T) >= least_bytes(OP)) \
            f(SUM{});                               \
        break;
#include "../bench/types.def"
#undef TYPE
    default:
        break;
    }
}

/* Calls f with a zero of the element type itself, for algorithms that order elements. */
template <enum operation OP = OP_SORT, class Function>
void with_element_type(enum element_type type, Function f)
{
    switch (type) {
#define TYPE(NAME, name, T, ...)                    \
    case TYPE_##NAME:                               \
        if constexpr (sizeof(T) >= least_bytes(OP)) \
            f(T{});                                 \
        break;
#include "../bench/types.def"
#undef TYPE
    default:
        break;
    }
}

/* Calls f with the block size as a compile-time constant, so that loops over the levels of a
 * tile unroll. */
template <class Function> void with_block(unsigned block, Function f)
{
    switch (block) {
    case 32:
        return f(std::integral_constant<unsigned, 32>{});
    case 64:
        return f(std::integral_constant<unsigned, 64>{});
    case 128:
        return f(std::integral_constant<unsigned, 128>{});
    case 256:
        return f(std::integral_constant<unsigned, 256>{});
    case 512:
        return f(std::integral_constant<unsigned, 512>{});
    default:
        return f(std::integral_constant<unsigned, 1024>{});
    }
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

#endif
