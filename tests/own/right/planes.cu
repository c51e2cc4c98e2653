// expect: 3 passed, 1 skipped
// flags: --op=scan,sort --type=u32
// Grids and blocks of two and three dimensions, shared arrays of two, __constant__, a kernel in a
// variable, a launch in a macro, printf and assert.
#include <assert.h>
#include <stdio.h>
#include <scanbench_own.h>

#define SIDE 16
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)

__constant__ unsigned factors[2];
__device__ unsigned launches;

struct Pair {
    unsigned left, right;
};

__device__ unsigned flat()
{
    return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) *
               (blockDim.x * blockDim.y * blockDim.z) +
           (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__global__ void tile_sums(const unsigned *in, unsigned *sums, unsigned n)
{
    __shared__ unsigned tile[SIDE][SIDE + 1], rows[SIDE];
    assert(blockDim.x == SIDE && blockDim.y == SIDE);
    const unsigned i = flat();
    tile[threadIdx.y][threadIdx.x] = i < n ? in[i] * factors[0] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int x = 0; x < SIDE; x++)
            sum += tile[threadIdx.y][x];
        rows[threadIdx.y] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        unsigned sum = 0;
        for (int y = 0; y < SIDE; y++)
            sum += rows[y];
        sums[i / (SIDE * SIDE)] = sum;
    }
}

__global__ void tile_scans(const unsigned *in, const unsigned *sums, unsigned *out, unsigned n)
{
    __shared__ Pair pairs[2][SIDE * SIDE];
    const unsigned i = flat(), at = i % (SIDE * SIDE), tile = i / (SIDE * SIDE);
    const unsigned x = i < n ? in[i] : 0;
    pairs[0][at] = {x, 0};
    __syncthreads();
    int now = 0;
    for (unsigned d = 1; d < SIDE * SIDE; d *= 2, now = 1 - now) {
        pairs[1 - now][at].left = pairs[now][at].left + (at >= d ? pairs[now][at - d].left : 0);
        __syncthreads();
    }
    unsigned before = 0;
    for (unsigned t = 0; t < tile; t++)
        before += sums[t];
    if (i < n)
        out[i] = before + pairs[now][at].left - x;
    if (i == 0) {
        launches++;
        printf("launch %u\n", launches);
    }
}

void scan(const unsigned *in, unsigned *out, unsigned n)
{
    unsigned *sums;
    const unsigned ones[2] = {1, 1};
    const unsigned tiles = (n + SIDE * SIDE - 1) / (SIDE * SIDE);
    dim3 grid(2, 2, (tiles + 3) / 4);
    cudaMemcpyToSymbol(factors, ones, sizeof ones);
    cudaMallocManaged(&sums, 4 * grid.z * sizeof(unsigned));
    LAUNCH(tile_sums, grid, dim3(SIDE, SIDE), in, sums, n);
    auto second = &tile_scans;
    second<<<grid, dim3(SIDE, SIDE)>>>(in, sums, out, n);
    cudaDeviceSynchronize();
    unsigned count = 0;
    cudaMemcpyFromSymbol(&count, launches, sizeof count);
    assert(count > 0);
    cudaFree(sums);
}

__global__ void bitonic(unsigned *data, unsigned n, unsigned k, unsigned j)
{
    const unsigned i = flat(), other = i ^ j;
    if (other > i && other < n && (data[i] > data[other]) == ((i & k) == 0)) {
        const unsigned t = data[i];
        data[i] = data[other];
        data[other] = t;
    }
}

/* In place. */
void sort(unsigned *data, unsigned n, cudaStream_t stream)
{
    for (unsigned k = 2; k <= n; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2)
            bitonic<<<dim3(2, (n + 255) / 256), dim3(4, 8, 4), 0, stream>>>(data, n, k, j);
}

SCANBENCH_SCAN("my-planes", scan, at_least(1))
SCANBENCH_SORT("my-bitonic", sort, powers_of_two, at_least(1))
