// expect: error,|wrote outside of an array in sum_blocks: right past the end of a buffer of 60 bytes
// check: outside an array|sum_blocks|own_overrun.cu:13|past the end of a buffer|at every size
// It has room for the sums of all blocks but the last.
#include <scanbench_own.h>

#define BLOCK 64

__global__ void sum_blocks(const int *in, int *sums, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * BLOCK; i < n && i < (blockIdx.x + 1) * BLOCK; i++)
        sum += in[i];
    sums[blockIdx.x] = sum;
}

__global__ void scan_blocks(const int *in, const int *sums, int *out, int n)
{
    int sum = 0;
    for (int b = 0; b < blockIdx.x; b++)
        sum += sums[b];
    for (int i = blockIdx.x * BLOCK; i < n && i < (blockIdx.x + 1) * BLOCK; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    const int blocks = (n + BLOCK - 1) / BLOCK;
    int *sums;
    cudaMalloc(&sums, (blocks - 1) * sizeof(int));
    sum_blocks<<<blocks, 1, 0, stream>>>(in, sums, n);
    scan_blocks<<<blocks, 1, 0, stream>>>(in, sums, out, n);
    cudaFree(sums);
}

SCANBENCH_SCAN("mine", scan, at_least(BLOCK + 1), at_most(5000))
