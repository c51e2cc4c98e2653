/* my_sort.cu: a radix sort on a GPU, one bit per pass.
 *
 * Fill in the places marked TODO. What is here compiles and runs, and is wrong. To see what is:
 *
 *     scanbench --check --algo=./my_sort.cu
 *
 * Once that finds nothing, compare the times on a GPU:
 *
 *     scanbench --op=sort --algo=./my_sort.cu,radix --type=u32 --n=2^10..2^20
 *
 * Pointers are to host memory. odata gets the keys of idata in ascending order. */
#include <scanbench_own.h>

#include <stdexcept>
#include <utility>

enum { BLOCK = 128, BITS = 32 };

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

/* A 1 for each key whose bit is 0. */
__global__ void flag_zeros(const unsigned *keys, int *flags, int n, int bit)
{
    /* TODO */
}

/* places[i] = flags[0] + ... + flags[i - 1], for i up to n: the last is the number of zeros. */
static void scan(const int *flags, int *places, int n)
{
    /* TODO: the scan of my_scan.cu, between arrays of the device. */
}

/* Keys whose bit is 0 go to their places; those whose bit is 1 follow in the same order. */
__global__ void scatter(const unsigned *keys, unsigned *sorted, const int *places, int n, int bit)
{
    /* TODO: how many keys with a 1 lie before key i? */
}

void sort(int n, unsigned *odata, const unsigned *idata)
{
    unsigned *from, *to;
    int *flags, *places;
    if (n == 0)
        return; /* CUDA refuses a launch of no blocks */
    check(cudaMalloc(&from, n * sizeof(unsigned)));
    check(cudaMalloc(&to, n * sizeof(unsigned)));
    check(cudaMalloc(&flags, n * sizeof(int)));
    check(cudaMalloc(&places, (n + 1) * sizeof(int)));
    check(cudaMemcpy(from, idata, n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int bit = 0; bit < BITS; bit++) {
        flag_zeros<<<blocks_for(n), BLOCK>>>(from, flags, n, bit);
        scan(flags, places, n);
        scatter<<<blocks_for(n), BLOCK>>>(from, to, places, n, bit);
        check(cudaGetLastError());
        std::swap(from, to);
    }
    check(cudaMemcpy(odata, from, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    check(cudaFree(from));
    check(cudaFree(to));
    check(cudaFree(flags));
    check(cudaFree(places));
}

SCANBENCH_HOST_SORT("my-sort", sort)
