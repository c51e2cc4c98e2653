// expect: failed,"output[
// check: a race between threads|race on shared memory in scanBlock, block 0: thread |of temp at missing_barrier.cu:13|read it at missing_barrier.cu:14|no barrier lies between|at every size
// Two threads of a block exchange values through shared memory, and nothing separates them.
#include <scanbench_own.h>

__global__ void scanBlock(const int *in, int *out, int n)
{
    __shared__ int temp[2][1024];
    int from = 0;
    temp[0][threadIdx.x] = threadIdx.x > 0 && threadIdx.x < n ? in[threadIdx.x - 1] : 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        temp[1 - from][threadIdx.x] =
            temp[from][threadIdx.x] + (threadIdx.x >= d ? temp[from][threadIdx.x - d] : 0);
        from = 1 - from;
        /* __syncthreads(); */
        __syncwarp();
    }
    if (threadIdx.x < n)
        out[threadIdx.x] = temp[from][threadIdx.x];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scanBlock<<<1, 1024, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(1024))
