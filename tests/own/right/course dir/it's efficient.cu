// expect: 6 passed
// flags: --op=scan,compact
// As courses have it: namespaces, host pointers, a header with kernels, a timer that prints, and a
// name with a space and a quote.
#include "common.h"
#include <iostream>
#include <scanbench_own.h>

namespace StreamCompaction
{
namespace Efficient
{
using StreamCompaction::Common::PerformanceTimer;
PerformanceTimer &timer()
{
    static PerformanceTimer timer;
    return timer;
}

__global__ void kernUpSweep(int n, int d, int *data)
{
    int k = (blockIdx.x * blockDim.x + threadIdx.x) << (d + 1);
    if (k < n)
        data[k + (1 << (d + 1)) - 1] += data[k + (1 << d) - 1];
}

__global__ void kernDownSweep(int n, int d, int *data)
{
    int k = (blockIdx.x * blockDim.x + threadIdx.x) << (d + 1);
    if (k < n) {
        int t = data[k + (1 << d) - 1];
        data[k + (1 << d) - 1] = data[k + (1 << (d + 1)) - 1];
        data[k + (1 << (d + 1)) - 1] += t;
    }
}

static void scanInPlace(int padded, int *dev)
{
    int levels = ilog2ceil(padded);
    for (int d = 0; d < levels; d++) {
        dim3 fullBlocksPerGrid(((padded >> (d + 1)) + blockSize - 1) / blockSize);
        kernUpSweep<<<fullBlocksPerGrid, blockSize>>>(padded, d, dev);
        checkCUDAError("kernUpSweep failed!");
    }
    cudaMemset(dev + padded - 1, 0, sizeof(int));
    for (int d = levels - 1; d >= 0; d--) {
        dim3 fullBlocksPerGrid(((padded >> (d + 1)) + blockSize - 1) / blockSize);
        kernDownSweep<<<fullBlocksPerGrid, blockSize>>>(padded, d, dev);
        checkCUDAError("kernDownSweep failed!");
    }
}

void scan(int n, int *odata, const int *idata)
{
    int padded = 1 << ilog2ceil(n), *dev;
    cudaMalloc((void **)&dev, padded * sizeof(int));
    cudaMemset(dev, 0, padded * sizeof(int));
    cudaMemcpy(dev, idata, n * sizeof(int), cudaMemcpyHostToDevice);
    timer().startGpuTimer();
    scanInPlace(padded, dev);
    timer().endGpuTimer();
    cudaMemcpy(odata, dev, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(dev);
    std::cout << "scanned " << n << std::endl;
}

int compact(int n, int *odata, const int *idata)
{
    int padded = 1 << ilog2ceil(n), count, last;
    int *dev_in, *dev_out, *bools, *indices;
    cudaMalloc((void **)&dev_in, n * sizeof(int));
    cudaMalloc((void **)&dev_out, n * sizeof(int));
    cudaMalloc((void **)&bools, padded * sizeof(int));
    cudaMalloc((void **)&indices, padded * sizeof(int));
    cudaMemcpy(dev_in, idata, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(bools, 0, padded * sizeof(int));
    const dim3 grid((n + blockSize - 1) / blockSize);
    Common::kernMapToBoolean<<<grid, blockSize>>>(n, bools, dev_in);
    cudaMemcpy(indices, bools, padded * sizeof(int), cudaMemcpyDeviceToDevice);
    scanInPlace(padded, indices);
    StreamCompaction::Common::kernScatter<<<grid, blockSize>>>(n, dev_out, dev_in, bools, indices);
    cudaMemcpy(&count, indices + n - 1, sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(&last, bools + n - 1, sizeof(int), cudaMemcpyDeviceToHost);
    count += last;
    cudaMemcpy(odata, dev_out, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(dev_in);
    cudaFree(dev_out);
    cudaFree(bools);
    cudaFree(indices);
    printf("kept %d\n", count);
    return count;
}
} // namespace Efficient

class CPU
{
  public:
    static void scan(int n, int *odata, const int *idata)
    {
        odata[0] = 0;
        for (int i = 1; i < n; i++)
            odata[i] = odata[i - 1] + idata[i - 1];
    }
};
} // namespace StreamCompaction

SCANBENCH_HOST_SCAN("course-efficient", StreamCompaction::Efficient::scan, at_least(1))
SCANBENCH_HOST_COMPACT("course-efficient", StreamCompaction::Efficient::compact, at_least(1))
SCANBENCH_HOST_SCAN("course-cpu", StreamCompaction::CPU::scan, at_least(1))
