// expect: passed,
// check: a race between threads|race on global memory in scan_chain: thread 63 of block |wrote word |at race_global.cu:32, thread 0 of block |read it at race_global.cu:27, and nothing orders the two blocks|Blocks wait for each other by another launch, or by a flag
// flags: --inclusive
// A tile waits for the flag of the tile before, which is set without a fence after the sum.
#include <scanbench_own.h>

struct chain {
    unsigned ticket;
    volatile int flags[1024];
    int sums[1024];
};

__global__ void scan_chain(const int *in, int *out, int n, chain *chain)
{
    __shared__ int tile, before;
    int t = threadIdx.x, sum = 0;
    if (t == 0)
        tile = atomicAdd(&chain->ticket, 1u);
    __syncthreads();
    int i = tile * 64 + t;
    for (int j = tile * 64; j <= i && j < n; j++)
        sum += in[j];
    if (t == 0) {
        while (tile > 0 && chain->flags[tile - 1] == 0)
            ;
        __threadfence();
        before = tile > 0 ? chain->sums[tile - 1] : 0;
    }
    __syncthreads();
    sum += before;
    if (t == 63) {
        chain->sums[tile] = sum;
        chain->flags[tile] = 1;
    }
    if (i < n)
        out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    chain *memory;
    if (n == 0)
        return;
    cudaMalloc(&memory, sizeof *memory);
    cudaMemsetAsync(memory, 0, sizeof *memory, stream);
    scan_chain<<<(n + 63) / 64, 64, 0, stream>>>(in, out, n, memory);
    cudaStreamSynchronize(stream);
    cudaFree(memory);
}

SCANBENCH_SCAN("mine", scan, inclusive, at_most(65536))
