// expect: error,|it was ended by signal 8
// check: scan mine: 1 defect|divides by zero outside a kernel|.block is 0 unless
// flags: --n=100
// The line at the end does not say block(threads).
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        out[i] = sum;
}

void scan(const int *in, int *out, scanbench_context context)
{
    const int blocks = (int)context.n / (int)context.block;
    scan_all<<<blocks, context.block, 0, context.stream>>>(in, out, (int)context.n);
}

SCANBENCH_SCAN("mine", scan)
