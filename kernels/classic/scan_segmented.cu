/* scan_segmented: pairs of a flag and a value, scanned by warp-shuffle.
 * Source:  Schwartz, "Ultracomputers", 1980; Sengupta, Harris, Zhang and Owens,
 *          "Scan primitives for GPU computing", Graphics Hardware 2007.
 * Work:    O(n), that of warp-shuffle. Depth: the same, and two launches.
 * DRAM:    14n elements: a pair is as large as two, written, scanned in 4 passes, and read.
 * Shared:  as warp-shuffle.
 * Relies:  on the scan keeping the order of its operands, which do not commute. */
#include "../segment_heads.cuh"
#include "shuffle_tile.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, class Heads>
__global__ void make_pairs_kernel(const T *in, Heads heads, flagged<T> *pairs, uint64_t n)
{
    const uint64_t i = global_thread();
    if (i < n)
        pairs[i] = flagged<T>(in[i], heads.begins_at(i));
}

/* An exclusive scan is the inclusive one moved by one place, but where a segment begins. */
template <class T, class Heads>
__global__ void take_sums_kernel(const flagged<T> *pairs, Heads heads, T *out, uint64_t n,
                                 bool inclusive)
{
    const uint64_t i = global_thread();
    if (i < n)
        out[i] = inclusive ? pairs[i].sum : heads.begins_at(i) ? T(0) : pairs[i - 1].sum;
}

/* Scratch: the pairs, the totals of their tiles, and the bits of segments at offsets. */
struct scratch_of_pairs {
    size_t pairs, totals, bits; /* bytes */

    explicit scratch_of_pairs(const struct problem *problem)
    {
        using pair = flagged<uint32_t>;
        pairs = next_place(problem->n * sizeof(pair));
        totals = next_place(tile_totals_bytes(
            problem->n, problem->block * shuffle_tile<pair, 32>::PER_THREAD, sizeof(pair)));
        bits = head_bits_bytes(problem);
    }
};

static size_t scratch_bytes(const struct problem *problem)
{
    const scratch_of_pairs bytes(problem);
    return bytes.pairs + bytes.totals + bytes.bits;
}

template <class T, class Heads> static void scan_pairs(const struct call *call, const Heads &heads)
{
    const struct problem *problem = &call->problem;
    const uint64_t n = problem->n, blocks = ceil_div(n, problem->block);
    auto *scratch = static_cast<char *>(call->scratch);
    auto *pairs = reinterpret_cast<flagged<T> *>(scratch);
    launch<make_pairs_kernel<T, Heads>>(queue_of(call),
                                        {blocks, problem->block, {n * (sizeof(T) + sizeof *pairs)}},
                                        static_cast<const T *>(call->input), heads, pairs, n);
    scan_array_by_tiles<shuffle_tile, flagged<T>>(
        call, pairs, pairs,
        reinterpret_cast<flagged<T> *>(scratch + scratch_of_pairs(problem).pairs), KIND_INCLUSIVE);
    launch<take_sums_kernel<T, Heads>>(
        queue_of(call), {blocks, problem->block, {n * (sizeof(T) + sizeof *pairs)}}, pairs, heads,
        static_cast<T *>(call->output), n, problem->kind == KIND_INCLUSIVE);
}

static void run(const struct call *call)
{
    const scratch_of_pairs bytes(&call->problem);
    with_sum_of_4_bytes(&call->problem, [&]<class T>(T) {
        void *bits = static_cast<char *>(call->scratch) + bytes.pairs + bytes.totals;
        with_heads(
            call, [=] { return bits_of_offsets(call, bits); },
            [&](const auto &heads) { scan_pairs<T>(call, heads); });
    });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_segmented) = {
    .name = "segmented",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK | TRAIT_SEGMENTS_ONLY,
    .segment_types = TYPES_OF_4_BYTES,
    .default_block = 256,
    .summary = "pairs of a flag and a value, scanned by warp-shuffle",
    .source = "Schwartz 1980; Sengupta et al. 2007",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
