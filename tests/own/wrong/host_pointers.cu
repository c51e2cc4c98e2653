// check: a kernel uses memory of the host|memory of the host used in scan_all, block 0, thread 0 at host_pointers.cu:9: read of 4 bytes|where cudaMemcpy() brings
// The kernel is given the pointers of the host form as they are.
#include <scanbench_own.h>

__global__ void scan_all(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        const int x = in[i];
        out[i] = sum;
        sum += x;
    }
}

void scan(int n, int *odata, const int *idata)
{
    scan_all<<<1, 1>>>(idata, odata, n);
}

SCANBENCH_HOST_SCAN("mine", scan)
