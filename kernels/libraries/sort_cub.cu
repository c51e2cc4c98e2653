/* sort_cub: CUB's DeviceRadixSort, all bits, its temporary memory handed in. The
 * input stays as it is, which costs CUB a second array in that memory. */
#include "cub_calls.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace SCANBENCH_BACKEND
{

/* The count has 64 bits whatever n: with 32, CUB 3.0's kernel for u32 keys takes 74
 * registers in place of 56 on sm_90, and sorting is 17 % slower. */
static cudaError_t sort(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    if (TYPES_OF_NARROW_KEYS >> call->problem.type & 1)
        return cub_sort_narrow_keys(call, bytes, stream);
    if (call->problem.values != VALUES_NONE)
        return cub_sort_pairs(call, call->scratch, bytes,
                              (int)(8 * element_bytes(call->problem.type)), stream);
    cudaError_t error = cudaSuccess;
    with_element_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        error = cub::DeviceRadixSort::SortKeys(
            call->scratch, *bytes, static_cast<const T *>(call->input),
            static_cast<T *>(call->output), call->problem.n, 0, (int)(8 * sizeof(T)), stream);
    });
    return error;
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_cub) = {
    .name = "cub",
    .op = OP_SORT,
    .family = FAMILY_LIBRARY,
    .result = RESULT_ZEROS_EQUAL,
    .traits = TRAIT_PAIRS | TRAIT_STABLE,
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "cub::DeviceRadixSort, all bits, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::sort>,
    .run = SCANBENCH_BACKEND::cub_run<SCANBENCH_BACKEND::sort>,
};
