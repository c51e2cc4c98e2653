/* ordered_scan.cuh: scans whose operands do not commute, segments and recurrences, by the kernels
 * of this room. */
#pragma once

#include "recurrence_slice.cuh"
#include "segment_slice.cuh"

namespace SCANBENCH_BACKEND
{

/* Calls run.operator()<SLICES>(stream) with the slices of the call's operands, which have 4 bytes.
 * of_offsets: as with_heads() takes it. */
template <class OfOffsets, class Run>
void with_ordered_scan(const struct call *call, OfOffsets of_offsets, Run run)
{
    with_sum_of_4_bytes(&call->problem, [&]<class T>(T) {
        if (call->problem.binary_operator == OPERATOR_RECURRENCE)
            return run.template operator()<recurrence_of<T>>(
                recurrence_arrays<T>{arrays_of<T>(call), static_cast<const T *>(call->second)});
        with_heads(call, of_offsets, [&]<class Heads>(const Heads &heads) {
            run.template operator()<segments_of<T, Heads>>(
                segmented_arrays<T, Heads>{arrays_of<T>(call), heads});
        });
    });
}

/* Scratch for a board and the bits of segments after it. */
inline size_t with_head_bits(const struct problem *problem, size_t board_bytes)
{
    const size_t bits = head_bits_bytes(problem);
    return bits > 0 ? next_place(board_bytes) + bits : board_bytes;
}

inline bit_heads bits_after(const struct call *call, size_t board_bytes)
{
    return bits_of_offsets(call, static_cast<char *>(call->scratch) + next_place(board_bytes));
}

} // namespace SCANBENCH_BACKEND
