/* cuda_probe: finds algorithms that use the default stream of a GPU. */
#include "cuda_device.cuh"

namespace SCANBENCH_BACKEND
{

#ifdef __CUDACC__

/* The queue's stream does not wait for the default stream, nor the default stream for it. What an
 * algorithm launches there by mistake is in no time of ours, and its result may be checked before
 * it is there.
 *
 * While a blocking stream is being captured into a graph, any use of the default stream is an
 * error, since it would wait for the captured work: it returns cudaErrorStreamCaptureImplicit and
 * invalidates the capture. So an empty blocking stream is captured during one call. The capture is
 * a relaxed one, which permits allocation and everything on other streams, so an algorithm that
 * uses the queue's stream alone does not notice. Only waiting for the whole device is an error as
 * well, and tells nothing about the default stream. */
cudaStream_t start_probe()
{
    cudaStream_t stream = nullptr;
    if (cudaStreamCreate(&stream) == cudaSuccess &&
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) {
        cudaStreamDestroy(stream);
        stream = nullptr;
    }
    cudaGetLastError();
    return stream;
}

/* Did run() meet this error, in a call of its own or in one that succeeded() has seen? */
static bool was(cudaError_t last, cudaError_t error, const queue *queue)
{
    return last == error || strstr(queue->error, cudaGetErrorString(error)) != nullptr;
}

/* An algorithm may have read and dropped its error: then the invalidated capture tells. */
enum stream_use end_probe(cudaStream_t stream, const queue *queue)
{
    if (stream == nullptr)
        return STREAM_OWN;
    const cudaError_t last = cudaGetLastError();
    const bool used = was(last, cudaErrorStreamCaptureImplicit, queue);
    const bool waited = was(last, cudaErrorStreamCaptureUnsupported, queue);
    cudaGraph_t graph = nullptr;
    const bool invalidated = cudaStreamEndCapture(stream, &graph) != cudaSuccess;
    if (graph != nullptr)
        cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaGetLastError();
    if (used || (invalidated && !waited))
        return STREAM_DEFAULT;
    return waited ? STREAM_UNKNOWN : STREAM_OWN;
}

#else

/* The emulator sees every launch. */
cudaStream_t start_probe()
{
    return nullptr;
}

enum stream_use end_probe(cudaStream_t, const queue *)
{
    return STREAM_OWN;
}

#endif

} // namespace SCANBENCH_BACKEND
