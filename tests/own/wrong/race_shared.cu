// expect: failed,"output[
// check: a race between threads|race on shared memory in scan_blocks, block 0: thread 255 wrote word 0 of total at race_shared.cu:24|read it at race_shared.cu:22|barrier lies between
// flags: --inclusive
// Each round reads the total that the round before left, and a barrier is missing before it changes.
#include <scanbench_own.h>

__global__ void scan_blocks(const int *in, int *out, int n)
{
    __shared__ int temp[256], total;
    int t = threadIdx.x;
    if (t == 0)
        total = 0;
    for (int start = 0; start < n; start += 256) {
        temp[t] = start + t < n ? in[start + t] : 0;
        for (int d = 1; d < 256; d *= 2) {
            __syncthreads();
            int before = t >= d ? temp[t - d] : 0;
            __syncthreads();
            temp[t] += before;
        }
        if (start + t < n)
            out[start + t] = temp[t] + total;
        if (t == 255)
            total += temp[t];
        __syncthreads();
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_blocks<<<1, 256, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, inclusive)
