// expect: 4 passed
// flags: --op=scan,compact
// Single pass: a ticket, flags that a block waits for by reading memory in a loop, and a count on
// the device.
#include <scanbench_own.h>
#include <stdint.h>

enum { THREADS = 128, EMPTY = 0, READY = 1 };

template <bool COMPACT>
__global__ void single_pass(const int *in, int *out, uint64_t *count, volatile int *flags,
                            volatile int *prefixes, unsigned *ticket, int n)
{
    __shared__ int values[THREADS];
    __shared__ int tile, carry;
    if (threadIdx.x == 0)
        tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const int i = tile * THREADS + threadIdx.x;
    const int x = i < n ? in[i] : 0, keep = COMPACT ? x != 0 : x;
    values[threadIdx.x] = keep;
    for (int d = 1; d < THREADS; d *= 2) {
        __syncthreads();
        const int left = threadIdx.x >= d ? values[threadIdx.x - d] : 0;
        __syncthreads();
        values[threadIdx.x] += left;
    }
    __syncthreads();
    if (threadIdx.x == THREADS - 1) {
        int before = 0;
        if (tile > 0) {
            while (flags[tile - 1] == EMPTY)
                ;
            __threadfence();
            before = prefixes[tile - 1];
        }
        prefixes[tile] = before + values[THREADS - 1];
        __threadfence();
        flags[tile] = READY;
        carry = before;
        if (COMPACT && (tile + 1) * THREADS >= n)
            *count = before + values[THREADS - 1];
    }
    __syncthreads();
    const int place = carry + values[threadIdx.x] - keep;
    if (i < n && COMPACT && keep)
        out[place] = x;
    if (i < n && !COMPACT)
        out[i] = place;
}

template <bool COMPACT>
void run(const int *in, int *out, int n, cudaStream_t stream, scanbench_context context)
{
    const int tiles = (n + THREADS - 1) / THREADS;
    int *words = static_cast<int *>(context.scratch);
    cudaMemsetAsync(words, 0, context.scratch_bytes, stream);
    single_pass<COMPACT><<<tiles, THREADS, 0, stream>>>(in, out, context.count, words,
                                                        words + tiles,
                                                        (unsigned *)words + 2 * tiles, n);
}

size_t bytes(size_t n)
{
    return (2 * (n / THREADS + 1) + 1) * sizeof(int);
}

SCANBENCH_SCAN("my-single-pass", run<false>, exclusive, at_least(1), scratch(bytes))
SCANBENCH_COMPACT("my-single-pass", run<true>, at_least(1), scratch(bytes))
