// expect: passed,
// flags: --inclusive
// check: outside an array|scan_each|read_past.cu:14|past the end of a buffer|no multiples of 64
// The last tile is read whole; what is too much counts as nothing.
#include <scanbench_own.h>

#define TILE 64

__global__ void scan_each(const int *in, int *out, int n)
{
    const int i = blockIdx.x * TILE + threadIdx.x;
    int sum = 0;
    for (int k = 0; k < (blockIdx.x + 1) * TILE; k++) {
        const int value = in[k];
        sum += value * (k <= i);
    }
    if (i < n)
        out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_each<<<(n + TILE - 1) / TILE, TILE, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, inclusive, at_most(5000))
