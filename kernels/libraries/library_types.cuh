/* library_types.cuh: elements as CUB and Thrust know them. Of structs like ours, CUB's sort takes
 * none, and the rest has slower code for them. */
#pragma once

#include "../launch.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace SCANBENCH_BACKEND
{

template <class T> struct library_type_of {
    using type = T;
};
template <> struct library_type_of<f16> {
    using type = __half;
};
template <> struct library_type_of<bf16> {
    using type = __nv_bfloat16;
};
template <class T> using library_type = typename library_type_of<T>::type;

} // namespace SCANBENCH_BACKEND
