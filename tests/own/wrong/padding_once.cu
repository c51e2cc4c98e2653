// expect: failed,"output[
// check: a race between threads|race on shared memory in scan_block, block 0: thread |of temp at padding_once.cu:2|barrier lies between
// flags: --n=200
// The sums lie with padding against bank conflicts, but the down-sweep looks for them without.
#include <scanbench_own.h>

#define BLOCK 256
#define PADDED(i) ((i) + ((i) >> 5))

__global__ void scan_block(const int *in, int *out, int n)
{
    __shared__ int temp[PADDED(BLOCK)];
    const int t = threadIdx.x;
    temp[PADDED(t)] = t < n ? in[t] : 0;
    for (int d = 1; d < BLOCK; d *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * d) == 0)
            temp[PADDED(t)] += temp[PADDED(t - d)];
    }
    __syncthreads();
    if (t == 0)
        temp[PADDED(BLOCK - 1)] = 0;
    for (int d = BLOCK / 2; d > 0; d /= 2) {
        __syncthreads();
        if ((t + 1) % (2 * d) == 0) {
            const int left = temp[t - d];
            temp[t - d] = temp[PADDED(t)];
            temp[PADDED(t)] += left;
        }
    }
    __syncthreads();
    if (t < n)
        out[t] = temp[PADDED(t)];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_block<<<1, BLOCK, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(BLOCK))
