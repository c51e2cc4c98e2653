/* compact_cub: CUB's DeviceSelect::If, single pass, with preallocated temporary memory. */
#include "cub_calls.cuh"
#include "select_calls.cuh"

#include <cub/device/device_select.cuh>

namespace SCANBENCH_BACKEND
{

static cudaError_t select(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    with_stored_type(call->problem.type, [&]<class T>(T) {
        const auto *in = static_cast<const library_type<T> *>(call->input);
        auto *out = static_cast<library_type<T> *>(call->output);
        error = cub::DeviceSelect::If(call->scratch, *bytes, in, out, call->count,
                                      (int64_t)call->problem.n, is_kept<T>{}, stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_cub) = {
    .name = "cub",
    .op = OP_COMPACT,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceSelect::If, single pass, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .supports = SCANBENCH_BACKEND::select_unsupported,
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::select>,
    .run = SCANBENCH_BACKEND::cub_run<SCANBENCH_BACKEND::select>,
};
