#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <stdexcept>

#define checkCUDAError(msg) checkCUDAErrorFn(msg, __FILE__, __LINE__)
#define blockSize 64

inline void checkCUDAErrorFn(const char *msg, const char *file, int line)
{
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err)
        throw std::runtime_error(msg);
}

inline int ilog2ceil(int x)
{
    int lg = 0;
    while ((1 << lg) < x)
        ++lg;
    return lg;
}

namespace StreamCompaction
{
namespace Common
{
__global__ void kernMapToBoolean(int n, int *bools, const int *idata)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bools[i] = idata[i] != 0;
}
__global__ void kernScatter(int n, int *odata, const int *idata, const int *bools,
                            const int *indices)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && bools[i])
        odata[indices[i]] = idata[i];
}
class PerformanceTimer
{
  public:
    PerformanceTimer()
    {
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
    }
    ~PerformanceTimer()
    {
        cudaEventDestroy(start);
        cudaEventDestroy(stop);
    }
    void startGpuTimer()
    {
        cudaEventRecord(start);
    }
    void endGpuTimer()
    {
        cudaEventRecord(stop);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
    }

  private:
    cudaEvent_t start = nullptr, stop = nullptr;
    float ms = 0;
};
} // namespace Common
} // namespace StreamCompaction
