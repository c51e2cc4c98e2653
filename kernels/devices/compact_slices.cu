/* compact_slices: compaction over the slices of several devices.
 * Source:  scanbench, over the fastest compaction of one device.
 * Work:    as the compaction within a slice.
 * DRAM:    n elements read and the kept ones written: they stay in their slice.
 * Between: one count per device, from which each knows its place in the whole result.
 * Relies:  on the engine that exchanges the counts. */
#include "team.cuh"

namespace SCANBENCH_BACKEND
{

namespace compact_slices
{

/* Scratch: the counts of all slices, that of the member's own, and the local algorithm's. On a
 * single device only the local algorithm's is laid out. */
struct layout {
    gathered counts;
    size_t count, local;

    explicit layout(const struct problem *problem)
        : counts(problem, sizeof(uint64_t)), count(counts.end()),
          local(problem->device->members > 1 ? next_place(count + sizeof(uint64_t)) : 0)
    {
    }
};

/* The result of a slice: the number of its kept elements, and of those in earlier slices. On a
 * single device only the former is written. */
__global__ void place_kernel(const uint64_t *counts, unsigned member, uint64_t *result)
{
    uint64_t before = 0;
    for (unsigned k = 0; k < member; k++)
        before += counts[k];
    result[0] = counts[member];
    result[1] = before;
}

static struct call local_call(const struct call *call)
{
    const layout at(&call->problem);
    struct call local = SCANBENCH_BACKEND::local_call(call, at.local);
    local.count = at_place<uint64_t>(call, at.count);
    return local;
}

static void run(const struct team *team)
{
    const uint32_t number = team->call->epoch;
    const layout at(&team->call->problem);
    if (team->size == 1)
        return run_local(team->call, at.local);
    on_each_member(team, [&](const struct call *call, unsigned) {
        const struct call local = local_call(call);
        call->problem.local->run(&local);
    });
    team_all_gather(team, number, at.count, at.counts.place(number), sizeof(uint64_t));
    on_each_member(team, [&](const struct call *call, unsigned member) {
        launch<place_kernel>(queue_of(call), {1, 1},
                             at_place<const uint64_t>(call, at.counts.place(number)), member,
                             call->count);
    });
}

static void prepare(const struct call *call)
{
    prepare_local(call, layout(&call->problem).local);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return layout(problem).local + local_scratch_bytes(problem);
}

} // namespace compact_slices

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_slices) = {
    .name = "slices",
    .op = OP_COMPACT,
    .summary = "slices compacted where they lie, counts exchanged",
    .source = "scanbench",
    .scratch_bytes = SCANBENCH_BACKEND::compact_slices::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::compact_slices::prepare,
    .run_slices = SCANBENCH_BACKEND::compact_slices::run,
};
