/* scan_cub: CUB's DeviceScan, single pass, with preallocated temporary memory. */
#include "cub_calls.cuh"

#include <cub/device/device_scan.cuh>

namespace SCANBENCH_BACKEND
{

/* A 32-bit count selects CUB's faster, 32-bit indices. */
template <class T, class Count>
static cudaError_t scan_of(const struct call *call, size_t *bytes, Count n, cudaStream_t stream)
{
    const T *in = static_cast<const T *>(call->input);
    T *out = static_cast<T *>(call->output);
    if (call->problem.kind == KIND_EXCLUSIVE)
        return cub::DeviceScan::ExclusiveSum(call->scratch, *bytes, in, out, n, stream);
    return cub::DeviceScan::InclusiveSum(call->scratch, *bytes, in, out, n, stream);
}

static cudaError_t scan(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    const uint64_t n = call->problem.n;
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        error = n <= INT32_MAX ? scan_of<T, int32_t>(call, bytes, (int32_t)n, stream)
                               : scan_of<T, int64_t>(call, bytes, (int64_t)n, stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_cub) = {
    .name = "cub",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceScan, single pass, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::scan>,
    .run = SCANBENCH_BACKEND::cub_run<SCANBENCH_BACKEND::scan>,
};
