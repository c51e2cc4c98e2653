/* library_operators.cuh: operators as CUB and Thrust know them, which have faster code for some of
 * these function objects than for a function of ours. */
#pragma once

#include "../operators.cuh"

#include <cuda/functional>

namespace SCANBENCH_BACKEND
{

template <enum binary_operator ID> struct library_operator;
template <> struct library_operator<OPERATOR_MAX> {
    using type = cuda::maximum<>;
};
template <> struct library_operator<OPERATOR_MIN> {
    using type = cuda::minimum<>;
};
template <> struct library_operator<OPERATOR_XOR> {
    using type = cuda::std::bit_xor<>;
};

/* Calls f(in, out, operator, identity) for an operator other than sum, with elements of 4 bytes. */
template <class Function> void with_library_operator(const struct call *call, Function f)
{
    with_operand<false>(&call->problem, [&]<class Operand>(Operand zero) {
        if constexpr (!std::is_arithmetic_v<Operand>) {
            using T = decltype(Operand::number);
            f(static_cast<const T *>(call->input), static_cast<T *>(call->output),
              typename library_operator<Operand::OPERATOR>::type(), zero.number);
        }
    });
}

} // namespace SCANBENCH_BACKEND
