/* reduce_cub: CUB's DeviceReduce, with preallocated temporary memory. */
#include "cub_calls.cuh"

#include <cub/device/device_reduce.cuh>

namespace SCANBENCH_BACKEND
{

/* A 32-bit count selects CUB's faster, 32-bit indices. */
template <class T, class Count>
static cudaError_t sum_of(const struct call *call, size_t *bytes, Count n, cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(call->scratch, *bytes, static_cast<const T *>(call->input),
                                  static_cast<T *>(call->output), n, stream);
}

static cudaError_t sum(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    const uint64_t n = call->problem.n;
    with_sum_type<OP_REDUCE>(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        error = n <= INT32_MAX ? sum_of<T, int32_t>(call, bytes, (int32_t)n, stream)
                               : sum_of<T, int64_t>(call, bytes, (int64_t)n, stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_cub) = {
    .name = "cub",
    .op = OP_REDUCE,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceReduce, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::sum>,
    .run = SCANBENCH_BACKEND::cub_run_sum<SCANBENCH_BACKEND::sum>,
};
