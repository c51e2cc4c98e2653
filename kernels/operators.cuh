/* operators.cuh: elements as operands of an operator of operators.def.
 *
 * A kernel writes a + b for what the operator makes of a, then b, and T(0) for its identity, as
 * algebra does for any monoid. For sums T is a number. For another operator it is an operand, which
 * holds a number and has that operator for its +. So no kernel knows which operator it computes. */
#pragma once

#include "with_type.cuh"

namespace SCANBENCH_BACKEND
{

template <class T>
constexpr T lowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                 : std::numeric_limits<T>::min();
template <class T>
constexpr T highest = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::max();

/* What an operator is on numbers of type T. */
template <class T, binary_operator ID> struct operator_on;

#define TWO_INPUT_OPERATOR(...)
#define OPERATOR(NAME, ...)                                               \
    template <class T> struct operator_on<T, OPERATOR_##NAME> {           \
        static __host__ __device__ __forceinline__ T apply(T a, T b)      \
        {                                                                 \
            return T(APPLY_##NAME(a, b));                                 \
        }                                                                 \
        static __host__ __device__ __forceinline__ constexpr T identity() \
        {                                                                 \
            return T(IDENTITY_##NAME(lowest<T>, highest<T>));             \
        }                                                                 \
    };
#include "../bench/operators.def"

/* A number under an operator other than sum; as large as the number, and aligned like it. */
template <class T, binary_operator ID> struct operand {
    static constexpr binary_operator OPERATOR = ID;
    T number;

    operand() = default;
    /* T(0) in a kernel. */
    __host__ __device__ __forceinline__ constexpr operand(int /* zero */)
    {
        number = operator_on<T, ID>::identity();
    }
    __device__ __forceinline__ operand operator+(operand right) const
    {
        right.number = operator_on<T, ID>::apply(number, right.number);
        return right;
    }
    __device__ __forceinline__ operand &operator+=(operand right)
    {
        return *this = *this + right;
    }
};

/* ---- Operands made of more than a number, whose + does not commute ---- */

/* The map h -> a h + b of a linear recurrence; x + y is x, then y. */
template <class T> struct affine {
    static constexpr bool KEEPS_ORDER = true;
    T a, b;

    affine() = default;
    __host__ __device__ __forceinline__ constexpr affine(int /* zero */) : a(1), b(0)
    {
    }
    __host__ __device__ __forceinline__ affine(T a, T b) : a(a), b(b)
    {
    }
    __host__ __device__ __forceinline__ affine operator+(affine right) const
    {
        return {T(right.a * a), T(right.a * b + right.b)};
    }
    __device__ __forceinline__ affine &operator+=(affine right)
    {
        return *this = *this + right;
    }
};

/* The sum since the last beginning of a segment, and whether there was one. By this operand any
 * scan becomes one of segments.
 * Source: Schwartz, "Ultracomputers", 1980; Sengupta, Harris, Zhang and Owens 2007. */
template <class T> struct flagged {
    static constexpr bool KEEPS_ORDER = true;
    T sum;
    unsigned begins; /* 0 or 1 */

    flagged() = default;
    __host__ __device__ __forceinline__ constexpr flagged(int /* zero */) : sum(0), begins(0)
    {
    }
    __device__ __forceinline__ flagged(T sum, unsigned begins) : sum(sum), begins(begins)
    {
    }
    __device__ __forceinline__ flagged operator+(flagged right) const
    {
        return {right.begins ? right.sum : T(sum + right.sum), begins | right.begins};
    }
    __device__ __forceinline__ flagged &operator+=(flagged right)
    {
        return *this = *this + right;
    }
};

/* May operands be added in any order? */
template <class T> constexpr bool COMMUTES = !requires
{
    T::KEEPS_ORDER;
};

/* Does the problem have operands that may not? */
inline bool keeps_order(const struct problem *problem)
{
    return problem->binary_operator == OPERATOR_RECURRENCE || problem->segments != SEGMENTS_NONE;
}

/* Calls f with a zero of the type of the problem's operands. Operators other than sum are compiled
 * for elements of 4 bytes and, if WIDE, of 8. */
template <bool WIDE, enum operation OP = OP_SCAN, class Function>
void with_operand(const struct problem *problem, Function f)
{
    if (problem->binary_operator == OPERATOR_SUM)
        return with_sum_type<OP>(problem->type, f);
    switch (OPERAND_ID(problem->binary_operator, problem->type)) {
#define OPERAND(OPERATOR, TYPE, T, STORED, ...)                               \
    case OPERAND_ID(OPERATOR_##OPERATOR, TYPE_##TYPE):                        \
        if constexpr (OPERATOR_##OPERATOR != OPERATOR_SUM &&                  \
                      (sizeof(STORED) == 4 || (WIDE && sizeof(STORED) == 8))) \
            f(operand<T, OPERATOR_##OPERATOR>(0));                            \
        break;
#include "../bench/operands.def"
    default:
        break;
    }
}

/* The same for algorithms that keep sums apart from elements: for sums, f is called with a zero of
 * what elements are stored as (with_type.cuh). */
template <bool WIDE, enum operation OP = OP_SCAN, class Function>
void with_stored_operand(const struct problem *problem, Function f)
{
    if (problem->binary_operator == OPERATOR_SUM)
        return with_stored_type<OP>(problem->type, f);
    with_operand<WIDE, OP>(problem, f);
}

} // namespace SCANBENCH_BACKEND
