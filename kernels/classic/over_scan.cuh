/* over_scan.cuh: moves elements to the places that a scan computes, for any scan.
 * Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990:
 *         pack and split.
 *
 *   1. Map:     flag[i] is 1 where an element is marked, else 0.
 *   2. Scan:    index[i], the exclusive scan of the flags, is the number of
 *               marked elements before i: the place of element i if it is marked.
 *   3. Scatter: every marked element goes to its place. The others are dropped
 *               (compaction) or follow the marked ones (split).
 *
 * The scan is a value, problem.scan: any scan of the table, run on the flags
 * through its ordinary descriptor. */
#pragma once

#include "../pack.cuh"
#include "../ping_pong.cuh"

namespace SCANBENCH_BACKEND
{

/* What happens to elements that are not marked. */
enum the_rest { REST_DROPPED, REST_AFTER };

/* Step 1. `Marks` is the predicate for marked elements. */
template <class T, class Index, class Marks>
__global__ void map_kernel(const T *in, Index *flags, uint64_t n, Marks marks)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t i = WIDTH * global_thread();
    if (i >= n)
        return;
    const pack<T, WIDTH> x = load_pack<T, WIDTH>(in, i, n);
    pack<Index, WIDTH> flag;
    for (unsigned k = 0; k < WIDTH; k++)
        flag.at[k] = marks(x.at[k]);
    store_pack(flags, i, n, flag);
}

constexpr unsigned SCATTER_ROWS = 4;

/* Step 3. A block takes SCATTER_ROWS rows of one element per thread, so that the lanes of a
 * warp hold neighbours, which go to neighbouring places. All loads are issued before the first
 * is used. The thread of the last element knows how many are marked, and stores that at `count`
 * unless it is null. */
template <the_rest REST, class T, class Index, class Marks, class Value>
__global__ void scatter_kernel(const T *in, const Index *indices, T *out, uint64_t n, Marks marks,
                               uint64_t *count, moved<Value> values)
{
    const uint64_t first = (uint64_t)blockIdx.x * (SCATTER_ROWS * blockDim.x) + threadIdx.x;
    T x[SCATTER_ROWS];
    Index index[SCATTER_ROWS];
#pragma unroll
    for (unsigned r = 0; r < SCATTER_ROWS; r++) {
        const uint64_t i = first + r * blockDim.x;
        x[r] = i < n ? in[i] : T(0);
        index[r] = i < n ? indices[i] : 0;
    }
    uint64_t marked = 0;
    if (REST == REST_AFTER)
        marked = (uint64_t)indices[n - 1] + marks(in[n - 1]);
#pragma unroll
    for (unsigned r = 0; r < SCATTER_ROWS; r++) {
        const uint64_t i = first + r * blockDim.x;
        if (i >= n)
            break;
        const bool is_marked = marks(x[r]);
        const uint64_t place = is_marked ? index[r] : marked + (i - index[r]);
        if (is_marked || REST == REST_AFTER) {
            out[place] = x[r];
            if constexpr (HAS_VALUES_OF<Value>)
                values.to[place] = values.from[i];
        }
        if (count != nullptr && i == n - 1)
            *count = (uint64_t)index[r] + is_marked;
    }
}

/* ---- host side ---- */

/* Threads per block, even if the scan has its own block size. */
inline unsigned block_of(const struct problem *problem)
{
    return problem->block > 0 ? problem->block : 256;
}

/* The scan of the flags as a separate problem. */
inline struct problem flag_scan_problem(const struct problem *problem)
{
    struct problem scan = *problem;
    scan.op = OP_SCAN;
    scan.type = index_type(problem);
    scan.kind = KIND_EXCLUSIVE;
    scan.values = VALUES_NONE;
    scan.scan = problem->scan->over;
    return scan;
}

inline const char *flag_scan_supports(const struct problem *problem)
{
    const struct problem scan = flag_scan_problem(problem);
    return problem->scan->supports != nullptr ? problem->scan->supports(&scan) : nullptr;
}

inline size_t index_array_bytes(const struct problem *problem)
{
    return next_place(problem->n * element_bytes(index_type(problem)));
}

/* Scratch of the three steps: flags, indices, and the scan's own. */
inline size_t over_scan_scratch_bytes(const struct problem *problem)
{
    const struct problem scan = flag_scan_problem(problem);
    const size_t own =
        problem->scan->scratch_bytes != nullptr ? problem->scan->scratch_bytes(&scan) : 0;
    return 2 * index_array_bytes(problem) + own;
}

/* The call of the scan, from flags to indices; both are in `scratch`. */
inline struct call flag_scan_call(const struct call *call, void *scratch)
{
    char *flags = static_cast<char *>(scratch);
    const size_t bytes = index_array_bytes(&call->problem);
    const auto before = (size_t)(flags + 2 * bytes - static_cast<char *>(call->scratch));
    return {.problem = flag_scan_problem(&call->problem),
            .input = flags,
            .output = flags + bytes,
            .scratch = flags + 2 * bytes,
            .scratch_bytes = call->scratch_bytes - before,
            .queue = call->queue};
}

inline void prepare_flag_scan(const struct call *call, void *scratch)
{
    const struct call scan = flag_scan_call(call, scratch);
    if (call->problem.scan->prepare != nullptr)
        call->problem.scan->prepare(&scan);
}

/* Runs all three steps, with values that move along if there are any. `count` receives the number
 * of marked elements and may be null. */
template <the_rest REST, class Value = no_value, class T, class Marks>
void move_by_scan(const struct call *call, const T *in, T *out, void *scratch, Marks marks,
                  uint64_t *count, moved<Value> values = {})
{
    const struct problem *problem = &call->problem;
    const struct call scan = flag_scan_call(call, scratch);
    const uint64_t n = problem->n;
    const unsigned block = block_of(problem);
    const auto blocks_of = [&](unsigned per_thread, launch_traffic traffic) {
        return launch_shape{ceil_div(n, (uint64_t)block * per_thread), block, traffic};
    };
    with_index_type(problem, [&](auto zero) {
        using Index = decltype(zero);
        const uint64_t both_bytes = n * (sizeof(T) + sizeof(Index));
        const uint64_t value_bytes = HAS_VALUES_OF<Value> ? sizeof(Value) : 0;
        launch<map_kernel<T, Index, Marks>>(
            queue_of(call), blocks_of(PACK_WIDTH<T>, {both_bytes}), in,
            static_cast<Index *>(const_cast<void *>(scan.input)), n, marks);
        problem->scan->run(&scan);
        launch<scatter_kernel<REST, T, Index, Marks, Value>>(
            queue_of(call),
            blocks_of(SCATTER_ROWS, {both_bytes + n * value_bytes, sizeof(T) + value_bytes}), in,
            static_cast<const Index *>(scan.output), out, n, marks, count, values);
    });
}

} // namespace SCANBENCH_BACKEND
