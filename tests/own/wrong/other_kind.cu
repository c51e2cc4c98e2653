// expect: failed,"output[|; right for the inclusive scan
// check: the inclusive scan, where the exclusive one is wanted|Element i is the sum of those before
// it Every element is part of its own sum.
#include <scanbench_own.h>

__global__ void scan_alone(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        out[i] = sum;
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_alone<<<1, 1, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
