/* cub_halves: CUB's DeviceScan and DeviceReduce for elements of 16 bits, which are widened as they
 * are read, added as floats, and rounded as they are written. */
#include "cub_calls.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

namespace SCANBENCH_BACKEND
{

struct add_floats {
    __host__ __device__ __forceinline__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

template <class Half> struct widening {
    __host__ __device__ __forceinline__ float operator()(Half x) const
    {
        return widen(x);
    }
};

template <class Half> struct narrowing {
    __host__ __device__ __forceinline__ Half operator()(float sum) const
    {
        return narrow<Half>(sum);
    }
};

/* Calls f(in, out, n) with iterators over floats. */
template <class Function> static cudaError_t with_floats(const struct call *call, Function f)
{
    cudaError_t error = cudaSuccess;
    with_stored_type(call->problem.type, [&]<class T>(T) {
        if constexpr (!std::is_same_v<sum_of<T>, T>) {
            const auto in =
                thrust::make_transform_iterator(static_cast<const T *>(call->input), widening<T>{});
            const auto out = thrust::make_transform_output_iterator(static_cast<T *>(call->output),
                                                                    narrowing<T>{});
            error = with_count(call->problem.n, [&](auto n) { return f(in, out, n); });
        }
    });
    return error;
}

cudaError_t cub_scan_of_halves(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_floats(call, [&](auto in, auto out, auto n) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            return cub::DeviceScan::ExclusiveScan(call->scratch, *bytes, in, out, add_floats{},
                                                  0.0f, n, stream);
        return cub::DeviceScan::InclusiveScan(call->scratch, *bytes, in, out, add_floats{}, n,
                                              stream);
    });
}

cudaError_t cub_reduce_halves(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_floats(call, [&](auto in, auto out, auto n) {
        return cub::DeviceReduce::Reduce(call->scratch, *bytes, in, out, n, add_floats{}, 0.0f,
                                         stream);
    });
}

} // namespace SCANBENCH_BACKEND
