/* scan_cub_deterministic: CUB's DeviceScan, required to return the same sums in each run on the
 * same GPU. It then adds floats in an order that does not depend on the progress of other blocks.
 */
#include "cub_deterministic.cuh"

#if CUB_IS_DETERMINISTIC
#include <cub/device/device_scan.cuh>

namespace SCANBENCH_BACKEND
{

static cudaError_t scan(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return cub_of_floats(call, bytes, stream, cuda::execution::determinism::run_to_run,
                         [&](const auto *in, auto *out, auto n, const auto &environment) {
                             if (call->problem.kind == KIND_EXCLUSIVE)
                                 return cub::DeviceScan::ExclusiveSum(in, out, n, environment);
                             return cub::DeviceScan::InclusiveSum(in, out, n, environment);
                         });
}

} // namespace SCANBENCH_BACKEND
#endif

ALGORITHM_DESCRIPTOR(scan_cub_deterministic) = {
    .name = "cub-deterministic",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceScan of floats, with the same sums in each run on a GPU",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    DETERMINISTIC(scan, cub_run),
};
