/* cub_pairs.cuh: CUB's sort of pairs, compiled in a file for each type of values. */
#ifndef SCANBENCH_KERNELS_LIBRARIES_CUB_PAIRS_CUH
#define SCANBENCH_KERNELS_LIBRARIES_CUB_PAIRS_CUH

#include "../launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Sorts the pairs of a call by the bits of their keys below end_bit. Without temporary memory it
 * only sets `bytes` to what that needs. */
using cub_pairs_function = cudaError_t(const struct call *call, void *temporary, size_t *bytes,
                                       int end_bit, cudaStream_t stream);
cub_pairs_function cub_sort_pairs_u32, cub_sort_pairs_u64;

inline cudaError_t cub_sort_pairs(const struct call *call, void *temporary, size_t *bytes,
                                  int end_bit, cudaStream_t stream)
{
    return call->problem.values == VALUES_U64
               ? cub_sort_pairs_u64(call, temporary, bytes, end_bit, stream)
               : cub_sort_pairs_u32(call, temporary, bytes, end_bit, stream);
}

} // namespace SCANBENCH_BACKEND

#endif
