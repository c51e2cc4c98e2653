/* scan_slices: a scan over the slices of several devices.
 * Source:  as scan_reduce_then_scan, whose levels end here in one total per slice.
 * Work:    O(n). Depth: as scan_reduce_then_scan, and one exchange.
 * DRAM:    3n elements: a slice cannot be written before all earlier ones are read.
 * Between: one total per device.
 * Relies:  on the engine that exchanges the totals. */
#include "reduce_then_scan.cuh"
#include "team.cuh"

namespace SCANBENCH_BACKEND
{

namespace scan_slices
{

constexpr unsigned BLOCK = 256;

/* Scratch: the totals of all slices, that of the member's own, and the levels above the slice. */
struct layout {
    gathered totals;
    size_t total, levels;

    explicit layout(const struct problem *problem)
        : totals(problem, element_bytes(problem->type)), total(totals.end()), levels(total + 256)
    {
    }
};

template <class T> static void reduce_slice(const struct call *call, const layout &at)
{
    using namespace reduce_then_scan;
    const top_level<T> top =
        reduce_levels<T, BLOCK>(queue_of(call), static_cast<const T *>(call->input),
                                at_place<T>(call, at.levels), call->problem.n);
    launch<tile_totals_kernel<T, BLOCK>>(
        queue_of(call), {1, BLOCK, {(top.n + 1) * sizeof(T)}, SHARED_BYTES<T, BLOCK>}, top.values,
        at_place<T>(call, at.total), top.n);
}

template <class T>
static void scan_slice_from_totals(const struct call *call, unsigned member, const layout &at)
{
    const T *totals = at_place<T>(call, at.totals.place(call->epoch));
    reduce_then_scan::scan_levels<T, BLOCK>(queue_of(call), static_cast<const T *>(call->input),
                                            static_cast<T *>(call->output),
                                            at_place<T>(call, at.levels), call->problem.n,
                                            call->problem.kind, {nullptr, totals, member});
}

static void run(const struct team *team)
{
    const struct problem *problem = &team->call->problem;
    const uint32_t number = team->call->epoch;
    const layout at(problem);
    with_sum_type(problem->type, [&](auto zero) {
        using T = decltype(zero);
        on_each_member(team, [&](const struct call *call, unsigned) { reduce_slice<T>(call, at); });
        team_all_gather(team, number, at.total, at.totals.place(number), sizeof(T));
        on_each_member(team, [&](const struct call *call, unsigned member) {
            scan_slice_from_totals<T>(call, member, at);
        });
    });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return layout(problem).levels + reduce_then_scan::level_bytes(problem, BLOCK);
}

} // namespace scan_slices

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_slices) = {
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .summary = "slices reduced, totals exchanged, slices scanned",
    .source = "Dotsenko et al. 2008",
    .scratch_bytes = SCANBENCH_BACKEND::scan_slices::scratch_bytes,
    .run_slices = SCANBENCH_BACKEND::scan_slices::run,
};
