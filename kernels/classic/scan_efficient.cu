/* scan_efficient: Blelloch's work-efficient scan in global memory.
 * Source:  Blelloch 1990; GPU Gems 3, chapter 39, algorithms 3 and 4.
 * Work:    O(n). Depth: 5/2 log2 n, one launch per two levels of the tree.
 * DRAM:    2n for each of the lowest steps, which touch every 32-byte sector of
 *          the array though they use few of its bytes; above those it halves
 *          twice per step.
 * Shared:  none.
 * Relies:  on thread t of a step handling node t: idle threads are whole warps
 *          at the end, never lanes in between.
 *
 * A step takes a node of four quarters, `quarter` elements each, through two
 * levels, the lower of which stays in registers. The tree spans the next power
 * of four above n, but is stored in n elements. A node is stored at its right
 * end. In each step, at most one node begins inside the array and ends past it;
 * it is stored in `spill`. Its sum is never needed, only its prefix. */
#include "../pack.cuh"

namespace SCANBENCH_BACKEND
{

enum { SPILL_SLOTS = 64 }; /* one per step */

/* Up-sweep from single elements, which also copies them to where the tree is built. */
template <class T> __global__ void up_sweep_first_kernel(const T *in, T *tree, uint64_t n)
{
    const uint64_t i = 4 * global_thread();
    if (i >= n)
        return;
    pack<T, 4> x = load_pack<T, 4>(in, i, n);
    x.at[1] += x.at[0];
    x.at[3] += x.at[2] + x.at[1];
    store_pack(tree, i, n, x);
}

template <class T> __global__ void up_sweep_kernel(T *tree, uint64_t n, uint64_t quarter)
{
    const uint64_t start = 4 * global_thread() * quarter;
    const uint64_t second = start + 2 * quarter - 1, fourth = start + 4 * quarter - 1;
    if (second >= n)
        return;
    const T half = tree[second - quarter] + tree[second];
    tree[second] = half;
    if (fourth < n)
        tree[fourth] += tree[fourth - quarter] + half;
}

/* Down-sweep: each quarter of a node gets the node's prefix plus the sums of the quarters
 * before it. The root's prefix is 0. */
template <class T>
__global__ void down_sweep_kernel(T *tree, T *spill, uint64_t n, uint64_t quarter, int step,
                                  bool root)
{
    const uint64_t start = 4 * global_thread() * quarter;
    if (start >= n)
        return;
    uint64_t end[4];
    for (unsigned q = 0; q < 4; q++)
        end[q] = start + (q + 1) * quarter - 1;
    const T first = end[0] < n ? tree[end[0]] : T(0);
    const T half = end[1] < n ? tree[end[1]] : T(0);
    const T third = end[2] < n ? tree[end[2]] : T(0);
    T prefix = T(0);
    if (!root)
        prefix = end[3] < n ? tree[end[3]] : spill[step];

    T prefixes[4] = {prefix, T(prefix + first), T(prefix + half)};
    prefixes[3] = prefixes[2] + third;
    for (unsigned q = 0; q < 4; q++)
        if (end[q] < n)
            tree[end[q]] = prefixes[q];
        else if (end[q] - quarter + 1 < n)
            spill[step - 1] = prefixes[q];
}

/* Down-sweep to single elements. For an inclusive scan each element is added to its prefix. */
template <class T>
__global__ void down_sweep_last_kernel(const T *in, T *tree, const T *spill, uint64_t n, bool root,
                                       bool inclusive)
{
    const uint64_t i = 4 * global_thread();
    if (i >= n)
        return;
    const pack<T, 4> x = load_pack<T, 4>(tree, i, n);
    const T prefix = root ? T(0) : i + 3 < n ? x.at[3] : spill[0];
    pack<T, 4> sums = {prefix, T(prefix + x.at[0]), T(prefix + x.at[1])};
    sums.at[3] = sums.at[2] + x.at[2];
    if (inclusive) {
        const pack<T, 4> own = load_pack<T, 4>(in, i, n);
        for (unsigned k = 0; k < 4; k++)
            sums.at[k] += own.at[k];
    }
    store_pack(tree, i, n, sums);
}

template <class T> static void scan_efficient(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t n = problem->n;
    queue *queue = queue_of(call);
    const T *in = static_cast<const T *>(call->input);
    T *tree = static_cast<T *>(call->output), *spill = static_cast<T *>(call->scratch);
    const auto quarter_of = [](int step) { return (uint64_t)1 << (2 * step); };
    /* The traffic of a step that touches `elements` elements of each node. */
    const auto nodes_of = [&](int step, unsigned elements) {
        const uint64_t nodes = ceil_div(n, 4 * quarter_of(step));
        return launch_shape{
            ceil_div(nodes, problem->block), problem->block, {nodes * elements * sizeof(T)}};
    };
    int root = 0;
    while (4 * quarter_of(root) < n)
        root++;

    launch<up_sweep_first_kernel<T>>(queue, nodes_of(0, 8), in, tree, n);
    for (int step = 1; step <= root; step++)
        launch<up_sweep_kernel<T>>(queue, nodes_of(step, 6), tree, n, quarter_of(step));
    for (int step = root; step > 0; step--)
        launch<down_sweep_kernel<T>>(queue, nodes_of(step, 8), tree, spill, n, quarter_of(step),
                                     step, step == root);
    const bool inclusive = problem->kind == KIND_INCLUSIVE;
    launch<down_sweep_last_kernel<T>>(queue, nodes_of(0, inclusive ? 12 : 8), in, tree, spill, n,
                                      root == 0, inclusive);
}

static void run(const struct call *call)
{
    with_operand<false>(&call->problem, [&](auto zero) { scan_efficient<decltype(zero)>(call); });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return SPILL_SLOTS * element_bytes(problem->type);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_efficient) = {
    .name = "efficient",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 256,
    .summary = "Blelloch in global memory, up-sweep and down-sweep, no divergence",
    .source = "Blelloch 1990; GPU Gems 3 ch. 39",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
