// expect: error,|illegal cudaMemcpy of 8000 bytes: the memory has only 4000 from there on
// check: a copy of more bytes than there are|illegal cudaMemcpy of|takes bytes, not elements
// flags: --n=1000
// The copy back is of twice as many bytes as there are, and nobody looks at the error.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        out[i] = sum;
}

void scan(int n, int *out, const int *in)
{
    int *from, *to;
    cudaMalloc(&from, n * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, in, n * sizeof(int), cudaMemcpyHostToDevice);
    scan_all<<<1, 1>>>(from, to, n);
    cudaMemcpy(out, to, 2 * n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(from);
    cudaFree(to);
}

SCANBENCH_HOST_SCAN("mine", scan)
