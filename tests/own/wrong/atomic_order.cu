// expect: failed,"output[|; the right elements, in another order
// check: the right elements in another order|Do places come from an atomic? Threads come in any order.
// flags: --op=compact
// Each block takes its places from an atomic counter, in whatever order blocks come.
#include <scanbench_own.h>

__global__ void keep(const int *in, int *out, int n, unsigned long long *count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] != 0)
        out[atomicAdd(count, 1ull)] = in[i];
}

void compact(const int *in, int *out, int n, scanbench_context context)
{
    unsigned long long *count = (unsigned long long *)context.count;
    cudaMemsetAsync(count, 0, sizeof *count, context.stream);
    if (n > 0)
        keep<<<(n + 255) / 256, 256, 0, context.stream>>>(in, out, n, count);
}

SCANBENCH_COMPACT("mine", compact)
