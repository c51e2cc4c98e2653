// expect: error,|scan_all|2048 threads per block, where 1 to 1024 are allowed
// check: a launch that CUDA refuses|2048 threads per block, where 1 to 1024 are allowed|at every size
// flags: --n=1000
// More threads than a block can have, and nobody looks at the error.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    out[threadIdx.x] = in[threadIdx.x];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<1, 2048, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
