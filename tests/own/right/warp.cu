// expect: 16 passed
// flags: --type=i32,u64 --kind=exclusive,inclusive --block=64,256
// Warp shuffles, in templates; block size, kind and scratch from the context.
#include <cstdint>
#include <scanbench_own.h>

template <typename T> __device__ __forceinline__ T warp_scan(T x)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        T y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d)
            x += y;
    }
    return x;
}

template <typename T, int THREADS> __device__ T block_scan(T x)
{
    __shared__ struct {
        T sum[THREADS / 32];
        int unused;
    } warps;
    T inclusive = warp_scan(x);
    if (threadIdx.x % 32 == 31)
        warps.sum[threadIdx.x / 32] = inclusive;
    __syncthreads();
    T before = 0;
    for (int w = 0; w < threadIdx.x / 32; w++)
        before += warps.sum[w];
    __syncthreads();
    return before + inclusive;
}

template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS)
    scan_blocks(const T *__restrict__ in, T *__restrict__ out, T *sums, size_t n, bool inclusive)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const T x = i < n ? in[i] : T(0);
    const T sum = block_scan<T, THREADS>(x);
    if (i < n)
        out[i] = inclusive ? sum : sum - x;
    if (threadIdx.x == THREADS - 1)
        sums[blockIdx.x] = sum;
}

template <typename T, int THREADS> __global__ void scan_sums(T *sums, size_t count)
{
    T carry = 0;
    for (size_t start = 0; start < count; start += THREADS) {
        __shared__ T total;
        const size_t i = start + threadIdx.x;
        const T x = i < count ? sums[i] : T(0);
        const T sum = block_scan<T, THREADS>(x);
        if (i < count)
            sums[i] = carry + sum - x;
        if (threadIdx.x == THREADS - 1)
            total = sum;
        __syncthreads();
        carry += total;
        __syncthreads();
    }
}

template <typename T> __global__ void add(T *out, const T *sums, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}

template <typename T, int THREADS>
void scan_with(const T *in, T *out, const scanbench_context &context)
{
    const size_t n = context.n;
    const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
    T *sums = static_cast<T *>(context.scratch);
    scan_blocks<T, THREADS>
        <<<blocks, THREADS, 0, context.stream>>>(in, out, sums, n, context.inclusive);
    scan_sums<T, THREADS><<<1, THREADS, 0, context.stream>>>(sums, blocks);
    add<<<blocks, THREADS, 0, context.stream>>>(out, sums, n);
}

template <typename T> void scan(const T *in, T *out, const scanbench_context &context)
{
    switch (context.block) {
    case 64:
        return scan_with<T, 64>(in, out, context);
    case 256:
        return scan_with<T, 256>(in, out, context);
    default:
        return scan_with<T, 1024>(in, out, context);
    }
}

size_t bytes(size_t n)
{
    return (n / 64 + 1) * sizeof(uint64_t);
}

SCANBENCH_SCAN("my-warp", scan<int>, both_kinds, at_least(1), scratch(bytes), block(64), only_enqueues)
SCANBENCH_SCAN("my-warp", scan<unsigned long long>, both_kinds, at_least(1), scratch(bytes), block(64),
               only_enqueues)
