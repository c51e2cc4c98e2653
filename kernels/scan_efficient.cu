/* scan_efficient: Blelloch's work-efficient scan in global memory.
 * Source:  Blelloch 1990; GPU Gems 3, chapter 39, algorithms 3 and 4.
 * Work:    O(n). Depth: 2 log2 n, a launch a level.
 * DRAM:    the lowest levels go over the whole array each, in steps of 32-byte
 *          sectors of which they use 4 to 16 bytes; higher ones halve.
 * Shared:  none.
 * Relies:  on thread t of a level being node t of it: threads without work are
 *          whole warps at the end, never lanes in between.
 *
 * The tree spans the next power of two above n, but is stored in n elements. A
 * node lies at its right end; the one node of a level whose right end lies
 * behind the array, but whose left end does not, is kept in `spill` instead.
 * Its sum is never needed, only its prefix, on the way down. */
#include "pack.cuh"

namespace SCANBENCH_BACKEND
{

enum { SPILL_SLOTS = 64 }; /* one a level */

/* Level 0 of the up-sweep, and the copy to where the tree is built. */
template <class T> __global__ void up_sweep_first_kernel(const T *in, T *tree, uint64_t n)
{
    const uint64_t i = 2 * global_thread();
    if (i >= n)
        return;
    pack<T, 2> x = load_pack<T, 2>(in, i, n);
    x.at[1] += x.at[0];
    store_pack(tree, i, n, x);
}

/* A level whose nodes span 2 * half elements. */
template <class T> __global__ void up_sweep_kernel(T *tree, uint64_t n, uint64_t half)
{
    const uint64_t right = (2 * global_thread() + 2) * half - 1;
    if (right < n)
        tree[right] += tree[right - half];
}

/* The left half of each node gets the node's prefix, the right half that and
 * the left half's sum. */
template <class T>
__global__ void down_sweep_kernel(T *tree, T *spill, uint64_t n, uint64_t half, int level)
{
    const uint64_t start = 2 * global_thread() * half;
    if (start >= n)
        return;
    const uint64_t left = start + half - 1, right = left + half;
    const T prefix = right < n ? tree[right] : spill[level];
    if (left >= n) { /* only the left half has elements, and not all of its own */
        spill[level - 1] = prefix;
        return;
    }
    const T through_left = prefix + tree[left];
    tree[left] = prefix;
    if (right < n)
        tree[right] = through_left;
    else
        spill[level - 1] = through_left;
}

/* Level 0 of the down-sweep; an inclusive scan gets its own elements added. */
template <class T>
__global__ void down_sweep_last_kernel(const T *in, T *tree, const T *spill, uint64_t n,
                                       bool inclusive)
{
    const uint64_t i = 2 * global_thread();
    if (i >= n)
        return;
    const pack<T, 2> sums = load_pack<T, 2>(tree, i, n);
    const T prefix = i + 1 < n ? sums.at[1] : spill[0];
    pack<T, 2> x = {prefix, prefix + sums.at[0]};
    if (inclusive) {
        const pack<T, 2> own = load_pack<T, 2>(in, i, n);
        x.at[0] += own.at[0];
        x.at[1] += own.at[1];
    }
    store_pack(tree, i, n, x);
}

/* The root's prefix is nothing. */
template <class T> __global__ void clear_root_kernel(T *root)
{
    *root = T(0);
}

template <class T> static void scan_efficient(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t n = problem->n;
    const unsigned block = problem->block;
    queue *queue = queue_of(call);
    const T *in = static_cast<const T *>(call->input);
    T *tree = static_cast<T *>(call->output), *spill = static_cast<T *>(call->scratch);
    const auto nodes = [&](uint64_t span) {
        return launch_shape{ceil_div(ceil_div(n, span), block), block};
    };

    int root_level = 0;
    while (((uint64_t)2 << root_level) < n)
        root_level++;

    launch<up_sweep_first_kernel<T>>(queue, nodes(2), in, tree, n);
    for (int level = 1; level < root_level; level++)
        launch<up_sweep_kernel<T>>(queue, nodes((uint64_t)2 << level), tree, n,
                                   (uint64_t)1 << level);
    if (n > 0)
        launch<clear_root_kernel<T>>(
            queue, {1, 1}, ((uint64_t)2 << root_level) == n ? &tree[n - 1] : &spill[root_level]);
    for (int level = root_level; level > 0; level--)
        launch<down_sweep_kernel<T>>(queue, nodes((uint64_t)2 << level), tree, spill, n,
                                     (uint64_t)1 << level, level);
    launch<down_sweep_last_kernel<T>>(queue, nodes(2), in, tree, spill, n,
                                      problem->kind == KIND_INCLUSIVE);
}

static void run(const struct call *call)
{
    with_sum_type(call->problem.type, [&](auto zero) { scan_efficient<decltype(zero)>(call); });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return SPILL_SLOTS * element_bytes(problem->type);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_efficient) = {
    .name = "efficient",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_BLOCK,
    .default_block = 256,
    .summary = "Blelloch in global memory, up-sweep and down-sweep, no divergence",
    .source = "Blelloch 1990; GPU Gems 3 ch. 39",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
