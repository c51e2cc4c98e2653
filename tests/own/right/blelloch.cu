// expect: 6 passed
// flags: --type=i32,f32,f64
// Blelloch in dynamic shared memory, padded against bank conflicts; block sums by recursion.
#include <cstdio>
#include <cstdlib>
#include <scanbench_own.h>

#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(i) ((i) >> LOG_NUM_BANKS)
#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                       \
        }                                                                             \
    } while (0)

template <typename T> struct SharedMemory;
template <> struct SharedMemory<int> {
    __device__ int *get()
    {
        extern __shared__ int shared_int[];
        return shared_int;
    }
};
template <> struct SharedMemory<float> {
    __device__ float *get()
    {
        extern __shared__ float shared_float[];
        return shared_float;
    }
};
template <> struct SharedMemory<double> {
    __device__ double *get()
    {
        extern __shared__ double shared_double[];
        return shared_double;
    }
};

template <typename T>
__global__ void scanTile(T *out, const T *in, T *sums, int n)
{
    T *temp = SharedMemory<T>().get();
    const int threads = blockDim.x, tile = 2 * threads, base = blockIdx.x * tile;
    const int ai = threadIdx.x, bi = threadIdx.x + threads;
    temp[ai + CONFLICT_FREE_OFFSET(ai)] = base + ai < n ? in[base + ai] : T(0);
    temp[bi + CONFLICT_FREE_OFFSET(bi)] = base + bi < n ? in[base + bi] : T(0);
    int offset = 1;
    for (int d = tile >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (threadIdx.x < d) {
            int i = offset * (2 * threadIdx.x + 1) - 1, j = offset * (2 * threadIdx.x + 2) - 1;
            temp[j + CONFLICT_FREE_OFFSET(j)] += temp[i + CONFLICT_FREE_OFFSET(i)];
        }
        offset *= 2;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int last = tile - 1 + CONFLICT_FREE_OFFSET(tile - 1);
        if (sums)
            sums[blockIdx.x] = temp[last];
        temp[last] = 0;
    }
    for (int d = 1; d < tile; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (threadIdx.x < d) {
            int i = offset * (2 * threadIdx.x + 1) - 1, j = offset * (2 * threadIdx.x + 2) - 1;
            i += CONFLICT_FREE_OFFSET(i);
            j += CONFLICT_FREE_OFFSET(j);
            T t = temp[i];
            temp[i] = temp[j];
            temp[j] += t;
        }
    }
    __syncthreads();
    if (base + ai < n)
        out[base + ai] = temp[ai + CONFLICT_FREE_OFFSET(ai)];
    if (base + bi < n)
        out[base + bi] = temp[bi + CONFLICT_FREE_OFFSET(bi)];
}

template <typename T> __global__ void addSums(T *out, const T *sums, int n)
{
    int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
    if (i + (int)blockDim.x < n)
        out[i + blockDim.x] += sums[blockIdx.x];
}

template <typename T> void scanRecursive(const T *in, T *out, int n, cudaStream_t stream)
{
    const int threads = 64, tile = 2 * threads, blocks = (n + tile - 1) / tile;
    const size_t bytes = (tile + CONFLICT_FREE_OFFSET(tile - 1)) * sizeof(T);
    T *sums = NULL;
    if (blocks > 1)
        CHECK(cudaMalloc(&sums, blocks * sizeof(T)));
    scanTile<T><<<blocks, threads, bytes, stream>>>(out, in, sums, n);
    CHECK(cudaGetLastError());
    if (blocks > 1) {
        T *offsets;
        CHECK(cudaMalloc(&offsets, blocks * sizeof(T)));
        scanRecursive<T>(sums, offsets, blocks, stream);
        addSums<<<blocks, threads, 0, stream>>>(out, offsets, n);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaFree(offsets));
        CHECK(cudaFree(sums));
    }
}

SCANBENCH_SCAN("my-blelloch", scanRecursive<int>, at_least(1))
SCANBENCH_SCAN("my-blelloch", scanRecursive<float>, at_least(1))
SCANBENCH_SCAN("my-blelloch", scanRecursive<double>, at_least(1));
