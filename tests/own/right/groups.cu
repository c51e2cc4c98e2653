// expect: 6 passed
// flags: --op=scan,reduce
// Cooperative groups: tiles, blocks, and barriers of a grid that is launched by pointers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <scanbench_own.h>

namespace cg = cooperative_groups;

__global__ void scanWholeGrid(const int *in, int *out, int *sums, int n)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int per_thread = (n + grid.size() - 1) / grid.size();
    const int first = grid.thread_rank() * per_thread, end = min(first + per_thread, n);
    int sum = 0;
    for (int i = first; i < end; i++)
        sum += in[i];
    __shared__ int totals[32];
    int before = cg::exclusive_scan(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == warp.size() - 1)
        totals[warp.meta_group_rank()] = before + sum;
    block.sync();
    int whole = 0;
    for (int w = 0; w < warp.meta_group_size(); w++) {
        if (w < warp.meta_group_rank())
            before += totals[w];
        whole += totals[w];
    }
    if (block.thread_rank() == 0)
        sums[block.group_index().x] = whole;
    grid.sync();
    for (int b = 0; b < block.group_index().x; b++)
        before += sums[b];
    for (int i = first; i < end; i++) {
        out[i] = before;
        before += in[i];
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    static int *sums = nullptr;
    if (!sums)
        cudaMalloc(&sums, 1024 * sizeof(int));
    int blocks = 0, device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scanWholeGrid, 128, 0);
    dim3 grid(min(blocks * multiprocessors, 8)), block(128);
    void *args[] = {&in, &out, &sums, &n};
    cudaLaunchCooperativeKernel((void *)scanWholeGrid, grid, block, args, 0, stream);
}

__global__ void sumTiles(const int *in, int *out, int n)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i < n ? in[i] : 0;
    x = cg::reduce(tile, x, cg::plus<int>());
    if (tile.thread_rank() == 0)
        atomicAdd(out, x);
}

void reduce(const int *in, int *out, int n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(int), stream);
    sumTiles<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n);
}

__device__ int sumOfGroup(cg::thread_group g, int *temp, int val)
{
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[lane] = val;
        g.sync();
        if (lane < i)
            val += temp[lane + i];
        g.sync();
    }
    return val;
}

__global__ void sumBlocks(const int *in, int *out, int n)
{
    __shared__ int temp[128], of_warps[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    int x = i < n ? in[i] : 0;
    int whole = sumOfGroup(cg::this_thread_block(), temp, x);
    int part = sumOfGroup(cg::tiled_partition<32>(cg::this_thread_block()), temp + 32 * warp, x);
    if (threadIdx.x % 32 == 0)
        of_warps[warp] = part;
    __syncthreads();
    if (threadIdx.x == 0 && whole == of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3])
        atomicAdd(out, whole);
}

void reduceBlocks(const int *in, int *out, int n, cudaStream_t stream)
{
    cudaMemsetAsync(out, 0, sizeof(int), stream);
    sumBlocks<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("my-groups", scan, at_least(1))
SCANBENCH_REDUCE("my-tiles", reduce)
SCANBENCH_REDUCE("my-blocks", reduceBlocks)
