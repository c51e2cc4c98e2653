/* sort_parallel: radix sort by several threads, most significant digit first.
 * Source:  Knuth, The Art of Computer Programming 3, sections 5.2.5 and 5.3.4; lines are
 *          collected in cache as in Satish and others, SIGMOD 2010.
 * Work:    O(n) for evenly spread keys, of which two digits are looked at. Each further digit
 *          in which keys of a bucket crowd takes a pass through it.
 * DRAM:    three reads and two writes of each key: counted, put into buckets, sorted. Large
 *          arrays are written past the caches.
 * Scratch: the keys in buckets; one line per bucket and thread. */
#include "sort_kernels.h"
#include "team.h"

static unsigned threads_for(const struct problem *problem)
{
    return useful_threads(problem->threads, problem->n * element_bytes(problem->type));
}

static const char *unsupported(const struct problem *problem)
{
    const char *why = radix_sort_unsupported(problem);
    return why != NULL ? why : openmp_unsupported(problem);
}

static void run(const struct call *call)
{
    radix_sort(call, threads_for(&call->problem));
}

static size_t scratch_bytes(const struct problem *problem)
{
    return radix_sort_scratch_bytes(problem, threads_for(problem));
}

const struct algorithm cpu_sort_parallel = {
    .name = "parallel",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD | TRAIT_PAIRS | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "several CPU threads: buckets by the top bits, then sorted in cache",
    .source = "Satish et al. 2010",
    .supports = unsupported,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
