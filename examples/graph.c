/* graph: captures a sum in a CUDA graph once, and launches the graph with new data each time.
 *
 *   cc graph.c $(pkg-config --cflags --libs scanbench) -I/usr/local/cuda/include \
 *       -L/usr/local/cuda/lib64 -lcudart && ./a.out */
#include <scanbench.h>

#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 50000, LAUNCHES = 5 };

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

static cudaGraphExec_t capture_sum(scanbench_handle *handle, const void *d_in, void *d_out,
                                   cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    /* Nothing can be allocated during capture. */
    check(handle, scanbench_reserve(handle, SCANBENCH_SUM, SCANBENCH_I32, N));
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(handle, scanbench_inclusive_sum(handle, SCANBENCH_I32, d_in, d_out, N, stream));
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiate(&executable, graph, 0));
    check_cuda(cudaGraphDestroy(graph));
    return executable;
}

int main(void)
{
    static int32_t array[N];
    void *d_in, *d_out;
    cudaStream_t stream;
    check_cuda(cudaMalloc(&d_in, sizeof array));
    check_cuda(cudaMalloc(&d_out, sizeof array));
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    scanbench_handle *handle = NULL;
    check(handle, scanbench_create_gpu(&handle, 0));
    cudaGraphExec_t sum = capture_sum(handle, d_in, d_out, stream);

    for (int launch = 1; launch <= LAUNCHES; launch++) {
        for (int i = 0; i < N; i++)
            array[i] = launch;
        check_cuda(cudaMemcpyAsync(d_in, array, sizeof array, cudaMemcpyHostToDevice, stream));
        check_cuda(cudaGraphLaunch(sum, stream));
        check_cuda(cudaMemcpyAsync(array, d_out, sizeof array, cudaMemcpyDeviceToHost, stream));
        check_cuda(cudaStreamSynchronize(stream));
        printf("%d elements of %d: %d\n", N, launch, array[N - 1]);
    }

    check_cuda(cudaGraphExecDestroy(sum));
    scanbench_destroy(handle); /* after the graph, which uses its scratch memory */
    check_cuda(cudaFree(d_in));
    check_cuda(cudaFree(d_out));
    check_cuda(cudaStreamDestroy(stream));
    return 0;
}
