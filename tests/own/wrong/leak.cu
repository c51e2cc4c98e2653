// expect: passed,
// check: leaks memory|3 calls left 6 allocations|at every size|cudaFree()
// It allocates in each call and frees nothing.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int *sums, int n)
{
    sums[0] = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sums[0];
        sums[0] += in[i];
    }
}

void scan(int n, int *odata, const int *idata)
{
    int *in, *sums;
    cudaMalloc(&in, n * sizeof(int) + 1);
    cudaMalloc(&sums, sizeof(int));
    cudaMemcpy(in, idata, n * sizeof(int), cudaMemcpyHostToDevice);
    scan_all<<<1, 1>>>(in, odata, sums, n);
}

SCANBENCH_HOST_SCAN("mine", scan)
