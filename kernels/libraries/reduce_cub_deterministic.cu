/* reduce_cub_deterministic: CUB's DeviceReduce, required to return the same sum on every GPU. It
 * then adds in bins of exponents (Ahrens, Demmel and Nguyen, "Algorithms for efficient
 * reproducible floating point summation", 2020). The same sum in each run on one GPU is what
 * DeviceReduce always returns: that is `cub`. */
#include "cub_deterministic.cuh"

#if CUB_IS_DETERMINISTIC
#include <cub/device/device_reduce.cuh>
#endif

namespace SCANBENCH_BACKEND
{

#if CUB_IS_DETERMINISTIC

/* A 32-bit count selects CUB's faster, 32-bit indices. */
template <class T, class Count>
static cudaError_t sum_of(const struct call *call, size_t *bytes, Count n, cudaStream_t stream)
{
    return cub_with_requirement(call, bytes, stream, cuda::execution::determinism::gpu_to_gpu,
                                [&](const auto &environment) {
                                    return cub::DeviceReduce::Sum(
                                        static_cast<const T *>(call->input),
                                        static_cast<T *>(call->output), n, environment);
                                });
}

static cudaError_t sum(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    const uint64_t n = call->problem.n;
    with_sum_type<OP_REDUCE>(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>)
            error = n <= INT32_MAX ? sum_of<T, int32_t>(call, bytes, (int32_t)n, stream)
                                   : sum_of<T, int64_t>(call, bytes, (int64_t)n, stream);
    });
    return error;
}

static constexpr auto supports = not_of_floats;
static constexpr auto scratch_bytes = cub_scratch_bytes<sum>;
static constexpr auto run = cub_run_sum<sum>;

#else

static constexpr auto supports = no_deterministic_cub;
static constexpr size_t (*scratch_bytes)(const struct problem *) = nullptr;
static constexpr void (*run)(const struct call *) = nullptr;

#endif

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_cub_deterministic) = {
    .name = "cub-deterministic",
    .op = OP_REDUCE,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceReduce of floats, with the same sum on every GPU",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .supports = SCANBENCH_BACKEND::supports,
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
