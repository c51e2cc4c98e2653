/* cub_pairs: CUB's sort of pairs, which takes long to compile, for all algorithms that call it. */
#include "cub_calls.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace SCANBENCH_BACKEND
{

/* The count has 64 bits, as in sort_cub. */
template <class Value>
static cudaError_t sort(const struct call *call, void *temporary, size_t *bytes, int end_bit,
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

cudaError_t cub_sort_pairs(const struct call *call, void *temporary, size_t *bytes, int end_bit,
                           cudaStream_t stream)
{
    return call->problem.values == VALUES_U64
               ? sort<uint64_t>(call, temporary, bytes, end_bit, stream)
               : sort<uint32_t>(call, temporary, bytes, end_bit, stream);
}

} // namespace SCANBENCH_BACKEND
