// expect: error,|illegal memory access in scan_all, block 1, thread 3
// check: reads or writes where no memory is|null pointer
// One thread reads where nothing is.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, const int *none, int *out, int n)
{
    if (blockIdx.x == 1 && threadIdx.x == 3)
        out[0] = none[5];
    else if (blockIdx.x == 0)
        out[threadIdx.x] = in[threadIdx.x];
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<2, 32, 0, stream>>>(in, nullptr, out, n);
}

SCANBENCH_SCAN("mine", scan)
