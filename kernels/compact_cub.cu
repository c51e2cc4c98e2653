/* compact_cub: CUB's DeviceSelect::If, single pass, its temporary memory handed in. */
#include "is_not_zero.cuh"
#include "select_limits.cuh"

#include <cub/device/device_select.cuh>

namespace SCANBENCH_BACKEND
{

/* CUB's two calls in one: without scratch it only says how many bytes it wants. */
static cudaError_t cub_select(const struct call *call, size_t *bytes)
{
    cudaError_t error = cudaSuccess;
    const cudaStream_t stream = call->queue != nullptr ? queue_of(call)->stream : nullptr;
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        error = cub::DeviceSelect::If(call->scratch, *bytes, static_cast<const T *>(call->input),
                                      static_cast<T *>(call->output), call->count,
                                      (int64_t)call->problem.n, is_not_zero{}, stream);
    });
    return error;
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct call query = {.problem = *problem};
    size_t bytes = 0;
    return cub_select(&query, &bytes) == cudaSuccess ? bytes : 0;
}

/* What CUB said to want for the problem prepared: a user asks once, too. */
static size_t prepared_bytes;

static void prepare(const struct call *call)
{
    prepared_bytes = scratch_bytes(&call->problem);
}

static void run(const struct call *call)
{
    size_t bytes = prepared_bytes;
    if (call->problem.n > 0)
        succeeded(queue_of(call), "cub", cub_select(call, &bytes));
    else
        succeeded(queue_of(call), "count",
                  cudaMemsetAsync(call->count, 0, sizeof *call->count, queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_cub) = {
    .name = "cub",
    .op = OP_COMPACT,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceSelect::If, single pass, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .supports = SCANBENCH_BACKEND::select_unsupported,
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
