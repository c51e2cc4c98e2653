/* cub_calls.cuh: what the algorithms that call CUB share: its function is called twice. */
#ifndef SCANBENCH_KERNELS_CUB_CALLS_CUH
#define SCANBENCH_KERNELS_CUB_CALLS_CUH

#include "launch.cuh"

#include <cub/version.cuh>

namespace SCANBENCH_BACKEND
{

LIBRARY_VERSION("CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION)

/* A function of CUB for the types of the call. Without call->scratch it sets `bytes` to the
 * scratch that the problem needs, and does nothing else. */
using cub_function = cudaError_t(const struct call *call, size_t *bytes, cudaStream_t stream);

/* The first call: how much scratch? */
template <cub_function *Function> size_t cub_scratch_bytes(const struct problem *problem)
{
    const struct call query = {.problem = *problem};
    size_t bytes = 0;
    return Function(&query, &bytes, nullptr) == cudaSuccess ? bytes : 0;
}

/* The second call: the work. */
template <cub_function *Function> void cub_run(const struct call *call)
{
    queue *queue = queue_of(call);
    size_t bytes = call->scratch_bytes;
    if (call->problem.n > 0)
        succeeded(queue, "cub", Function(call, &bytes, queue->stream));
    else if (call->count != nullptr)
        succeeded(queue, "count",
                  cudaMemsetAsync(call->count, 0, sizeof *call->count, queue->stream));
}

} // namespace SCANBENCH_BACKEND

#endif
