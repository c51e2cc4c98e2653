// expect: failed,"output[999]: got
// check: wrong result|wanted|nothing was written
// The test against n leaves out the last element.
#include <scanbench_own.h>

__global__ void scan_each(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1)
        return;
    int sum = 0;
    for (int k = 0; k < i; k++)
        sum += in[k];
    out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_each<<<n / 64 + 1, 64, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(5000))
