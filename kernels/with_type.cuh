/* with_type.cuh: from a type or a block size known at run time to one known at compile time. */
#pragma once

#include "../bench/apply.h"

#include <cuda_runtime.h>

#include <limits>
#include <type_traits>

namespace SCANBENCH_BACKEND
{

/* ---- Elements and their sums ---- */

/* The type that elements of type T, as kernels read and write them, are added in. Kernels that keep
 * sums apart from elements add narrow integers in whole registers, since on less each instruction
 * takes another one that masks; such a sum wraps when it is stored as an element. */
template <class T> struct sums_of {
    using type = T;
    using in_register =
        std::conditional_t<std::is_integral_v<T> && (sizeof(T) < sizeof(uint32_t)), uint32_t, T>;
};
template <> struct sums_of<f16> {
    using type = float;
    using in_register = float;
};
template <> struct sums_of<bf16> {
    using type = float;
    using in_register = float;
};
template <class T> using sum_of = typename sums_of<T>::type;
template <class T> using register_sum = typename sums_of<T>::in_register;

template <class T> __host__ __device__ __forceinline__ T widen(T x)
{
    return x;
}
__host__ __device__ __forceinline__ float widen(f16 x)
{
    return widen_f16(x);
}
__host__ __device__ __forceinline__ float widen(bf16 x)
{
    return widen_bf16(x);
}

/* A sum as an element, rounded if that is narrower. */
template <class T> __host__ __device__ __forceinline__ T narrow(sum_of<T> sum)
{
    if constexpr (std::is_same_v<T, f16>)
        return narrow_f16(sum);
    else if constexpr (std::is_same_v<T, bf16>)
        return narrow_bf16(sum);
    else
        return sum;
}

/* ---- From a type known at run time ---- */

/* What a test compiles only to see that it compiles has one type of each width. */
#ifdef SCANBENCH_FEW_TYPES
constexpr unsigned TYPES_COMPILED = TYPE_BIT_I32 | TYPE_BIT_F64 | TYPE_BIT_U8 | TYPE_BIT_F16;
#else
constexpr unsigned TYPES_COMPILED = ~0u;
#endif

/* Calls f with a zero of the type as which elements are read and written: that of their sums or,
 * if sums are wider, their own. */
template <class Function> void with_stored_type(enum element_type type, Function f)
{
    switch (type) {
#define TYPE(NAME, name, T, SUM, ...)                                   \
    case TYPE_##NAME:                                                   \
        if constexpr ((TYPES_COMPILED & TYPE_BIT_##NAME) != 0)          \
            f(std::conditional_t<sizeof(T) == sizeof(SUM), SUM, T>(0)); \
        break;
#include "../bench/types.def"
    default:
        break;
    }
}

/* Calls f with a zero of the type in which elements are summed, if they are no narrower. */
template <class Function> void with_sum_type(enum element_type type, Function f)
{
    with_stored_type(type, [&](auto zero) {
        if constexpr (std::is_same_v<sum_of<decltype(zero)>, decltype(zero)>)
            f(zero);
    });
}

/* Calls f with a zero of the element type itself if it is one of TYPES, for algorithms that order
 * elements. */
template <unsigned TYPES = TYPES_OF_4_AND_8_BYTES, class Function>
void with_element_type(enum element_type type, Function f)
{
    switch (type) {
#define TYPE(NAME, name, T, ...)                                       \
    case TYPE_##NAME:                                                  \
        if constexpr ((TYPES & TYPES_COMPILED & TYPE_BIT_##NAME) != 0) \
            f(T(0));                                                   \
        break;
#include "../bench/types.def"
    default:
        break;
    }
}

/* Calls f with the block size as a compile-time constant, so that loops over the levels of a
 * tile unroll. */
template <class Function> void with_block(unsigned block, Function f)
{
    switch (block) {
    case 32:
        return f(std::integral_constant<unsigned, 32>{});
    case 64:
        return f(std::integral_constant<unsigned, 64>{});
    case 128:
        return f(std::integral_constant<unsigned, 128>{});
    case 256:
        return f(std::integral_constant<unsigned, 256>{});
    case 512:
        return f(std::integral_constant<unsigned, 512>{});
    default:
        return f(std::integral_constant<unsigned, 1024>{});
    }
}

/* 32 bits if they suffice to count n elements. */
inline enum element_type index_type(const struct problem *problem)
{
    return problem->n <= UINT32_MAX ? TYPE_U32 : TYPE_U64;
}

template <class Function> void with_index_type(const struct problem *problem, Function f)
{
    return index_type(problem) == TYPE_U32 ? f(uint32_t{}) : f(uint64_t{});
}

} // namespace SCANBENCH_BACKEND
