// expect: error,|illegal memory access in scan_each|has an int in the index exceeded 2^31?
// check: reads or writes where no memory is|scan_each|has an int in the index exceeded 2^31?
// The index is wrong by as much as an int that wraps.
#include <scanbench_own.h>

__global__ void scan_each(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0;
    for (int j = 0; j < i; j++)
        sum += in[(long long)j - (1ll << 30)];
    out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_each<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(5000))
