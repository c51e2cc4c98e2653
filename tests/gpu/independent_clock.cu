/* independent_clock: times memcpy and CUB's scan without any code of scanbench, to check its
 * times. Prints CSV: algo, n, cache, time_ms.
 *
 * The methods differ on purpose. Cold: a kernel reads half a GiB before each call, which takes
 * longer than the host needs to queue the call, so nothing needs to be held. Hot: many calls
 * between two events, divided by their number. */
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

constexpr size_t FLUSH_BYTES = 512u << 20;
constexpr int COLD_SAMPLES = 201, HOT_CALLS = 50, HOT_SAMPLES = 21, WAKE_UP_FLUSHES = 2000;

void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "independent_clock: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

__global__ void fill_kernel(int *array, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        array[i] = (int)((i * 2654435761u >> 7) % 50);
}

__global__ void read_kernel(const int4 *array, size_t count, int *never)
{
    int all = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        all |= array[i].x | array[i].y | array[i].z | array[i].w;
    if (all == 0x5CA7)
        *never = all;
}

struct buffers {
    int *in, *out, *flush;
    void *scratch;
    size_t n, scratch_bytes;
};

void flush(const buffers &b)
{
    read_kernel<<<1024, 512>>>((const int4 *)b.flush, FLUSH_BYTES / sizeof(int4), b.out);
}

void call(const buffers &b, bool cub)
{
    if (cub)
        must(cub::DeviceScan::ExclusiveSum(b.scratch, const_cast<size_t &>(b.scratch_bytes), b.in,
                                           b.out, (int64_t)b.n),
             "cub");
    else
        must(cudaMemcpyAsync(b.out, b.in, b.n * sizeof(int), cudaMemcpyDeviceToDevice), "memcpy");
}

double median(std::vector<float> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

float elapsed(cudaEvent_t from, cudaEvent_t to)
{
    float ms = 0;
    must(cudaEventSynchronize(to), "run");
    must(cudaEventElapsedTime(&ms, from, to), "events");
    return ms;
}

double time_ms(const buffers &b, bool cub, bool cold)
{
    cudaEvent_t start, stop;
    must(cudaEventCreate(&start), "event");
    must(cudaEventCreate(&stop), "event");
    call(b, cub);
    std::vector<float> samples;
    for (int s = 0; s < (cold ? COLD_SAMPLES : HOT_SAMPLES); s++) {
        const int calls = cold ? 1 : HOT_CALLS;
        if (cold)
            flush(b);
        cudaEventRecord(start);
        for (int c = 0; c < calls; c++)
            call(b, cub);
        cudaEventRecord(stop);
        samples.push_back(elapsed(start, stop) / (float)calls);
    }
    return median(samples);
}

} // namespace

int main()
{
    buffers b = {};
    const size_t most = (size_t)1 << 28;
    must(cudaMalloc(&b.in, most * sizeof(int)), "memory");
    must(cudaMalloc(&b.out, most * sizeof(int)), "memory");
    must(cudaMalloc(&b.flush, FLUSH_BYTES), "memory");
    must(cudaMemset(b.flush, 0, FLUSH_BYTES), "memory");
    must(cub::DeviceScan::ExclusiveSum(nullptr, b.scratch_bytes, b.in, b.out, (int64_t)most),
         "cub");
    must(cudaMalloc(&b.scratch, b.scratch_bytes), "memory");
    fill_kernel<<<1024, 256>>>(b.in, most);
    for (int i = 0; i < WAKE_UP_FLUSHES; i++)
        flush(b);
    must(cudaDeviceSynchronize(), "warm-up");

    printf("algo,n,cache,time_ms\n");
    for (const int log2_n : {16, 22, 28})
        for (const bool cub : {false, true}) {
            b.n = (size_t)1 << log2_n;
            printf("%s,%zu,cold,%.6f\n", cub ? "cub" : "memcpy", b.n, time_ms(b, cub, true));
            if (log2_n == 28)
                printf("%s,%zu,hot,%.6f\n", cub ? "cub" : "memcpy", b.n, time_ms(b, cub, false));
        }
    return 0;
}
