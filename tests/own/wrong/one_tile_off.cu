// expect: failed,"output[64]: got 0
// check: wrong result|output[64]: wanted 1882, got 0|only above n = 64
// Each tile gets the sum before the next one.
#include <scanbench_own.h>

enum { TILE = 64 };

__global__ void tile_scan(const int *in, int *out, int *sums, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * TILE; i < n && i < (blockIdx.x + 1) * TILE; i++) {
        out[i] = sum;
        sum += in[i];
    }
    sums[blockIdx.x] = sum;
}

__global__ void add(int *out, const int *sums, int n)
{
    int i = blockIdx.x * TILE + threadIdx.x, before = 0;
    for (int b = 0; b + 1 < blockIdx.x; b++) /* b < blockIdx.x */
        before += sums[b];
    if (i < n)
        out[i] += before;
}

void scan(const int *in, int *out, int n, scanbench_context context)
{
    int blocks = (n + TILE - 1) / TILE;
    int *sums = (int *)context.scratch;
    tile_scan<<<blocks, 1, 0, context.stream>>>(in, out, sums, n);
    add<<<blocks, TILE, 0, context.stream>>>(out, sums, n);
}

size_t bytes(size_t n)
{
    return (n / TILE + 1) * sizeof(int);
}

SCANBENCH_SCAN("mine", scan, exclusive, scratch(bytes))
