/* reduce_cub_deterministic: CUB's DeviceReduce, required to return the same sum on every GPU. It
 * then adds in bins of exponents (Ahrens, Demmel and Nguyen, "Algorithms for efficient
 * reproducible floating point summation", 2020). The same sum in each run on one GPU is what
 * DeviceReduce always returns: that is `cub`. */
#include "cub_deterministic.cuh"

#if CUB_IS_DETERMINISTIC
#include <cub/device/device_reduce.cuh>

namespace SCANBENCH_BACKEND
{

static cudaError_t sum(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return cub_of_floats(call, bytes, stream, cuda::execution::determinism::gpu_to_gpu,
                         [&](const auto *in, auto *out, auto n, const auto &environment) {
                             return cub::DeviceReduce::Sum(in, out, n, environment);
                         });
}

} // namespace SCANBENCH_BACKEND
#endif

ALGORITHM_DESCRIPTOR(reduce_cub_deterministic) = {
    .name = "cub-deterministic",
    .op = OP_REDUCE,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceReduce of floats, with the same sum on every GPU",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    DETERMINISTIC(sum, cub_run_reduction),
};
