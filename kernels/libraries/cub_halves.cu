/* cub_halves: CUB's DeviceScan and DeviceReduce for elements of 16 bits. CUB adds in the type that
 * the operator returns, f32. */
#include "cub_calls.cuh"
#include "library_types.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace SCANBENCH_BACKEND
{

using add_floats = cuda::std::plus<float>;

/* Calls f(in, out, n) with arrays of CUB's half types. */
template <class Function> static cudaError_t with_halves(const struct call *call, Function f)
{
    cudaError_t error = cudaSuccess;
    with_stored_type(call->problem.type, [&]<class T>(T) {
        if constexpr (!std::is_same_v<sum_of<T>, T>) {
            const auto *in = static_cast<const library_type<T> *>(call->input);
            auto *out = static_cast<library_type<T> *>(call->output);
            error = with_count(call->problem.n, [&](auto n) { return f(in, out, n); });
        }
    });
    return error;
}

cudaError_t cub_scan_of_halves(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_halves(call, [&](auto in, auto out, auto n) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            return cub::DeviceScan::ExclusiveScan(call->scratch, *bytes, in, out, add_floats{},
                                                  0.0f, n, stream);
        return cub::DeviceScan::InclusiveScan(call->scratch, *bytes, in, out, add_floats{}, n,
                                              stream);
    });
}

cudaError_t cub_reduce_halves(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_halves(call, [&](auto in, auto out, auto n) {
        return cub::DeviceReduce::Reduce(call->scratch, *bytes, in, out, n, add_floats{}, 0.0f,
                                         stream);
    });
}

} // namespace SCANBENCH_BACKEND
