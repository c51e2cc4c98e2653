/* scan_parallel: blocks in the second-level cache, scanned by several threads.
 * Source:  Merrill and Garland, NVR-2016-002: one pass, but with look-ahead.
 * Order of additions: fixed by n, --threads and the vector path. A block is summed in the
 *          same rounds by whichever thread, and sums are added in the order of blocks.
 * Work:    O(n), each element added twice.
 * DRAM:    one read, one write: a block is summed as it comes from memory, then
 *          scanned from the cache while the thread's next block arrives.
 * Scratch: one sum per block, two of a recurrence.
 *
 * A recurrence is read twice, the second time from the cache: a thread composes the steps of a
 * block, and solves it once it knows the map of all earlier blocks. */
#include "chain.h"
#include "prefetch.h"
#include "recurrence_kernels.h"
#include "scan_kernels.h"
#include "segments.h"
#include "threads.h"

/* Scans a block and sums the next, alternating between the two round by round, so that reads
 * and writes of memory overlap. Returns the sum of the next block. Either may be empty. */
static uint64_t scan_and_sum(const struct call *call, struct part current, struct part next,
                             uint64_t carry)
{
    const struct scan_kernels *k = scan_kernels(&call->problem);
    const size_t bytes = element_bytes(call->problem.type);
    const uint64_t round = ROUND_BYTES / bytes;
    char *out = (char *)call->output + (current.in - (const char *)call->input);
    struct scan_rest rest = {current.in, out, current.n, carry};
    uint64_t sum = identity_sum(&call->problem);
    begin_scan(&call->problem, &rest, true);
    while (rest.n > 0 || next.n > 0) {
        const struct part ahead = cut_off(&next, round, bytes);
        const uint64_t n = rest.n < round ? rest.n : round;
        rest.carry = k->scan(rest.in, rest.out, n, true, ahead.in, rest.carry);
        sum = k->sum(ahead.in, ahead.n, sum);
        rest.in += n * bytes;
        rest.out += n * bytes;
        rest.n -= n;
    }
    return sum;
}

static void scan_blocks(void *context, unsigned part, unsigned parts)
{
    (void)part;
    const struct call *call = context;
    if (parts == 1) {
        scan_on_one_thread(call);
        return;
    }
    const struct problem *p = &call->problem;
    const uint64_t identity = identity_sum(p), count = block_count(&call->problem);
    struct chain *chain = call->scratch;
    uint64_t carry = identity, added = 0, block = take_block(chain);
    if (block >= count)
        return;
    const struct part none = block_part(call, count);
    publish_sum(chain, block, scan_and_sum(call, none, block_part(call, block), identity),
                call->epoch);
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

static void recur_on_one_thread(const struct call *call)
{
    recurrence_kernels(call->problem.type)->solve(call, 0, call->problem.n, 0);
}

/* The chain has two words for each block of a recurrence: its map. */
static void recur_blocks(void *context, unsigned part, unsigned parts)
{
    (void)part;
    const struct call *call = context;
    if (parts == 1) {
        recur_on_one_thread(call);
        return;
    }
    const struct problem *p = &call->problem;
    const struct recurrence_kernels *k = recurrence_kernels(p->type);
    const uint64_t count = block_count(p);
    struct chain *chain = call->scratch;
    uint64_t h = 0, added = 0, block;
    while ((block = take_block(chain)) < count) {
        const struct part elements = block_part(call, block);
        const uint64_t first =
            (uint64_t)(elements.in - (const char *)call->input) / element_bytes(p->type);
        const struct affine_map own = k->compose(call, first, elements.n);
        publish_sum(chain, 2 * block, own.a, call->epoch);
        publish_sum(chain, 2 * block + 1, own.b, call->epoch);
        for (; added < block; added++) {
            const uint64_t a = await_sum(chain, 2 * added, call->epoch);
            h = k->apply((struct affine_map){a, await_sum(chain, 2 * added + 1, call->epoch)}, h);
        }
        k->solve(call, first, elements.n, h);
    }
}

/* The segments that begin in a part of the array. */
static void scan_segments(void *context, unsigned part, unsigned parts)
{
    const struct call *call = context;
    const struct problem *p = &call->problem;
    for_segments_from(call, slice_start(p->n, parts, part), slice_start(p->n, parts, part + 1),
                      p->binary_operator == OPERATOR_RECURRENCE ? recur_on_one_thread
                                                                : scan_on_one_thread);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return chain_bytes(problem->binary_operator == OPERATOR_RECURRENCE ? 2 * block_count(problem)
                                                                       : block_count(problem));
}

static void run(const struct call *call)
{
    const struct problem *p = &call->problem;
    if (p->segments != SEGMENTS_NONE)
        run_on_threads(p->device, threads_for(p), scan_segments, (void *)call);
    else
        run_chain(call, p->binary_operator == OPERATOR_RECURRENCE ? recur_blocks : scan_blocks);
}

const struct algorithm cpu_scan_parallel = {
    .name = "parallel",
    .op = OP_SCAN,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .recurrence_types = TYPES_OF_OWN_SUMS,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD | TRAIT_UNALIGNED | TRAIT_INCLUSIVE_IN_PLACE,
    .summary = "several CPU threads over cached blocks: one read, one write",
    .source = "Merrill and Garland 2016",
    .supports = simd_unsupported,
    .scratch_bytes = scratch_bytes,
    .prepare = prepare_chain,
    .run = run,
};
