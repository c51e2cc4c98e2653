/* row_sums.cuh: reductions of rows: a scan by segments that stores the last sum of each row only.
 *
 * However long rows are, every multiprocessor has as much work, which no assignment of rows to
 * blocks achieves. An array without segments is one row. */
#pragma once

#include "segment_slice.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, unsigned ROWS> struct row_sum_slice : segment_slice<T, row_heads, ROWS> {
    using base = segment_slice<T, row_heads, ROWS>;
    using base::ROW;
    using base::WIDTH;
    using typename base::stream;
    using typename base::total;

    /* A row's sum is known where the next row begins, and that of the last at the array's end. */
    __device__ __forceinline__ void finish(const stream &to, uint64_t first, total before,
                                           T *) const
    {
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            T sum = base::begun >> r & 1 ? base::left[r] : before.sum + base::left[r];
            const uint64_t i = first + r * ROW + lane_index() * WIDTH;
            const unsigned begins = base::begins_in(r);
            if (begins == 0 && i + WIDTH < to.n)
                continue;
#pragma unroll
            for (unsigned k = 0; k < WIDTH; k++) {
                if (begins >> k & 1) {
                    if (i + k > 0 && i + k < to.n)
                        to.out[to.heads.row_of(i + k) - 1] = sum;
                    sum = T(0);
                }
                sum += base::row[r].at[k];
                if (i + k + 1 == to.n)
                    to.out[to.heads.row_of(i + k)] = sum;
            }
        }
    }
};

template <class T> struct row_sums_of {
    using stream = segmented_arrays<T, row_heads>;
    template <unsigned ROWS> using slice = row_sum_slice<T, ROWS>;
    template <unsigned ROWS>
    using slice_anywhere = slice<ROWS>; /* never used: see row_sums_unsupported() */
};

/* Returns NULL, or why such slices cannot solve a problem. */
inline const char *row_sums_unsupported(const struct problem *problem)
{
    if (element_bytes(problem->type) != 4)
        return "is compiled for elements of 4 bytes only";
    if (problem->segments == SEGMENTS_OFFSETS)
        return "sums rows only: --segments=rows:L";
    return problem->unaligned ? "needs arrays that are aligned to 16 bytes" : nullptr;
}

/* Calls run.operator()<row_sums_of<T>>(stream). */
template <class Run> void with_row_sums(const struct call *call, Run run)
{
    const struct problem *problem = &call->problem;
    const bool one = problem->segments == SEGMENTS_NONE;
    if (problem->n == 0 && one) /* has a sum, of which no slice knows */
        succeeded(
            queue_of(call), "memset",
            cudaMemsetAsync(call->output, 0, element_bytes(problem->type), queue_of(call)->stream));
    if (problem->n == 0)
        return;
    with_sum_type<OP_REDUCE>(problem->type, [&]<class T>(T) {
        if constexpr (sizeof(T) == 4)
            run.template operator()<row_sums_of<T>>(segmented_arrays<T, row_heads>{
                arrays_of<T>(call), row_heads(one ? problem->n : problem->segment_length)});
    });
}

} // namespace SCANBENCH_BACKEND
