/* operators.cuh: elements as operands of an operator of operators.def.
 *
 * A kernel writes a + b for what the operator makes of a, then b, and T(0) for its identity, as
 * algebra does for any monoid. For sums T is a number. For another operator it is an operand, which
 * holds a number and has that operator for its +. So no kernel knows which operator it computes. */
#pragma once

#include "with_type.cuh"

namespace SCANBENCH_BACKEND
{

template <class T> __host__ __device__ constexpr T lowest()
{
    return std::is_floating_point_v<T> ? -T(INFINITY) : std::numeric_limits<T>::min();
}

template <class T> __host__ __device__ constexpr T highest()
{
    return std::is_floating_point_v<T> ? T(INFINITY) : std::numeric_limits<T>::max();
}

/* What an operator is on numbers of type T. */
template <class T, enum binary_operator ID> struct operator_on;

#define TWO_INPUT_OPERATOR(...)
#define OPERATOR(NAME, ...)                                               \
    template <class T> struct operator_on<T, OPERATOR_##NAME> {           \
        static __host__ __device__ __forceinline__ T apply(T a, T b)      \
        {                                                                 \
            return T(APPLY_##NAME(a, b));                                 \
        }                                                                 \
        static __host__ __device__ __forceinline__ constexpr T identity() \
        {                                                                 \
            return T(IDENTITY_##NAME(lowest<T>(), highest<T>()));         \
        }                                                                 \
    };
#include "../bench/operators.def"

/* A number under an operator other than sum; as large as the number, and aligned like it. */
template <class T, enum binary_operator ID>
struct operand {
    static constexpr enum binary_operator OPERATOR = ID;
    T number;

    operand() = default;
    /* T(0) in a kernel. */
    __host__ __device__ __forceinline__ constexpr operand(int /* zero */) :
        number(operator_on<T, ID>::identity()){} __device__ __forceinline__ operand
        operator+(operand right)
            const {operand both; both.number = operator_on<T, ID>::apply(number, right.number);
                   return both;}
__device__ __forceinline__ operand &operator+=(operand right)
{
    return *this = *this + right;
}
}; // namespace SCANBENCH_BACKEND

/* Calls f with a zero of the type of the problem's operands. Operators other than sum are compiled
 * for elements of 4 bytes and, if WIDE, of 8. */
template <bool WIDE, enum operation OP = OP_SCAN, class Function>
void with_operand(const struct problem *problem, Function f)
{
    if (problem->binary_operator == OPERATOR_SUM)
        return with_sum_type<OP>(problem->type, f);
    switch (OPERAND_ID(problem->binary_operator, problem->type)) {
#define OPERAND(OPERATOR, TYPE, T, ...)                             \
    case OPERAND_ID(OPERATOR_##OPERATOR, TYPE_##TYPE):              \
        if constexpr (OPERATOR_##OPERATOR != OPERATOR_SUM &&        \
                      (sizeof(T) == 4 || (WIDE && sizeof(T) == 8))) \
            f(operand<T, OPERATOR_##OPERATOR>(0));                  \
        break;
#include "../bench/operands.def"
    default:
        break;
    }
}

} // namespace SCANBENCH_BACKEND
