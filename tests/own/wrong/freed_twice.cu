// expect: error,|illegal cudaFree: the pointer is not one of cudaMalloc, or was freed before
// check: frees memory that is not allocated|illegal cudaFree|at every size
// The same array is freed twice, and nobody looks at the error.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        out[i] = sum;
}

void scan(const int *in, int *out, int n)
{
    int *spare;
    cudaMalloc(&spare, 64);
    scan_all<<<1, 1>>>(in, out, n);
    cudaFree(spare);
    cudaFree(spare);
}

SCANBENCH_SCAN("mine", scan)
