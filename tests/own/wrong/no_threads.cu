// expect: error,|scan_pairs|0 threads per block, where 1 to 1024
// check: scan mine: 1 defect|a launch of no threads|0 threads per block|Was their number computed from n
// flags: --n=1
// A block has half as many threads as there are elements.
#include <scanbench_own.h>

__global__ void scan_pairs(const int *in, int *out, int n)
{
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_pairs<<<1, n / 2, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
