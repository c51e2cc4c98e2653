/* is_not_zero.cuh: the predicate of compaction, for our kernels and the libraries. */
#pragma once

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Compares as numbers: -0 is zero, NaN is not. kept_elements.cuh compares words so, too. */
struct is_not_zero {
    template <class T> __host__ __device__ __forceinline__ bool operator()(T x) const
    {
        return widen(x) != sum_of<T>(0);
    }
};

} // namespace SCANBENCH_BACKEND
