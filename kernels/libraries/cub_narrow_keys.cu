/* cub_narrow_keys: CUB's sort of keys of 8 and 16 bits. */
#include "cub_calls.cuh"
#include "library_types.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace SCANBENCH_BACKEND
{

/* The count has 64 bits, as in sort_cub. */
cudaError_t cub_sort_narrow_keys(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    with_element_type<TYPES_OF_NARROW_KEYS>(call->problem.type, [&]<class T>(T) {
        using Key = library_type<T>;
        error = cub::DeviceRadixSort::SortKeys(
            call->scratch, *bytes, static_cast<const Key *>(call->input),
            static_cast<Key *>(call->output), call->problem.n, 0, (int)(8 * sizeof(Key)), stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND
