/* scan_cub_deterministic: CUB's DeviceScan, required to return the same sums in each run on the
 * same GPU. It then adds floats in an order that does not depend on the progress of other blocks.
 */
#include "cub_deterministic.cuh"

#if CUB_IS_DETERMINISTIC
#include <cub/device/device_scan.cuh>
#endif

namespace SCANBENCH_BACKEND
{

#if CUB_IS_DETERMINISTIC

/* A 32-bit count selects CUB's faster, 32-bit indices. */
template <class T, class Count>
static cudaError_t scan_of(const struct call *call, size_t *bytes, Count n, cudaStream_t stream)
{
    const T *in = static_cast<const T *>(call->input);
    T *out = static_cast<T *>(call->output);
    return cub_with_requirement(call, bytes, stream, cuda::execution::determinism::run_to_run,
                                [&](const auto &environment) {
                                    if (call->problem.kind == KIND_EXCLUSIVE)
                                        return cub::DeviceScan::ExclusiveSum(in, out, n,
                                                                             environment);
                                    return cub::DeviceScan::InclusiveSum(in, out, n, environment);
                                });
}

static cudaError_t scan(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    const uint64_t n = call->problem.n;
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>)
            error = n <= INT32_MAX ? scan_of<T, int32_t>(call, bytes, (int32_t)n, stream)
                                   : scan_of<T, int64_t>(call, bytes, (int64_t)n, stream);
    });
    return error;
}

static constexpr auto supports = not_of_floats;
static constexpr auto scratch_bytes = cub_scratch_bytes<scan>;
static constexpr auto run = cub_run<scan>;

#else

static constexpr auto supports = no_deterministic_cub;
static constexpr size_t (*scratch_bytes)(const struct problem *) = nullptr;
static constexpr void (*run)(const struct call *) = nullptr;

#endif

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_cub_deterministic) = {
    .name = "cub-deterministic",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceScan of floats, with the same sums in each run on a GPU",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .supports = SCANBENCH_BACKEND::supports,
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
