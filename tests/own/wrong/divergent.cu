// expect: divergent barrier in scan_all|threads 0-31 wait at divergent.cu:9
// check: a barrier that not all threads of the block reach|threads 0-31 wait at divergent.cu:9|at every size
// Half of the block never comes to the barrier.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    if (threadIdx.x < 32) {
        __syncthreads();
        out[0] = 0;
    } else {
        while (true)
            __syncthreads();
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<1, 64, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
