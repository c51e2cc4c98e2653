/* scan_reduce_then_scan: totals first, so that every element is written once.
 * Source:  Dotsenko, Govindaraju, Sloan, Boyd and Manferdelli, "Fast scan
 *          algorithms on graphics processors", ICS 2008; Merrill and Grimshaw,
 *          "Parallel scan for stream architectures", 2009.
 * Work:    O(n). Depth: log_tile(n) levels of two launches.
 * DRAM:    3n elements: read for the totals, read again and written by the scan.
 * Shared:  totals[warps].
 * Relies:  on 64 bytes in flight per thread: all of a thread's loads are issued
 *          before the first is used. */
#include "divide_and_conquer.cuh"
#include "warp.cuh"

namespace SCANBENCH_BACKEND
{

/* A warp takes ROWS rows of one pack per lane: coalesced, and in order. */
constexpr unsigned ROWS = 4;

template <class T> constexpr unsigned ROW = WARP *PACK_WIDTH<T>; /* elements */
template <class T> constexpr unsigned PER_THREAD = ROWS *PACK_WIDTH<T>;

template <class T> struct thread_rows {
    pack<T, PACK_WIDTH<T>> row[ROWS];
};

/* The first element of this lane in row 0; row r begins r * ROW further. */
template <class T> __device__ __forceinline__ uint64_t first_of_lane()
{
    return global_thread() / WARP * (ROWS * ROW<T>)+lane_index() * PACK_WIDTH<T>;
}

template <class T>
__device__ __forceinline__ thread_rows<T> load_rows(const T *in, uint64_t i, uint64_t n)
{
    thread_rows<T> x;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++)
        x.row[r] = load_pack<T, PACK_WIDTH<T>>(in, i + r * ROW<T>, n);
    return x;
}

/* First pass: computes the total of every tile. */
template <class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK) tile_totals_kernel(const T *in, T *totals, uint64_t n)
{
    const thread_rows<T> x = load_rows(in, first_of_lane<T>(), n);
    T sum = T(0), total;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++)
        sum += pack_sum(x.row[r]);
    block_exclusive_sum<T>(warp_sum(sum), shared_memory<T>(), &total);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
}

/* Last pass: every tile is scanned from the sum of the tiles before it. */
template <class T, unsigned BLOCK>
__global__ void __launch_bounds__(BLOCK)
    scan_from_prefix_kernel(const T *in, T *out, const T *tile_prefixes, uint64_t n, bool inclusive)
{
    const uint64_t i = first_of_lane<T>();
    const thread_rows<T> x = load_rows(in, i, n);
    T before[ROWS], warp_total = T(0), total;
#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        const T mine = pack_sum(x.row[r]);
        const T through = warp_inclusive_sum(mine);
        const T left = __shfl_up_sync(ALL_LANES, through, 1);
        before[r] = warp_total + (lane_index() > 0 ? left : T(0));
        warp_total += __shfl_sync(ALL_LANES, through, WARP - 1);
    }
    T base = block_exclusive_sum<T>(warp_total, shared_memory<T>(), &total);
    if (tile_prefixes != nullptr)
        base += tile_prefixes[blockIdx.x];

#pragma unroll
    for (unsigned r = 0; r < ROWS; r++) {
        T sum = base + before[r];
        pack<T, PACK_WIDTH<T>> sums;
        for (unsigned k = 0; k < PACK_WIDTH<T>; k++) {
            const T exclusive = sum;
            sum += x.row[r].at[k];
            sums.at[k] = inclusive ? sum : exclusive;
        }
        store_pack(out, i + r * ROW<T>, n, sums);
    }
}

template <class T, unsigned BLOCK>
static void reduce_then_scan(queue *queue, const T *in, T *out, T *totals, uint64_t n,
                             enum scan_kind kind)
{
    constexpr unsigned TILE = BLOCK * PER_THREAD<T>;
    constexpr size_t SHARED_BYTES = BLOCK / WARP * sizeof(T);
    const uint64_t tiles = ceil_div(n, TILE);
    const T *prefixes = nullptr;
    if (tiles > 1) {
        launch<tile_totals_kernel<T, BLOCK>>(
            queue, {tiles, BLOCK, {(n + tiles) * sizeof(T)}, SHARED_BYTES}, in, totals, n);
        reduce_then_scan<T, BLOCK>(queue, totals, totals, totals + totals_of_level(n, TILE), tiles,
                                   KIND_EXCLUSIVE);
        prefixes = totals;
    }
    launch<scan_from_prefix_kernel<T, BLOCK>>(
        queue, {tiles, BLOCK, tile_scan_traffic<T>(n, prefixes ? tiles : 0), SHARED_BYTES}, in, out,
        prefixes, n, kind == KIND_INCLUSIVE);
}

static void run(const struct call *call)
{
    const struct problem *problem = &call->problem;
    with_sum_type(problem->type, [&](auto zero) {
        with_block(problem->block, [&](auto block) {
            using T = decltype(zero);
            reduce_then_scan<T, block.value>(
                queue_of(call), static_cast<const T *>(call->input), static_cast<T *>(call->output),
                static_cast<T *>(call->scratch), problem->n, problem->kind);
        });
    });
}

static size_t scratch_bytes(const struct problem *problem)
{
    const unsigned per_thread = ROWS * 16 / (unsigned)element_bytes(problem->type);
    return tile_totals_bytes(problem, problem->block * per_thread);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_reduce_then_scan) = {
    .name = "reduce-then-scan",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_BLOCK,
    .default_block = 256,
    .summary = "block sums first, scan them, then one pass: 3n elements instead of 4n",
    .source = "Dotsenko et al. 2008; Merrill and Grimshaw 2009",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
