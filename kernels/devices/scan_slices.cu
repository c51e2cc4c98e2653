/* scan_slices: a scan over the slices of several devices.
 * Source:  as scan_reduce_then_scan, whose levels end here in one total per slice; small slices
 *          as in scan_one_wave.
 * Work:    O(n). Depth: as scan_reduce_then_scan, and one exchange.
 * DRAM:    3n elements: a slice cannot be written before all earlier ones are read. 2n if the
 *          chips hold the slices, and kernels can store in each other's memory.
 * Between: one total per device or, of small slices, per block.
 * Relies:  on the engine that exchanges the totals; of small slices, on all blocks of a device
 *          being resident. */
#include "../single_pass/one_wave.cuh"
#include "../classic/reduce_then_scan.cuh"
#include "team_tiles.cuh"

namespace SCANBENCH_BACKEND
{

namespace scan_slices
{

constexpr unsigned BLOCK = 256;

/* The longest slice as a problem of one wave. */
static struct problem wave_problem(const struct problem *problem)
{
    struct problem wave = longest_problem(problem);
    if (wave.block == 0)
        wave.block = one_wave::MAX_BLOCK;
    return wave;
}

static bool fits_one_wave(const struct problem *problem)
{
    const struct problem wave = wave_problem(problem);
    return one_wave::supports(&wave) == nullptr;
}

static team_board board_of(const struct problem *problem)
{
    const struct problem wave = wave_problem(problem);
    return {problem->device->members,
            fits_one_wave(problem) ? one_wave::shape_of(&wave).blocks : 0};
}

/* Scratch: the statuses of tiles, for slices of one wave; the totals of all slices, that of the
 * member's own, and the levels above the slice. A single device uses the local scan's alone. */
struct layout {
    gathered totals;
    size_t total, levels;

    explicit layout(const struct problem *problem)
        : totals(problem, element_bytes(problem->type), board_of(problem).end), total(totals.end()),
          levels(next_place(total + sizeof(uint64_t)))
    {
    }
};

/* ---- slices of one wave ---- */

static void run_one_wave(const struct team *team)
{
    const struct problem *problem = &team->call->problem;
    const struct problem wave = wave_problem(problem);
    const one_wave::wave_shape shape = one_wave::shape_of(&wave);
    const team_board board = board_of(problem);
    const uint32_t number = team->call->epoch;
    with_sum_type(problem->type, [&](auto zero) {
        using T = decltype(zero);
        using scan = scan_of<T>;
        on_each_member(team, [&](const struct call *call, unsigned member) {
            const team_tiles<register_sum<T>> tiles = {
                memories_of(team), board.begun, board.status[number % 2], member,
                team->size,        number};
            one_wave::run_tiles<scan::template slice, scan::template passing_slice>(
                call, arrays_of<T>(call), shape, tiles);
        });
    });
}

/* ---- longer ones ---- */

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

static void run_in_phases(const struct team *team)
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

static void run(const struct team *team)
{
    if (team->size == 1)
        run_local(team->call, 0);
    else if (team->engine->meet != nullptr && fits_one_wave(&team->call->problem))
        run_one_wave(team);
    else
        run_in_phases(team);
}

static void prepare(const struct call *call)
{
    if (call->problem.device->members == 1)
        return prepare_local(call, 0);
    succeeded(
        queue_of(call), "memset",
        cudaMemsetAsync(call->scratch, 0, board_of(&call->problem).end, queue_of(call)->stream));
}

/* Without members, since the team did not open, it is nothing. */
static size_t scratch_bytes(const struct problem *problem)
{
    if (problem->device->members <= 1)
        return local_scratch_bytes(problem);
    return layout(problem).levels + reduce_then_scan::level_bytes(problem, BLOCK);
}

} // namespace scan_slices

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_slices) = {
    .name = "slices",
    .op = OP_SCAN,
    .summary = "slices reduced, totals exchanged, slices scanned",
    .source = "Dotsenko et al. 2008",
    .scratch_bytes = SCANBENCH_BACKEND::scan_slices::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::scan_slices::prepare,
    .run_slices = SCANBENCH_BACKEND::scan_slices::run,
};
