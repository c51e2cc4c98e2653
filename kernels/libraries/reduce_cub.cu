/* reduce_cub: CUB's DeviceReduce, with preallocated temporary memory. */
#include "cub_calls.cuh"

#include <cub/device/device_reduce.cuh>

namespace SCANBENCH_BACKEND
{

static cudaError_t reduce(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    if (call->problem.segments != SEGMENTS_NONE)
        return cub_reduce_segments(call, bytes, stream);
    if (call->problem.binary_operator != OPERATOR_SUM)
        return cub_reduce_by_operator(call, bytes, stream);
    if (TYPES_OF_WIDE_SUMS >> call->problem.type & 1)
        return cub_reduce_halves(call, bytes, stream);
    cudaError_t error = cudaSuccess;
    with_sum_type(call->problem.type, [&](auto zero) {
        const auto *in = static_cast<const decltype(zero) *>(call->input);
        auto *out = static_cast<decltype(zero) *>(call->output);
        error = with_count(call->problem.n, [&](auto n) {
            return cub::DeviceReduce::Sum(call->scratch, *bytes, in, out, n, stream);
        });
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_cub) = {
    .name = "cub",
    .op = OP_REDUCE,
    .family = FAMILY_LIBRARY,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_BYTES,
    .segment_types = TYPES_OF_4_BYTES,
    .summary = "cub::DeviceReduce, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::reduce>,
    .run = SCANBENCH_BACKEND::cub_run_reduction<SCANBENCH_BACKEND::reduce>,
};
