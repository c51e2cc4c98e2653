/* compact_parallel: blocks in the second-level cache, packed by several threads.
 * Source:  Merrill and Garland, NVR-2016-002: one pass, but with look-ahead.
 * Work:    O(n), each element tested twice.
 * DRAM:    one read: a block is counted as it comes from memory, then packed from
 *          the cache while the thread's next block arrives. Kept elements are written.
 * Scratch: one count per block. */
#include "chain.h"
#include "compact_kernels.h"
#include "prefetch.h"

/* Packs a block and counts the next, alternating between the two round by round. Returns the
 * count of the next block. */
static uint64_t pack_and_count(const struct call *call, struct part current, struct part next,
                               uint64_t before)
{
    const enum element_type type = call->problem.type;
    const struct compact_kernels *k = compact_kernels(type, call->problem.simd);
    const uint64_t magnitude = magnitude_of(type);
    const size_t bytes = element_bytes(type);
    struct compaction compaction;
    uint64_t count = 0;
    begin_compaction(&compaction, (char *)call->output + before * bytes);
    while (current.n > 0) {
        const struct part piece = cut_off(&current, ROUND_BYTES / bytes, bytes);
        const struct part ahead = cut_off(&next, ROUND_BYTES / bytes, bytes);
        k->feed(&compaction, piece.in, piece.n, magnitude, true, ahead.in);
        count += k->count(ahead.in, ahead.n, magnitude);
    }
    end_compaction(&compaction);
    return count + k->count(next.in, next.n, magnitude);
}

static void compact_blocks(void *context, unsigned part, unsigned parts)
{
    (void)part;
    const struct call *call = context;
    if (parts == 1) {
        compact_on_one_thread(call);
        return;
    }
    const enum element_type type = call->problem.type;
    const uint64_t blocks = block_count(&call->problem);
    struct chain *chain = call->scratch;
    uint64_t kept = 0, added = 0, block = take_block(chain);
    if (block >= blocks)
        return;
    const struct part first = block_part(call, block);
    publish_sum(
        chain, block,
        compact_kernels(type, call->problem.simd)->count(first.in, first.n, magnitude_of(type)),
        call->epoch);
    while (block < blocks) {
        const uint64_t next = take_block(chain);
        for (; added < block; added++)
            kept += await_sum(chain, added, call->epoch);
        const uint64_t count =
            pack_and_count(call, block_part(call, block), block_part(call, next), kept);
        if (next < blocks)
            publish_sum(chain, next, count, call->epoch);
        if (block + 1 == blocks)
            *call->count = kept + await_sum(chain, block, call->epoch);
        block = next;
    }
}

static void run(const struct call *call)
{
    run_chain(call, compact_blocks);
}

const struct algorithm cpu_compact_parallel = {
    .name = "parallel",
    .op = OP_COMPACT,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD | TRAIT_UNALIGNED,
    .summary = "several CPU threads over cached blocks: one read",
    .source = "Merrill and Garland 2016",
    .supports = simd_unsupported,
    .scratch_bytes = chain_scratch_bytes,
    .prepare = prepare_chain,
    .run = run,
};
