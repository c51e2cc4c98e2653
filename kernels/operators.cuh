/* operators.cuh: elements as operands of an operator of operators.def.
 *
 * A kernel writes a + b for what the operator makes of a, then b, and T(0) for its identity, as
 * algebra does for any monoid. For sums T is a number. For another operator it is an operand, which
 * holds a number and has that operator for its +. So no kernel knows which operator it computes. */
#pragma once

#include "counting.cuh"
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

/* Are there instructions that combine the lanes of a warp? */
template <class T>
constexpr bool HAS_WARP_INSTRUCTION = COMPILED_FOR >= 80 &&
                                      (std::is_same_v<T, uint32_t> ||
                                       (std::is_unsigned_v<T> && sizeof(T) == 8));
template <class T, binary_operator ID>
constexpr bool HAS_WARP_INSTRUCTION<operand<T, ID>> = COMPILED_FOR >= 80 && std::is_integral_v<T> &&
                                                      sizeof(T) == sizeof(unsigned) &&
                                                      (ID == OPERATOR_MAX || ID == OPERATOR_MIN ||
                                                       ID == OPERATOR_XOR);

/* Calls f with a zero of T or, while applications are counted, with one of an operand that counts
 * and is as large as T. Depths need more than one byte. */
template <class T, class Function> void with_counting(T zero, Function f)
{
    if constexpr (counts_applications && sizeof(T) >= 4)
        if (operands_must_count()) {
            counts_instructions = HAS_WARP_INSTRUCTION<T>;
            return f(counting<sizeof(T)>(0));
        }
    f(zero);
}

/* Calls f so with a zero of the type of the problem's sums, if it has 4 bytes. */
template <class Function> void with_sum_of_4_bytes(const struct problem *problem, Function f)
{
    with_sum_type(problem->type, [&]<class T>(T zero) {
        if constexpr (sizeof(T) == 4)
            with_counting(zero, f);
    });
}

/* Calls f with a zero of the type of the problem's numbers or operands. Operators other than sum
 * are compiled for elements of 4 bytes and, if WIDE, of 8. */
template <bool WIDE, class Function>
void with_uncounted_operand(const struct problem *problem, Function f)
{
    if (problem->binary_operator == OPERATOR_SUM)
        return with_sum_type(problem->type, f);
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

/* The same, or with a zero of an operand that counts. */
template <bool WIDE, class Function> void with_operand(const struct problem *problem, Function f)
{
    with_uncounted_operand<WIDE>(problem, [&](auto zero) { with_counting(zero, f); });
}

/* The same for algorithms that keep sums apart from elements: if these are narrower, f is called
 * with a zero of what elements are stored as (with_type.cuh). */
template <bool WIDE, class Function>
void with_stored_operand(const struct problem *problem, Function f)
{
    if (!(TYPES_OF_WIDE_SUMS >> problem->type & 1))
        return with_operand<WIDE>(problem, f);
    with_stored_type(problem->type, [&]<class T>(T zero) {
        if constexpr (!std::is_same_v<sum_of<T>, T>)
            f(zero);
    });
}

} // namespace SCANBENCH_BACKEND
