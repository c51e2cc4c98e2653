/* gpu: compacts an array on a GPU, on a stream, and sorts what is left in place.
 *
 *   cc gpu.c $(pkg-config --cflags --libs scanbench) -I/usr/local/cuda/include \
 *       -L/usr/local/cuda/lib64 -lcudart && ./a.out */
#include <scanbench.h>

#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000 };

static void check(scanbench_handle *handle, scanbench_status status)
{
    if (status == SCANBENCH_OK)
        return;
    fprintf(stderr, "scanbench: %s %s\n", scanbench_status_text(status), scanbench_error(handle));
    exit(1);
}

static void check_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
}

int main(void)
{
    static int32_t array[N];
    for (int i = 0; i < N; i++)
        array[i] = (int32_t)(i * 7919LL % 1000) - 250; /* each 1000 elements have one 0 */

    void *d_in, *d_out;
    uint64_t kept;
    cudaStream_t stream;
    check_cuda(cudaMalloc(&d_in, sizeof array));
    check_cuda(cudaMalloc(&d_out, sizeof array));
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check_cuda(cudaMemcpyAsync(d_in, array, sizeof array, cudaMemcpyHostToDevice, stream));

    scanbench_handle *handle = NULL;
    check(handle, scanbench_create_gpu(&handle, 0));
    /* The count goes to the host, so this call waits for it. */
    check(handle, scanbench_compact_nonzero(handle, SCANBENCH_I32, d_in, d_out, &kept, N, stream));
    check(handle, scanbench_sort_keys(handle, SCANBENCH_I32, d_out, d_out, kept, stream));

    check_cuda(cudaMemcpyAsync(array, d_out, kept * sizeof *array, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
    printf("%d elements, %llu kept, from %d to %d\n", N, (unsigned long long)kept, array[0],
           array[kept - 1]);

    scanbench_destroy(handle);
    check_cuda(cudaFree(d_in));
    check_cuda(cudaFree(d_out));
    check_cuda(cudaStreamDestroy(stream));
    return 0;
}
