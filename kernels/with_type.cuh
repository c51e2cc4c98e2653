/* with_type.cuh: from a type or a block size known at run time to one known at compile time. */
#pragma once

#include "../bench/apply.h"
#include "../bench/least_bytes.h"

#include <limits>
#include <type_traits>

namespace SCANBENCH_BACKEND
{

/* Calls f with a zero of the type in which elements are summed. */
template <enum operation OP = OP_SCAN, class Function>
void with_sum_type(enum element_type type, Function f)
{
    switch (type) {
#define TYPE(NAME, name, T, SUM, ...)               \
    case TYPE_##NAME:                               \
        if constexpr (sizeof(T) >= least_bytes(OP)) \
            f(SUM{});                               \
        break;
#include "../bench/types.def"
    default:
        break;
    }
}

/* Calls f with a zero of the element type itself, for algorithms that order elements. */
template <enum operation OP = OP_SORT, class Function>
void with_element_type(enum element_type type, Function f)
{
    switch (type) {
#define TYPE(NAME, name, T, ...)                    \
    case TYPE_##NAME:                               \
        if constexpr (sizeof(T) >= least_bytes(OP)) \
            f(T{});                                 \
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
