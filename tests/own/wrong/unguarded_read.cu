// check: reads or writes outside an array|read of 4 bytes|at unguarded_read.cu:11
// flags: --n=1000
// Each thread reads its element before it asks whether there is one. Compilers like to move the
// read to where its value is needed, where nothing is wrong any more.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    const int own = in[i];
    if (i < n) {
        for (int j = 0; j <= i; j++)
            sum += in[j];
        out[i] = sum - own;
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    if (n > 0)
        scan_all<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan, at_most(5000))
