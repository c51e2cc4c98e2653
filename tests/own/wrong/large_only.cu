// expect: passed,|failed,"output[1024]: got 0
// check: wrong result|output[1024]: wanted|got 0|only above n = 1024
// flags: --n=1024,2000
// Block sums are not scanned: right as long as one block is enough.
#include <scanbench_own.h>

__global__ void scan_block(const int *in, int *out, int n)
{
    __shared__ int temp[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    temp[threadIdx.x] = i < n ? in[i] : 0;
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        int left = threadIdx.x >= d ? temp[threadIdx.x - d] : 0;
        __syncthreads();
        temp[threadIdx.x] += left;
    }
    if (i < n)
        out[i] = temp[threadIdx.x] - in[i];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_block<<<(n + 1023) / 1024, 1024, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
