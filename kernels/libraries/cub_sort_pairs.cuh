/* cub_sort_pairs.cuh: what the files of cub_pairs.cuh have in common. */
#ifndef SCANBENCH_KERNELS_LIBRARIES_CUB_SORT_PAIRS_CUH
#define SCANBENCH_KERNELS_LIBRARIES_CUB_SORT_PAIRS_CUH

#include "cub_pairs.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace SCANBENCH_BACKEND
{

/* The count has 64 bits, as in sort_cub. */
template <class Value>
cudaError_t cub_sort_pairs_of(const struct call *call, void *temporary, size_t *bytes, int end_bit,
                              cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    with_element_type(call->problem.type, [&](auto zero) {
        using Key = decltype(zero);
        error = cub::DeviceRadixSort::SortPairs(
            temporary, *bytes, static_cast<const Key *>(call->input),
            static_cast<Key *>(call->output), static_cast<const Value *>(call->input_values),
            static_cast<Value *>(call->output_values), call->problem.n, 0, end_bit, stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

#endif
