/* scan_cub: CUB's DeviceScan, single pass, its temporary memory handed in. */
#include "launch.cuh"

#include <cub/device/device_scan.cuh>

namespace SCANBENCH_BACKEND
{

/* CUB's two calls in one: without scratch it only says how many bytes it wants.
 * A 32-bit count selects its faster, 32-bit indices. */
template <class T, class Count>
static cudaError_t cub_scan(const struct call *call, size_t *bytes, Count n)
{
    const T *in = static_cast<const T *>(call->input);
    T *out = static_cast<T *>(call->output);
    const cudaStream_t stream = call->queue != nullptr ? queue_of(call)->stream : nullptr;
    if (call->problem.kind == KIND_EXCLUSIVE)
        return cub::DeviceScan::ExclusiveSum(call->scratch, *bytes, in, out, n, stream);
    return cub::DeviceScan::InclusiveSum(call->scratch, *bytes, in, out, n, stream);
}

static cudaError_t cub_scan_of_type(const struct call *call, size_t *bytes)
{
    cudaError_t error = cudaSuccess;
    const uint64_t n = call->problem.n;
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        error = n <= INT32_MAX ? cub_scan<T, int32_t>(call, bytes, (int32_t)n)
                               : cub_scan<T, int64_t>(call, bytes, (int64_t)n);
    });
    return error;
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct call query = {.problem = *problem};
    size_t bytes = 0;
    return cub_scan_of_type(&query, &bytes) == cudaSuccess ? bytes : 0;
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
        succeeded(queue_of(call), "cub", cub_scan_of_type(call, &bytes));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_cub) = {
    .name = "cub",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceScan, single pass, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
