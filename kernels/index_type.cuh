/* index_type.cuh: the type that counts elements. */
#pragma once

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

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
