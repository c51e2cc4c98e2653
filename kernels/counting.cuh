/* counting.cuh: operands that count how often their operator is applied, in the emulator.
 *
 * Instead of a number, such an operand holds a depth: the length of the longest chain of
 * applications that led to it, each of which needs the result of the one before. Elements of the
 * input have depth 0. It is as large as the number, so a kernel takes the same steps, except
 * where it adds doubles otherwise (sum_of_totals()) or integers by atomics. */
#pragma once

#include "platform.cuh"

namespace SCANBENCH_BACKEND
{

/* Do the lanes of a warp combine the numbers, which operands stand for, by instructions? It is a
 * variable, because kernels compiled for both would take as long again. */
inline bool counts_instructions;

template <size_t BYTES> struct counting {
    std::conditional_t<BYTES == sizeof(uint64_t), uint64_t, uint32_t> depth;

    counting() = default;
    __host__ __device__ __forceinline__ constexpr counting(int /* zero */) : depth(0)
    {
    }
    __device__ __forceinline__ counting operator+(counting right) const
    {
        right.depth = max(depth, right.depth) + 1;
        note_applications(1, right.depth);
        return right;
    }
    /* In a recurrence, whose maps are applied by a product and a sum: only the sum counts. */
    __host__ __device__ __forceinline__ counting operator*(counting right) const
    {
        return right;
    }
    __device__ __forceinline__ counting &operator+=(counting right)
    {
        return *this = *this + right;
    }
};

} // namespace SCANBENCH_BACKEND
