/* reduce_parallel: a part of the array for each of several threads, then the parts' sums.
 * Source:  none.
 * Order of additions: fixed by n, --threads and the vector path. There is a part for
 *          each thread that is worth waking, and their sums are added in order.
 * Work:    n additions. Depth: n / (4 * lanes * threads) + threads.
 * DRAM:    one read.
 * Scratch: a cache line for each part's sum. */
#include "scan_kernels.h"
#include "segments.h"
#include "threads.h"

struct part_sum {
    uint64_t sum; /* see scan_kernels.h */
    char rest_of_line[CACHE_LINE_BYTES - sizeof(uint64_t)];
};

static void sum_part(void *context, unsigned part, unsigned parts)
{
    const struct call *call = context;
    const struct problem *p = &call->problem;
    struct part_sum *sums = call->scratch;
    const uint64_t start = slice_start(p->n, parts, part);
    const char *in = (const char *)call->input + start * element_bytes(p->type);
    sums[part].sum = sum_on_one_thread(p, in, slice_start(p->n, parts, part + 1) - start);
}

static void reduce_on_one_thread(const struct call *call)
{
    const struct problem *p = &call->problem;
    const uint64_t sum = sum_on_one_thread(p, call->input, p->n);
    store_sum(p, call->output, sum);
}

/* The segments that begin in a part of the array. */
static void reduce_segments(void *context, unsigned part, unsigned parts)
{
    const struct call *call = context;
    const uint64_t n = call->problem.n;
    for_segments_from(call, slice_start(n, parts, part), slice_start(n, parts, part + 1),
                      reduce_on_one_thread);
}

static void reduce_whole(const struct call *call)
{
    const struct problem *p = &call->problem;
    const unsigned parts = threads_for(p);
    const struct part_sum *sums = call->scratch;
    run_on_threads(p->device, parts, sum_part, (void *)call);
    uint64_t sum = identity_sum(p);
    for (unsigned part = 0; part < parts; part++)
        sum = add_sums(p, sum, sums[part].sum);
    store_sum(p, call->output, sum);
}

static void run(const struct call *call)
{
    const struct problem *p = &call->problem;
    if (p->segments == SEGMENTS_NONE)
        reduce_whole(call);
    else
        run_on_threads(p->device, threads_for(p), reduce_segments, (void *)call);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return threads_for(problem) * sizeof(struct part_sum);
}

const struct algorithm cpu_reduce_parallel = {
    .name = "parallel",
    .op = OP_REDUCE,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD,
    .summary = "several CPU threads, each over a part with vectors",
    .source = "definition",
    .supports = simd_unsupported,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
