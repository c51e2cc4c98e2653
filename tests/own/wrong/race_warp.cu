// expect: failed,"output[0]
// check: a race between threads|race on shared memory in sum_warp, block 0: thread |of sums at race_warp.cu:13|read it at race_warp.cu:16|no __syncwarp() or barrier lies between
// flags: --op=reduce
// Lanes add up as if they were in step: `volatile`, and no __syncwarp().
#include <scanbench_own.h>

__global__ void sum_warp(const int *in, int *out, int n)
{
    __shared__ volatile int sums[64];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < n; i += 32)
        sum += in[i];
    sums[t] = sum;
    sums[t + 32] = 0;
    for (int d = 16; d > 0; d /= 2)
        sums[t] = sums[t] + sums[t + d];
    if (t == 0)
        out[0] = sums[0];
}

void reduce(const int *in, int *out, int n, cudaStream_t stream)
{
    sum_warp<<<1, 32, 0, stream>>>(in, out, n);
}

SCANBENCH_REDUCE("mine", reduce)
