// expect: error,|shared memory out of bounds in scan_block
// check: outside an array|scan_block|shared_too_small.cu:14|shared memory, which has 4096|at every size
// The launch gives room for one number for each thread, and the kernel has two.
#include <scanbench_own.h>

__global__ void scan_block(const int *in, int *out, int n)
{
    extern __shared__ int temp[];
    const int t = threadIdx.x, size = blockDim.x;
    int from = 0, to = size;
    temp[t] = t > 0 && t <= n ? in[t - 1] : 0;
    for (int d = 1; d < size; d *= 2) {
        __syncthreads();
        temp[to + t] = temp[from + t] + (t >= d ? temp[from + t - d] : 0);
        to = from, from = size - to;
    }
    if (t < n)
        out[t] = temp[from + t];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_block<<<1, 1024, 1024 * sizeof(int), stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(1024))
