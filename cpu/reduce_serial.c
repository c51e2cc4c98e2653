/* reduce_serial: the plain loop on one thread.
 * Source:  none; the definition of a reduction.
 * Work:    n additions. Depth: n; the compiler may add integers in any order, and so by
 *          vectors, but floats only one after the other.
 * DRAM:    one read. */
#include "segments.h"

#define DEFINE_RUN(NAME, STORED, T, IDENTITY, APPLY)    \
    static void run_##NAME(const struct call *call)     \
    {                                                   \
        const STORED *in = call->input;                 \
        T sum = IDENTITY;                               \
        for (uint64_t i = 0; i < call->problem.n; i++)  \
            sum = APPLY(sum, widen_##STORED(in[i]));    \
        *(STORED *)call->output = narrow_##STORED(sum); \
    }
#include "of_operand.h"

static void reduce_segments(const struct call *call)
{
    for_each_segment(call, run);
}

const struct algorithm cpu_reduce_serial = {
    .name = "serial",
    .op = OP_REDUCE,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .summary = "the plain loop on one CPU thread",
    .source = "definition",
    .run = reduce_segments,
};
