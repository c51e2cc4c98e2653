/* cub_operators: CUB's scans and reductions by operators other than sum. */
#include "cub_calls.cuh"
#include "library_operators.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace SCANBENCH_BACKEND
{

/* Calls f(in, out, operator, identity, n). */
template <class Function> static cudaError_t with_cub_operator(const struct call *call, Function f)
{
    cudaError_t error = cudaSuccess;
    with_library_operator(call, [&](auto in, auto out, auto combine, auto identity) {
        error =
            with_count(call->problem.n, [&](auto n) { return f(in, out, combine, identity, n); });
    });
    return error;
}

cudaError_t cub_scan_by_operator(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_cub_operator(call, [&](auto in, auto out, auto combine, auto identity, auto n) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            return cub::DeviceScan::ExclusiveScan(call->scratch, *bytes, in, out, combine, identity,
                                                  n, stream);
        return cub::DeviceScan::InclusiveScan(call->scratch, *bytes, in, out, combine, n, stream);
    });
}

cudaError_t cub_reduce_by_operator(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_cub_operator(call, [&](auto in, auto out, auto combine, auto identity, auto n) {
        return cub::DeviceReduce::Reduce(call->scratch, *bytes, in, out, n, combine, identity,
                                         stream);
    });
}

} // namespace SCANBENCH_BACKEND
