// expect: error,|failed assertion in scan_all, block 0, thread 0
// check: stops itself by an assertion|failed assertion in scan_all|only above n = 320
// It stops itself.
#include <assert.h>
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        assert(i < 500);
        out[i] = sum;
        sum += in[i];
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_all<<<1, 1, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
