/* my_scan.cu: scan and compaction on a GPU.
 *
 * Fill in the places marked TODO. What is here compiles and runs, and is wrong. To see what is:
 *
 *     scanbench --check --algo=./my_scan.cu
 *
 * Once that finds nothing, compare the times on a GPU:
 *
 *     scanbench --algo=./my_scan.cu,naive,efficient --n=2^10..2^24
 *
 * Pointers are to host memory. An exclusive scan: odata[i] = idata[0] + ... + idata[i - 1]. */
#include <scanbench_own.h>

#include <stdexcept>

enum { BLOCK = 128 };

/* Throws what CUDA says, if it says that something went wrong. */
static void check(cudaError_t error)
{
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}

static int blocks_for(int n)
{
    return (n + BLOCK - 1) / BLOCK;
}

/* --- Hillis and Steele: log2 n steps over all elements --------------------------- */

__global__ void naive_step(const int *in, int *out, int n, int distance)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    /* TODO: out[i] is in[i], plus what lies `distance` before it. */
}

void naive(int n, int *odata, const int *idata)
{
    int *from, *to;
    if (n == 0)
        return; /* CUDA refuses a launch of no blocks */
    check(cudaMalloc(&from, n * sizeof(int)));
    check(cudaMalloc(&to, n * sizeof(int)));
    check(cudaMemcpy(from, idata, n * sizeof(int), cudaMemcpyHostToDevice));
    /* TODO: a launch for each distance, 1, 2, 4, ..., and `from` and `to` change places after each.
     * The scan is to be exclusive. */
    naive_step<<<blocks_for(n), BLOCK>>>(from, to, n, 1);
    check(cudaGetLastError());
    check(cudaMemcpy(odata, to, n * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(from));
    check(cudaFree(to));
}

/* --- Blelloch: an up-sweep and a down-sweep over a tree, in place ------------------ */

__global__ void up_sweep(int *data, int padded, int stride)
{
    /* TODO: every element at the end of 2 * stride elements gets the one `stride` before it. */
}

__global__ void down_sweep(int *data, int padded, int stride)
{
    /* TODO: the same pairs, from the largest stride down. */
}

/* `padded` is a power of two; the elements from n on are 0. */
static void scan_in_place(int *data, int padded)
{
    /* TODO: all strides up, a 0 at the end, all strides down. */
    up_sweep<<<blocks_for(padded), BLOCK>>>(data, padded, 1);
    down_sweep<<<blocks_for(padded), BLOCK>>>(data, padded, 1);
    check(cudaGetLastError());
}

static int next_power_of_two(int n)
{
    int padded = 1;
    while (padded < n)
        padded *= 2;
    return padded;
}

void efficient(int n, int *odata, const int *idata)
{
    const int padded = next_power_of_two(n);
    int *data;
    check(cudaMalloc(&data, padded * sizeof(int)));
    check(cudaMemset(data, 0, padded * sizeof(int)));
    check(cudaMemcpy(data, idata, n * sizeof(int), cudaMemcpyHostToDevice));
    scan_in_place(data, padded);
    check(cudaMemcpy(odata, data, n * sizeof(int), cudaMemcpyDeviceToHost));
    check(cudaFree(data));
}

/* --- Compaction: keeps the elements that are not 0 --------------------------------- */

/* Returns how many there are. */
int compact(int n, int *odata, const int *idata)
{
    /* TODO: a 1 for each element that is kept, an exclusive scan of these, and each element goes
     * where the scan says. */
    return 0;
}

SCANBENCH_HOST_SCAN("my-naive", naive)
SCANBENCH_HOST_SCAN("my-efficient", efficient)
SCANBENCH_HOST_COMPACT("my-compact", compact)
