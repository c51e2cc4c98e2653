// expect: passed,
// check: leaks memory|3 calls left 6 allocations|at every size|cudaFree()
// It allocates in each call and frees nothing.
#include <scanbench_own.h>

__global__ void scan_all(int *array, int *sums, int n)
{
    sums[0] = 0;
    for (int i = 0; i < n; i++) {
        const int x = array[i];
        array[i] = sums[0];
        sums[0] += x;
    }
}

void scan(int n, int *odata, const int *idata)
{
    int *array, *sums;
    cudaMalloc(&array, n * sizeof(int) + 1);
    cudaMalloc(&sums, sizeof(int));
    cudaMemcpy(array, idata, n * sizeof(int), cudaMemcpyHostToDevice);
    scan_all<<<1, 1>>>(array, sums, n);
    cudaMemcpy(odata, array, n * sizeof(int), cudaMemcpyDeviceToHost);
}

SCANBENCH_HOST_SCAN("mine", scan)
