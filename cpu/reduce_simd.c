/* reduce_simd: vectors of elements added up in four registers, on one thread.
 * Source:  none; several accumulators, because an addition waits for the one before.
 * Work:    n additions. Depth: n / (4 * lanes) + 2 + lanes.
 * DRAM:    one read, fetched a page ahead. */
#include "scan_kernels.h"
#include "segments.h"

static void reduce(const struct call *call)
{
    const struct problem *p = &call->problem;
    const uint64_t sum = sum_on_one_thread(p, call->input, p->n);
    store_sum(p, call->output, sum);
}

static void run(const struct call *call)
{
    for_each_segment(call, reduce);
}

const struct algorithm cpu_reduce_simd = {
    .name = "simd",
    .op = OP_REDUCE,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .traits = TRAIT_HAS_SIMD,
    .summary = "AVX-512 or AVX2 on one CPU thread, in four accumulators",
    .source = "definition",
    .supports = simd_unsupported,
    .run = run,
};
