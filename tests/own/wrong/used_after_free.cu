// check: uses memory after it was freed|in scan_all, block 0, thread 0 at used_after_free.cu:10: read of 4 bytes|cudaFree() comes after
// The offset is read from an array that was freed before the launch.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n, const int *offset)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i] + *offset;
    }
}

void scan(const int *in, int *out, int n)
{
    int *offset;
    cudaMalloc(&offset, sizeof *offset);
    cudaMemset(offset, 0, sizeof *offset);
    cudaFree(offset);
    scan_all<<<1, 1>>>(in, out, n, offset);
}

SCANBENCH_SCAN("mine", scan)
