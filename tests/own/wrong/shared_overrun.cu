// expect: error,|shared memory out of bounds in scan_block, block 0: something wrote past the end of temp (shared_overrun.cu:8)
// check: outside an array|shared_overrun.cu:10: index 256 of an array of type|at every size
// One word more than the array has.
#include <scanbench_own.h>

__global__ void scan_block(const int *in, int *out, int n)
{
    __shared__ int temp[256], sum;
    for (int i = threadIdx.x; i <= 256; i += blockDim.x) /* i < 256 */
        temp[i] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < n; i++) {
            out[i] = sum;
            sum += in[i];
        }
    }
}

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    scan_block<<<1, 256, 0, stream>>>(in, out, n);
}

SCANBENCH_SCAN("mine", scan)
