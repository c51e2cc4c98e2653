// expect: 2 passed, 2 skipped
// flags: --op=sort --type=u32,i32
// A radix sort, one bit a pass, as a class with launches in member functions.
#include <scanbench_own.h>
#include <vector>

namespace
{
__global__ void kernFlags(const unsigned *in, unsigned *flags, int n, int bit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        flags[i] = !((in[i] >> bit) & 1u);
}

__global__ void kernScan(unsigned *flags, int n)
{
    extern __shared__ unsigned partial[];
    const int per = (n + blockDim.x - 1) / blockDim.x, first = threadIdx.x * per;
    unsigned sum = 0;
    for (int i = first; i < min(first + per, n); i++)
        sum += flags[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned before = 0;
        for (int t = 0; t < blockDim.x; t++) {
            unsigned x = partial[t];
            partial[t] = before;
            before += x;
        }
        flags[n] = before;
    }
    __syncthreads();
    unsigned before = partial[threadIdx.x];
    for (int i = first; i < min(first + per, n); i++) {
        unsigned x = flags[i];
        flags[i] = before;
        before += x;
    }
}

__global__ void kernMove(const unsigned *in, unsigned *out, const unsigned *places, int n, int bit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bool one = (in[i] >> bit) & 1u;
    out[one ? places[n] + i - places[i] : places[i]] = in[i];
}

class RadixSort
{
  public:
    explicit RadixSort(int n) : n(n)
    {
        cudaMalloc(&flags, (n + 1) * sizeof(unsigned));
        cudaMalloc(&other, n * sizeof(unsigned));
    }
    ~RadixSort()
    {
        cudaFree(flags);
        cudaFree(other);
    }
    void operator()(const unsigned *in, unsigned *out)
    {
        const dim3 grid((n + 255) / 256);
        cudaMemcpy(out, in, n * sizeof(unsigned), cudaMemcpyDefault);
        for (int bit = 0; bit < 32; bit += 2) {
            pass(grid, out, other, bit);
            pass(grid, other, out, bit + 1);
        }
    }

  private:
    void pass(dim3 grid, const unsigned *from, unsigned *to, int bit)
    {
        kernFlags<<<grid, 256>>>(from, flags, n, bit);
        kernScan<<<1, 256, 256 * sizeof(unsigned)>>>(flags, n);
        kernMove<<<grid, 256>>>(from, to, flags, n, bit);
    }
    int n;
    unsigned *flags, *other;
};
} // namespace

void sort(const unsigned *in, unsigned *out, int n)
{
    RadixSort{n}(in, out);
}

SCANBENCH_SORT("my-radix", sort, at_least(1))
