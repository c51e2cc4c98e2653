/* scan_cub: CUB's DeviceScan, single pass, with preallocated temporary memory. */
#include "cub_calls.cuh"

#include <cub/device/device_scan.cuh>

namespace SCANBENCH_BACKEND
{

static cudaError_t scan(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    if (keeps_order(&call->problem))
        return cub_scan_in_order(call, bytes, stream);
    if (call->problem.binary_operator != OPERATOR_SUM)
        return cub_scan_by_operator(call, bytes, stream);
    if (TYPES_OF_WIDE_SUMS >> call->problem.type & 1)
        return cub_scan_of_halves(call, bytes, stream);
    cudaError_t error = cudaSuccess;
    with_sum_type(call->problem.type, [&](auto zero) {
        const auto *in = static_cast<const decltype(zero) *>(call->input);
        auto *out = static_cast<decltype(zero) *>(call->output);
        error = with_count(call->problem.n, [&](auto n) {
            if (call->problem.kind == KIND_EXCLUSIVE)
                return cub::DeviceScan::ExclusiveSum(call->scratch, *bytes, in, out, n, stream);
            return cub::DeviceScan::InclusiveSum(call->scratch, *bytes, in, out, n, stream);
        });
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_cub) = {
    .name = "cub",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_BYTES,
    .recurrence_types = TYPES_OF_4_BYTES,
    .segment_types = TYPES_OF_4_BYTES,
    .summary = "cub::DeviceScan, single pass, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .supports = SCANBENCH_BACKEND::cub_segments_unsupported,
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::scan>,
    .run = SCANBENCH_BACKEND::cub_run<SCANBENCH_BACKEND::scan>,
};
