/* select_limits.cuh: what the CUB and Thrust of this build cannot compact. */
#ifndef SCANBENCH_KERNELS_SELECT_LIMITS_CUH
#define SCANBENCH_KERNELS_SELECT_LIMITS_CUH

#include "launch.cuh"

#include <cub/version.cuh>

namespace SCANBENCH_BACKEND
{

/* Up to 3.0.1 at least, DeviceSelect counts what it keeps of 2^31-1 elements in an int,
 * the rest of the last tile included: where next to nothing is left out, that is too much,
 * and elements are written to where no memory is. Seen on an H200 with 4-byte elements
 * from 2^31-2 on, 2147 of 2^31 left out; not with 2^31-1024, nor with 21475 left out, nor
 * with 8-byte elements. 3.6.0 is right. Thrust's copy_if is the same code. */
inline const char *select_unsupported(const struct problem *problem)
{
    constexpr uint64_t PARTITION = 0x7FFFFFFF, TILE_AT_MOST = 1 << 14;
    const double left_out = (1 - problem->kept_share) * (double)PARTITION;
    if (CUB_VERSION < 300600 && element_bytes(problem->type) == 4 &&
        problem->n > PARTITION - 1023 && left_out < TILE_AT_MOST)
        return "this CUB writes outside its buffers where it keeps nearly all of 2^31 or more "
               "elements (seen in 3.0.1; 3.6.0 is right)";
    return nullptr;
}

} // namespace SCANBENCH_BACKEND

#endif
