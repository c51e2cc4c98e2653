/* cub_operators: CUB's scans and reductions by operators other than sum. */
#include "cub_calls.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/functional>

namespace SCANBENCH_BACKEND
{

/* CUB knows these function objects, and has faster code for some than for a function of ours. */
template <enum binary_operator ID> struct of_cub;
template <> struct of_cub<OPERATOR_MAX> {
    using type = cuda::maximum<>;
};
template <> struct of_cub<OPERATOR_MIN> {
    using type = cuda::minimum<>;
};
template <> struct of_cub<OPERATOR_XOR> {
    using type = cuda::std::bit_xor<>;
};

/* Calls f(in, out, operator, identity, n). */
template <class Function> static cudaError_t with_cub_operator(const struct call *call, Function f)
{
    cudaError_t error = cudaSuccess;
    with_operand<false>(&call->problem, [&]<class Operand>(Operand) {
        if constexpr (!std::is_arithmetic_v<Operand>)
            error = with_count(call->problem.n, [&](auto n) {
                using T = decltype(Operand::number);
                return f(static_cast<const T *>(call->input), static_cast<T *>(call->output),
                         typename of_cub<Operand::OPERATOR>::type(), Operand(0).number, n);
            });
    });
    return error;
}

cudaError_t cub_scan_by_operator(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_cub_operator(call, [&](auto in, auto out, auto add, auto identity, auto n) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            return cub::DeviceScan::ExclusiveScan(call->scratch, *bytes, in, out, add, identity, n,
                                                  stream);
        return cub::DeviceScan::InclusiveScan(call->scratch, *bytes, in, out, add, n, stream);
    });
}

cudaError_t cub_reduce_by_operator(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    return with_cub_operator(call, [&](auto in, auto out, auto add, auto identity, auto n) {
        return cub::DeviceReduce::Reduce(call->scratch, *bytes, in, out, n, add, identity, stream);
    });
}

} // namespace SCANBENCH_BACKEND
