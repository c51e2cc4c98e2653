// expect: 2 passed
// The calls of the runtime that such files make around their kernels.
#include <assert.h>
#include <cuda_profiler_api.h>
#include <scanbench_own.h>
#include <stdlib.h>

#define CHECK(call)                     \
    do {                                \
        if ((call) != cudaSuccess)      \
            return cudaPeekAtLastError(); \
    } while (0)

__device__ int device_total;

__global__ void one_thread(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
    device_total = sum;
}

cudaError_t scan(int *out, int n, const int *in)
{
    cudaDeviceProp properties;
    cudaEvent_t start, stop;
    cudaStream_t stream;
    float ms = -1;
    int devices = 0, most = 0, grid = 0, block = 0, total = 0, *pinned, *managed;
    void *address = nullptr;
    size_t bytes = 0, free_bytes = 0;

    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaGetDeviceProperties(&properties, 0));
    assert(devices > 0 && properties.warpSize == 32 && properties.maxThreadsDim[1] >= 32);
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    assert((size_t)most == properties.sharedMemPerBlock);
    CHECK(cudaMemGetInfo(&free_bytes, &bytes));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, one_thread, 0, 0));
    CHECK(cudaFuncSetCacheConfig(one_thread, cudaFuncCachePreferShared));
    CHECK(cudaProfilerStart());

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
    CHECK(cudaEventCreateWithFlags(&start, cudaEventDefault));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMallocManaged(&managed, n * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK(cudaMallocAsync(&address, 16, stream));
    CHECK(cudaFreeAsync(address, stream));
    CHECK(cudaMemcpyAsync(managed, in, n * sizeof(int), cudaMemcpyDefault, stream));
    CHECK(cudaEventRecord(start, stream));
    one_thread<<<1, 1, 0, stream>>>(managed, out, n);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaStreamWaitEvent(0, stop, 0));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaStreamQuery(stream));
    CHECK(cudaMemcpyFromSymbol(&total, device_total, sizeof total));
    CHECK(cudaGetSymbolAddress(&address, device_total));
    CHECK(cudaMemcpy2D(pinned, 8, out, 8, 4, n / 2, cudaMemcpyDeviceToHost));
    assert(ms >= 0 && address != nullptr && pinned[0] == 0);
    for (int i = 0; i < n; i++)
        total = (int)((unsigned)total - (unsigned)managed[i]);
    assert(total == 0);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaDeviceSynchronize());
    return cudaGetLastError();
}

SCANBENCH_SCAN("my-runtime", scan, at_least(2))
