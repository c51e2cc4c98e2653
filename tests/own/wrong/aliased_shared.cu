// expect: failed,"output[
// check: a race between threads|race on shared memory in scan_block, block 0: thread |of the launch's shared memory at aliased_shared.cu:18|read it at aliased_shared.cu:17|at every size
// flags: --n=200
// Two extern __shared__ arrays begin at the same place.
#include <scanbench_own.h>

__global__ void scan_block(const int *in, int *out, int n)
{
    extern __shared__ int values[];
    extern __shared__ int sums[];
    const int t = threadIdx.x;
    values[t] = t < n ? in[t] : 0;
    sums[t] = 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < t; k++)
        sum += values[k];
    sums[t] = sum;
    __syncthreads();
    if (t < n)
        out[t] = sums[t];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_block<<<1, 256, 2 * 256 * sizeof(int), stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(256))
