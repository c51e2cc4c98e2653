/* select_calls.cuh: how CUB and Thrust are called to compact, and the problems for which those of
 * this build fail. */
#pragma once

#include "../is_not_zero.cuh"
#include "library_types.cuh"

#include <cub/version.cuh>

namespace SCANBENCH_BACKEND
{

/* The predicate for elements of type T. */
template <class T> struct is_kept {
    __host__ __device__ __forceinline__ bool operator()(library_type<T> x) const
    {
        T element;
        memcpy(&element, &x, sizeof element);
        return is_not_zero{}(element);
    }
};

/* Up to version 3.0.1 at least, DeviceSelect counts the kept elements among 2^31-1 in an int,
 * including the rest of the last tile. If nearly nothing is dropped, and few elements are in that
 * tile, the count overflows, and elements are written outside the buffers. Seen on an H200 with
 * 4-byte elements from n = 2^31-2 on, with 2147 of 2^31 elements dropped; not with n = 2^31-1024,
 * nor with 21475 dropped. Seen also with 2-byte elements at n = 2^31-1800, none dropped. Tiles
 * differ by type and GPU, so any n is left out that a tile more makes too large. 3.6.0 is correct.
 * Thrust's copy_if uses the same code. */
inline const char *select_unsupported(const struct problem *problem)
{
    constexpr uint64_t PARTITION = 0x7FFFFFFF, TILE_AT_MOST = 1 << 15;
    const double left_out = (1 - problem->kept_share) * (double)PARTITION;
    if (CUB_VERSION < 300600 && problem->n > PARTITION - TILE_AT_MOST && left_out < TILE_AT_MOST)
        return "this CUB may write outside its buffers if it keeps nearly all of about 2^31 "
               "elements or more (seen in 3.0.1; 3.6.0 is correct)";
    return nullptr;
}

} // namespace SCANBENCH_BACKEND
