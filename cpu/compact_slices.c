/* compact_slices: compaction over the slices of several processes.
 * Source:  scanbench, over the fastest compaction of one process.
 * DRAM:    as the compaction within a slice: kept elements stay in their slice.
 * Between: one count per process, from which each knows its place in the whole result. */
#include "slices.h"

/* Scratch: the counts of all slices, that of this one, and the local algorithm's. */
struct layout {
    size_t count, local;
};

static struct layout layout_of(const struct problem *p)
{
    const size_t count = 2 * gathered_bytes(p, sizeof(uint64_t));
    return (struct layout){.count = count, .local = next_place(count + sizeof(uint64_t))};
}

static struct call compaction_of(const struct call *call)
{
    const struct layout at = layout_of(&call->problem);
    struct call local = local_call(call, at.local);
    local.count = at_place(call, at.count);
    return local;
}

static void run(const struct team *team)
{
    const struct call *call = team->call;
    const struct call local = compaction_of(call);
    const size_t gathered = gathered_place(&call->problem, sizeof(uint64_t), call->epoch);
    call->problem.local->run(&local);
    team_all_gather(team, call->epoch, layout_of(&call->problem).count, gathered, sizeof(uint64_t));
    const uint64_t *counts = at_place(call, gathered);
    call->count[0] = counts[team->first];
    call->count[1] = 0;
    for (unsigned k = 0; k < team->first; k++)
        call->count[1] += counts[k];
}

static void prepare(const struct call *call)
{
    const struct call local = compaction_of(call);
    if (call->problem.local->prepare != NULL)
        call->problem.local->prepare(&local);
}

static size_t scratch_bytes(const struct problem *p)
{
    return layout_of(p).local + local_scratch_bytes(p);
}

const struct algorithm cpu_compact_slices = {
    .name = "slices",
    .op = OP_COMPACT,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD,
    .summary = "slices compacted where they lie, counts exchanged",
    .source = "scanbench",
    .scratch_bytes = scratch_bytes,
    .prepare = prepare,
    .run_slices = run,
};
