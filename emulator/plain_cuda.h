/* plain_cuda.h: what CUDA sources need beyond cuda_runtime.h to run as they are written.
 *
 * bench/own/translate.c rewrites the three things that no header can give a C++ compiler:
 * `<<<>>>` becomes plain_launch(), a __shared__ array becomes a reference to what plain_shared()
 * returns, and an extern __shared__ one what plain_dynamic_shared() returns. The rest is here: the
 * two other dimensions of grids and blocks, and more of the runtime. The scheduler knows one
 * dimension; threadIdx and blockIdx are computed from it when they are read. */
#pragma once

#include "cuda_runtime.h"

#include <algorithm>
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <utility>

inline namespace emulator_cuda
{

/* --- Grids and blocks of up to three dimensions ------------------------------ */

static inline uint3 plain_index(unsigned i, dim3 size)
{
    if (size.y == 1 && size.z == 1)
        return {i, 0, 0};
    return {i % size.x, i / size.x % size.y, i / size.x / size.y};
}

static inline uint3 plain_thread_index(void)
{
    return plain_index(threadIdx.x, blockDim);
}

static inline uint3 plain_block_index(void)
{
    return plain_index(blockIdx.x, gridDim);
}

/* The number of the running thread in its block, and of the block in its grid. */
static inline unsigned plain_thread_rank(void)
{
    return threadIdx.x;
}

static inline unsigned plain_block_rank(void)
{
    return blockIdx.x;
}

/* --- Shared memory ----------------------------------------------------------- */

/* A __shared__ variable of one place in the source and, in a template, of one instance of it. */
struct plain_shared_variable {
    size_t bytes, alignment;
    const char *name, *file;
    int line;
};

/* The block's copy: poisoned when the block begins, with a gap after it that nothing may write. */
void *plain_shared(const plain_shared_variable *variable);

static inline void *plain_dynamic_shared(void)
{
    return emulator_shared_memory();
}

/* An `extern __shared__ T name[]` outside any function. */
template <class T> struct plain_dynamic_array {
    operator T *() const
    {
        return static_cast<T *>(emulator_shared_memory());
    }
    template <class U> explicit operator U *() const
    {
        return static_cast<U *>(emulator_shared_memory());
    }
};

/* --- Launches ------------------------------------------------------------------ */

struct plain_configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    bool cooperative;
    const char *file; /* of the launch */
    int line;
};

static inline plain_configuration plain_configure(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                  cudaStream_t stream = nullptr, EMULATOR_PLACE)
{
    return {grid, block, shared_bytes, stream, false, file, line};
}

/* As std::apply(), whose part in a compiler's errors would be twelve lines. */
template <class Function, class Tuple, size_t... I>
void plain_apply(const Function &function, const Tuple &arguments, std::index_sequence<I...>)
{
    function(std::get<I>(arguments)...);
}

/* What every closure begins with. */
struct plain_closure {
    dim3 grid, block;
    void (*body)(const plain_closure *);
};

cudaError_t plain_submit(const plain_configuration &configuration, const char *name,
                         const void *kernel, plain_closure *closure, size_t closure_bytes);

template <class... P> struct plain_typed_closure : plain_closure {
    void (*kernel)(P...);
    std::tuple<std::decay_t<P>...> arguments;

    plain_typed_closure(void (*kernel)(P...), std::tuple<std::decay_t<P>...> arguments)
        : kernel(kernel), arguments(std::move(arguments))
    {
    }
    static void run(const plain_closure *closure)
    {
        const auto *self = static_cast<const plain_typed_closure *>(closure);
        plain_apply(self->kernel, self->arguments, std::index_sequence_for<P...>());
    }
};

template <class... P>
cudaError_t plain_submit_typed(const plain_configuration &configuration, const char *name,
                               void (*kernel)(P...), std::tuple<std::decay_t<P>...> arguments)
{
    plain_typed_closure<P...> closure(kernel, std::move(arguments));
    closure.body = plain_typed_closure<P...>::run;
    return plain_submit(configuration, name, reinterpret_cast<const void *>(kernel), &closure,
                        sizeof closure);
}

/* Launches a kernel whose type is known: arguments are converted where they are written, as the
 * first thing that a launch does. */
template <class... P> struct plain_typed_launcher {
    plain_configuration configuration;
    const char *name;
    void (*kernel)(P...);

    void operator()(P... arguments) const
    {
        plain_submit_typed(configuration, name, kernel,
                           std::tuple<std::decay_t<P>...>(arguments...));
    }
};

template <class Call, class... A> struct plain_deduced_closure : plain_closure {
    Call call;
    std::tuple<A...> arguments;

    plain_deduced_closure(Call call, A... arguments) : call(call), arguments(arguments...)
    {
    }
    static void run(const plain_closure *closure)
    {
        const auto *self = static_cast<const plain_deduced_closure *>(closure);
        plain_apply(self->call, self->arguments, std::index_sequence_for<A...>());
    }
};

/* Launches a template whose parameters the arguments decide. */
template <class Call> struct plain_deduced_launcher {
    plain_configuration configuration;
    const char *name;
    Call call;

    template <class... A> void operator()(A... arguments) const
    {
        plain_deduced_closure<Call, A...> closure(call, arguments...);
        closure.body = plain_deduced_closure<Call, A...>::run;
        plain_submit(configuration, name, reinterpret_cast<const void *>(closure.body), &closure,
                     sizeof closure);
    }
};

template <class Tag, class... P>
plain_typed_launcher<P...> plain_typed(Tag, plain_configuration configuration, const char *name,
                                       void (*kernel)(P...))
{
    return {configuration, name, kernel};
}

/* For a variable that holds a kernel. */
template <class Tag, class... P>
plain_typed_launcher<P...> plain_typed(Tag, plain_configuration configuration, const char *name,
                                       void (*const *kernel)(P...))
{
    return {configuration, name, *kernel};
}

struct plain_tag {
};

/* Fewer arguments than parameters: the others have defaults, which only a call by name knows. */
template <class Call, class... P> struct plain_defaulting_launcher : plain_typed_launcher<P...> {
    Call call;

    using plain_typed_launcher<P...>::operator();
    template <class... A>
    std::enable_if_t<(sizeof...(A) < sizeof...(P))> operator()(A... arguments) const
    {
        plain_deduced_launcher<Call>{this->configuration, this->name, call}(arguments...);
    }
};

template <class Call, class... P>
plain_defaulting_launcher<Call, P...> plain_with_defaults(plain_typed_launcher<P...> launcher,
                                                          Call call)
{
    return {launcher, call};
}

/* `typed` returns the launcher of a kernel that is one function, and cannot be called with one
 * that is a template. `call` calls the kernel with whatever it is given. */
template <class Typed, class Call>
auto plain_launch(plain_configuration configuration, const char *name, Typed typed, Call call)
{
    if constexpr (std::is_invocable_v<Typed, plain_tag, plain_configuration, const char *>)
        return plain_with_defaults(typed(plain_tag(), configuration, name), call);
    else
        return plain_deduced_launcher<Call>{configuration, name, call};
}

template <class... P, size_t... I>
cudaError_t plain_launch_pointers(const plain_configuration &configuration, void (*kernel)(P...),
                                  void **arguments, std::index_sequence<I...>)
{
    (void)arguments;
    return plain_submit_typed(
        configuration, "kernel", kernel,
        std::tuple<std::decay_t<P>...>(*static_cast<std::decay_t<P> *>(arguments[I])...));
}

template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr, EMULATOR_PLACE)
{
    return plain_launch_pointers({grid, block, shared_bytes, stream, false, file, line}, kernel,
                                 arguments, std::index_sequence_for<P...>());
}

template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr, EMULATOR_PLACE)
{
    return plain_launch_pointers({grid, block, shared_bytes, stream, true, file, line}, kernel,
                                 arguments, std::index_sequence_for<P...>());
}

/* A barrier of all blocks of a cooperative launch. */
void plain_grid_sync(EMULATOR_PLACE);
bool plain_is_cooperative(void);

/* What a launch is. */
struct plain_launch_notice {
    const char *name;
    const void *kernel;
    uint64_t blocks;
    unsigned threads;
    size_t shared_bytes;
};

/* Sets who is called before and after each launch, and the stream that the default stream stands
 * for. The harness does so around a call of the user's function. NULL: nobody; the default stream
 * itself. */
void plain_set_listener(void (*listener)(void *context, const plain_launch_notice *, bool after),
                        void *context, cudaStream_t default_stream);

/* --- More of the runtime -------------------------------------------------------- */

inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;
inline constexpr int cudaCpuDeviceId = -1;

enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte,
};
enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
};

inline constexpr cudaError cudaErrorInvalidDeviceFunction = (cudaError)98,
                           cudaErrorNotReady = (cudaError)600,
                           cudaErrorIllegalAddress = (cudaError)700,
                           cudaErrorLaunchOutOfResources = (cudaError)701,
                           cudaErrorUnknown = (cudaError)999;

cudaError_t cudaPeekAtLastError(void);

/* Whatever is asked of a stream or an event has been done. */
inline constexpr unsigned cudaStreamDefault = 0;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1;

static inline cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}
static inline cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return event ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return cudaEventQuery(event);
}

template <class T>
cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned = cudaMemAttachGlobal)
{
    return cudaMallocHost((void **)pointer, bytes, 0);
}

template <class T> cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t = nullptr)
{
    return cudaMalloc(pointer, bytes);
}

static inline cudaError_t cudaFreeAsync(void *pointer, cudaStream_t)
{
    return cudaFree(pointer);
}

static inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = nullptr)
{
    return cudaSuccess;
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    if (bytes + offset > sizeof(T))
        return cudaMemcpy(nullptr, from, bytes, kind); /* an invalid value */
    return cudaMemcpy((char *)&symbol + offset, from, bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    if (bytes + offset > sizeof(T))
        return cudaMemcpy(to, nullptr, bytes, kind);
    return cudaMemcpy(to, (const char *)&symbol + offset, bytes, kind);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t = nullptr)
{
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t = nullptr)
{
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

template <class T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    *address = (void *)&symbol;
    return cudaSuccess;
}

template <class T> cudaError_t cudaGetSymbolSize(size_t *bytes, const T &)
{
    *bytes = sizeof(T);
    return cudaSuccess;
}

/* Copies and fills of rows that lie `pitch` bytes apart. */
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width_bytes, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemset2D(void *to, size_t pitch, int byte, size_t width_bytes, size_t height);

template <class Kernel> cudaError_t cudaFuncSetCacheConfig(Kernel *, cudaFuncCache)
{
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetSharedMemConfig(Kernel *, cudaSharedMemConfig)
{
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache)
{
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig)
{
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}
static inline cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}
static inline cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

/* The block that fills a multiprocessor with the fewest blocks: the largest, as nothing here is
 * limited by registers. */
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Kernel *kernel,
                                               size_t shared_bytes = 0, int most = 0)
{
    int device = 0, multiprocessors = 0, resident = 0;
    *block = most > 0 ? std::min(most, 1024) : 1024;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, reinterpret_cast<const void *>(kernel), *block, shared_bytes);
    *grid = resident * multiprocessors;
    return error;
}

/* --- More of the device ---------------------------------------------------------- */

static inline int __mul24(int a, int b)
{
    return (int)((unsigned)a * (unsigned)b);
}
static inline unsigned __umul24(unsigned a, unsigned b)
{
    return a * b;
}
static inline float __fdividef(float a, float b)
{
    return a / b;
}
static inline float __expf(float x)
{
    return expf(x);
}
static inline float __logf(float x)
{
    return logf(x);
}
static inline float __powf(float x, float y)
{
    return powf(x, y);
}
static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}
static inline int __float2int_rn(float x)
{
    return (int)nearbyintf(x);
}
static inline float __int2float_rn(int x)
{
    return (float)x;
}
static inline unsigned long long atomicSub(unsigned long long *address, unsigned long long value)
{
    return atomicAdd(address, 0 - value);
}

} // namespace emulator_cuda

/* As functions of these names they would be the scheduler's. */
#define threadIdx (::plain_thread_index())
#define blockIdx (::plain_block_index())

/* From here on the translator reads them. */
#undef __shared__
#undef __global__
#define __managed__
