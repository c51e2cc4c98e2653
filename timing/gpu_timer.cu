/* gpu_timer: events, the kernel that holds the stream, and the kernel that sweeps the L2. */
#include "gpu_timer.cuh"

#include <atomic>

namespace SCANBENCH_BACKEND
{

static __global__ void hold_kernel(const volatile unsigned *release, unsigned turn)
{
    uint64_t now, start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (*release != turn && now - start < HOLD_LIMIT_MS * 1000000ull);
}

/* Reads every line. The compiler cannot rule out the store, but it never happens. */
static __global__ void sweep_kernel(const uint4 *buffer, size_t count, unsigned *never)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        const uint4 v = buffer[i];
        sum |= v.x | v.y | v.z | v.w;
    }
    if (sum != 0)
        *never = sum;
}

cudaError_t open_timer(gpu_timer *timer, cudaStream_t stream, size_t cache_bytes)
{
    *timer = gpu_timer{};
    timer->stream = stream;
    timer->sweep_bytes = 4 * cache_bytes;
    cudaError_t error = cudaHostAlloc(&timer->release, sizeof *timer->release, cudaHostAllocMapped);
    if (error == cudaSuccess) {
        *timer->release = 0;
        error = cudaHostGetDevicePointer(&timer->d_release, timer->release, 0);
    }
    if (error == cudaSuccess)
        error = cudaMalloc(&timer->sweep, timer->sweep_bytes);
    if (error == cudaSuccess)
        error = cudaMemset(timer->sweep, 0, timer->sweep_bytes);
    return error == cudaSuccess ? create_events(timer) : error;
}

void close_timer(gpu_timer *timer)
{
    cudaFree(timer->sweep);
    if (timer->release)
        cudaFreeHost(timer->release);
    destroy_events(timer);
    *timer = gpu_timer{};
}

cudaError_t set_cache_state(gpu_timer *timer, enum cache_state state)
{
    if (state == CACHE_DIRTY)
        return cudaMemsetAsync(timer->sweep, 0, timer->sweep_bytes, timer->stream);
    if (state != CACHE_COLD)
        return cudaSuccess;
    const unsigned char *buffer = timer->sweep;
    size_t count = timer->sweep_bytes / sizeof(uint4);
    void *arguments[] = {&buffer, &count, &timer->sweep};
    return cudaLaunchKernel(sweep_kernel, 2048, 256, arguments, 0, timer->stream);
}

cudaError_t forget_kept_lines(void)
{
    return cudaCtxResetPersistingL2Cache();
}

cudaError_t hold_stream(gpu_timer *timer)
{
    timer->turn++;
    void *arguments[] = {&timer->d_release, &timer->turn};
    return cudaLaunchKernel(hold_kernel, 1, 1, arguments, 0, timer->stream);
}

void let_go(gpu_timer *timer)
{
    std::atomic_ref<unsigned>(*timer->release).store(timer->turn, std::memory_order_release);
}

} // namespace SCANBENCH_BACKEND
