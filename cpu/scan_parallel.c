/* scan_parallel: blocks in the second-level cache, scanned by several threads.
 * Source:  Merrill and Garland, NVR-2016-002: one pass, but with look-ahead.
 * Work:    O(n), each element added twice.
 * DRAM:    one read, one write: a block is summed as it comes from memory, then
 *          scanned from the cache while the thread's next block arrives.
 * Scratch: one sum per block. */
#include "chain.h"
#include "prefetch.h"
#include "scan_kernels.h"
#include "segments.h"
#include "threads.h"

/* Scans a block and sums the next, alternating between the two round by round, so that reads
 * and writes of memory overlap. Returns the sum of the next block. */
static uint64_t scan_and_sum(const struct call *call, struct part current, struct part next,
                             uint64_t carry)
{
    const struct scan_kernels *k = scan_kernels(&call->problem);
    const size_t bytes = element_bytes(call->problem.type);
    char *out = (char *)call->output + (current.in - (const char *)call->input);
    uint64_t sum = identity_sum(&call->problem);
    if (call->problem.kind == KIND_EXCLUSIVE && current.n > 0) {
        store_sum(&call->problem, out, carry);
        out += bytes;
        current.n--;
    }
    /* Pieces end at cache line boundaries of the output. */
    uint64_t n = (ROUND_BYTES + bytes_to_line(out)) / bytes;
    while (current.n > 0) {
        const struct part piece = cut_off(&current, n, bytes);
        const struct part ahead = cut_off(&next, n, bytes);
        carry = k->scan(piece.in, out, piece.n, ahead.in, carry);
        sum = k->sum(ahead.in, ahead.n, sum);
        out += piece.n * bytes;
        n = ROUND_BYTES / bytes;
    }
    return k->sum(next.in, next.n, sum);
}

static void scan_blocks(void *context, unsigned member, unsigned size)
{
    (void)member;
    const struct call *call = context;
    if (size == 1) {
        scan_on_one_thread(call);
        return;
    }
    const struct problem *p = &call->problem;
    const uint64_t identity = identity_sum(p), count = block_count(&call->problem);
    struct chain *chain = call->scratch;
    uint64_t carry = identity, added = 0, block = take_block(chain);
    if (block >= count)
        return;
    const struct part first = block_part(call, block);
    publish_sum(chain, block, scan_kernels(p)->sum(first.in, first.n, identity), call->epoch);
    while (block < count) {
        const uint64_t next = take_block(chain);
        for (; added < block; added++)
            carry = add_sums(p, carry, await_sum(chain, added, call->epoch));
        const uint64_t sum =
            scan_and_sum(call, block_part(call, block), block_part(call, next), carry);
        if (next < count)
            publish_sum(chain, next, sum, call->epoch);
        block = next;
    }
}

/* Each thread has the segments that begin in its part of the array. */
static void scan_segments(void *context, unsigned member, unsigned size)
{
    const struct call *call = context;
    const uint64_t n = call->problem.n;
    for_segments_from(call, slice_start(n, size, member), slice_start(n, size, member + 1),
                      scan_on_one_thread);
}

static void run(const struct call *call)
{
    const struct problem *p = &call->problem;
    if (p->segments == SEGMENTS_NONE)
        run_chain(call, scan_blocks);
    else
        run_on_threads(p->device, threads_for(p), scan_segments, (void *)call);
}

const struct algorithm cpu_scan_parallel = {
    .name = "parallel",
    .op = OP_SCAN,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .segment_types = ALL_TYPES,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD | TRAIT_UNALIGNED | TRAIT_INCLUSIVE_IN_PLACE,
    .summary = "several CPU threads over cached blocks: one read, one write",
    .source = "Merrill and Garland 2016",
    .supports = simd_threads_unsupported,
    .scratch_bytes = chain_scratch_bytes,
    .prepare = prepare_chain,
    .run = run,
};
