// expect: failed,"output[0]
// check: wrong result|what shared memory holds before anything is written to it
// check: wrong result
// Shared memory is taken for zeros.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    __shared__ int sum;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<1, 1, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
