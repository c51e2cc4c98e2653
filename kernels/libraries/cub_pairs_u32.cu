/* cub_pairs_u32: CUB's sort of pairs with values of 32 bits. */
#include "cub_sort_pairs.cuh"

namespace SCANBENCH_BACKEND
{

cudaError_t cub_sort_pairs_u32(const struct call *call, void *temporary, size_t *bytes, int end_bit,
                               cudaStream_t stream)
{
    return cub_sort_pairs_of<uint32_t>(call, temporary, bytes, end_bit, stream);
}

} // namespace SCANBENCH_BACKEND
