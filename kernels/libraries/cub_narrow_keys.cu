/* cub_narrow_keys: CUB's sort of keys of 8 and 16 bits. */
#include "cub_calls.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace SCANBENCH_BACKEND
{

/* The type as which CUB knows elements of type T. */
template <class T> struct cub_key {
    using type = T;
};
template <> struct cub_key<f16> {
    using type = __half;
};
template <> struct cub_key<bf16> {
    using type = __nv_bfloat16;
};

/* The count has 64 bits, as in sort_cub. */
cudaError_t cub_sort_narrow_keys(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    with_element_type<TYPES_OF_NARROW_KEYS>(call->problem.type, [&]<class T>(T) {
        using Key = typename cub_key<T>::type;
        error = cub::DeviceRadixSort::SortKeys(
            call->scratch, *bytes, static_cast<const Key *>(call->input),
            static_cast<Key *>(call->output), call->problem.n, 0, (int)(8 * sizeof(Key)), stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND
