/* sort_parallel: radix sort by several threads, most significant digit first.
 * Source:  Knuth, The Art of Computer Programming 3, sections 5.2.5 and 5.3.4. With AVX-512, short
 *          pieces are sorted by a network: Batcher 1968, in registers as in Bramas 2017.
 * Work:    O(n) for evenly spread keys, of which two digits are looked at. Skewed keys are
 *          also counted, and each further digit takes a pass through their bucket.
 * DRAM:    two reads and two writes of each key: moved to buckets, sorted. One read more if keys
 *          are skewed.
 * Scratch: the keys in buckets, up to an eighth longer than they need to be, by no more than 16
 * MiB; up to 2.9 MiB per thread to move keys and to sort a bucket. */
#include "sort_kernels.h"
#include "threads.h"

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
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD | TRAIT_PAIRS | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "several CPU threads: buckets by the top bits, then sorted in cache",
    .source = "Knuth 1973, Batcher 1968",
    .supports = radix_sort_unsupported,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
