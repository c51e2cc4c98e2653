// expect: failed,"input changed: input[0]
// check: changes its input|input[0]: wanted 47, got 0
// It works in the input and copies.
#include <scanbench_own.h>

__global__ void scan_in_place(int *data, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int x = data[i];
        data[i] = sum;
        sum += x;
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_in_place<<<1, 1, 0, stream>>>((int *)in, n);
    cudaMemcpyAsync(out, in, n * sizeof(int), cudaMemcpyDeviceToDevice, stream);
}

SCANBENCH_SCAN("mine", scan)
