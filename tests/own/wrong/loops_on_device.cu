// expect: error,|time limit|in wait
// check: too slow, or never ends|time limit in wait|configurations skipped: other rows of it did not come to an end
// A kernel that waits for a flag that nobody sets.
#include <scanbench_own.h>

__global__ void wait(const int *in, int *out, const volatile int *flag)
{
    while (*flag == 0)
        continue;
    out[threadIdx.x] = in[threadIdx.x];
}

void scan(const int *in, int *out, int, cudaStream_t stream)
{
    int *flag;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    wait<<<1, 32, 0, stream>>>(in, out, flag);
    cudaFree(flag);
}

SCANBENCH_SCAN("mine", scan)
