// expect: failed,"written after output: output[1000]
// check: outside an array|scan_all|past_the_end.cu:14|past the end of a buffer|no multiples of 256
// The last tile is written whole.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
    for (int i = n; i % 256 != 0; i++)
        out[i] = sum;
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<1, 1, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
