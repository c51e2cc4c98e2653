/* my_scan.cu: a scan of your own beside scanbench's.
 *
 *     scanbench --algo=./my_scan.cu,cub,memcpy --n=2^12..2^20
 *
 * Each block scans a tile in shared memory (Hillis and Steele 1986), one block scans the sums of
 * the tiles, and a last kernel adds to each tile what comes before it. */
#include <scanbench_own.h>

enum { TILE = 1024 };

__global__ void scan_tiles(const int *in, int *out, int *sums, int n)
{
    __shared__ int tile[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x, x = i < n ? in[i] : 0;
    tile[threadIdx.x] = x;
    for (int distance = 1; distance < TILE; distance *= 2) {
        __syncthreads();
        const int left = threadIdx.x >= distance ? tile[threadIdx.x - distance] : 0;
        __syncthreads();
        tile[threadIdx.x] += left;
    }
    if (i < n)
        out[i] = tile[threadIdx.x] - x;
    if (threadIdx.x == TILE - 1)
        sums[blockIdx.x] = tile[TILE - 1];
}

__global__ void add_sums(int *out, const int *sums, int n)
{
    const int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}

void my_scan(const int *in, int *out, int n, cudaStream_t stream, scanbench_context context)
{
    if (n == 0)
        return; /* CUDA refuses a launch of no blocks */
    const int tiles = (n + TILE - 1) / TILE;
    int *sums = (int *)context.scratch; /* two arrays of `tiles` and one more */
    scan_tiles<<<tiles, TILE, 0, stream>>>(in, out, sums, n);
    scan_tiles<<<1, TILE, 0, stream>>>(sums, sums + tiles, sums + 2 * tiles, tiles);
    add_sums<<<tiles, TILE, 0, stream>>>(out, sums + tiles, n);
}

size_t scratch_bytes(size_t n)
{
    return (2 * (n / TILE + 1) + 1) * sizeof(int);
}

SCANBENCH_SCAN("mine", my_scan, exclusive, at_most(1 << 20), scratch(scratch_bytes), only_enqueues)
