// expect: 2 passed
// Hillis and Steele in global memory, on the default stream, with memory of its own.
#include <cuda.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <scanbench_own.h>

#define blockSize 128

__global__ void step(int n, int offset, int *odata, const int *idata)
{
    int index = (blockIdx.x * blockDim.x) + threadIdx.x;
    if (index >= n)
        return;
    odata[index] = index >= offset ? idata[index - offset] + idata[index] : idata[index];
}

__global__ void shiftRight(int n, int *odata, const int *idata)
{
    int index = (blockIdx.x * blockDim.x) + threadIdx.x;
    if (index < n)
        odata[index] = index == 0 ? 0 : idata[index - 1];
}

void scan(const int *in, int *out, int n)
{
    int *a, *b;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc((void **)&b, n * sizeof(int));
    cudaMemcpy(a, in, n * sizeof(int), cudaMemcpyDeviceToDevice);
    dim3 blocks((n + blockSize - 1) / blockSize);
    for (int offset = 1; offset < n; offset <<= 1) {
        step<<<blocks, blockSize>>>(n, offset, b, a);
        int *t = a;
        a = b;
        b = t;
    }
    shiftRight<<<blocks, blockSize>>>(n, out, a);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}

SCANBENCH_SCAN("my-naive", scan, at_least(1))
