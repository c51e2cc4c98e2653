// expect: error,|scan_all|1025 threads per block, where 1 to 1024 are allowed
// check: scan mine: 2 defects|a launch of no threads|a launch that CUDA refuses|threads per block, where 1 to 1024
// flags: --n=1025
// A block has as many threads as there are elements, and nobody looks at the error.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<1, n, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
