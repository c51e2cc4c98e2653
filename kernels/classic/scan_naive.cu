/* scan_naive: Hillis-Steele scan in global memory.
 * Source:  Hillis and Steele, "Data parallel algorithms", CACM 29(12), 1986;
 *          GPU Gems 3, chapter 39, algorithm 2.
 * Work:    O(n log n). Depth: O(log n), one launch per level.
 * DRAM:    ceil(log2 n) passes, each of which reads and writes the whole array.
 * Shared:  none.
 * Relies:  on ping-pong buffers: the threads of a launch run in any order, so a
 *          level must not overwrite what another of its threads still reads. */
#include "../pack.cuh"

#include <utility>

namespace SCANBENCH_BACKEND
{

/* First level: adds the previous element. For an exclusive scan it reads one element further
 * left, which saves a pass. */
template <class T>
__global__ void hillis_steele_first_kernel(const T *in, T *out, uint64_t n, bool exclusive)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t i = WIDTH * global_thread();
    if (i >= n)
        return;
    const pack<T, WIDTH> x = load_pack<T, WIDTH>(in, i, n);
    T before = i > 0 ? in[i - 1] : T(0);
    T before_that = exclusive && i > 1 ? in[i - 2] : T(0);
    pack<T, WIDTH> sums;
    for (unsigned k = 0; k < WIDTH; k++) {
        sums.at[k] = before + (exclusive ? before_that : x.at[k]);
        before_that = before;
        before = x.at[k];
    }
    store_pack(out, i, n, sums);
}

/* One level: adds the sum that ends `stride` elements to the left. */
template <class T>
__global__ void hillis_steele_step_kernel(const T *in, T *out, uint64_t n, uint64_t stride)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t i = WIDTH * global_thread();
    if (i >= n)
        return;
    pack<T, WIDTH> x = load_pack<T, WIDTH>(in, i, n);
    if (stride >= WIDTH && i >= stride) { /* a whole pack, and aligned */
        const pack<T, WIDTH> left = load_pack<T, WIDTH>(in, i - stride, n);
        for (unsigned k = 0; k < WIDTH; k++)
            x.at[k] += left.at[k];
    } else if (stride < WIDTH) {
        for (unsigned k = 0; k < WIDTH; k++)
            if (i + k >= stride && i + k < n)
                x.at[k] += in[i + k - stride];
    }
    store_pack(out, i, n, x);
}

template <class T> static void scan_naive(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t n = problem->n;
    const launch_shape shape = {
        ceil_div(ceil_div(n, PACK_WIDTH<T>), problem->block), problem->block, {2 * n * sizeof(T)}};

    int levels = 1;
    for (uint64_t stride = 2; stride < n; stride *= 2)
        levels++;

    /* The last level must end in the output. */
    T *here = static_cast<T *>(call->output), *there = static_cast<T *>(call->scratch);
    if (levels % 2 == 0)
        std::swap(here, there);

    launch<hillis_steele_first_kernel<T>>(queue_of(call), shape,
                                          static_cast<const T *>(call->input), here, n,
                                          problem->kind == KIND_EXCLUSIVE);
    for (uint64_t stride = 2; stride < n; stride *= 2) {
        launch<hillis_steele_step_kernel<T>>(queue_of(call), shape, here, there, n, stride);
        std::swap(here, there);
    }
}

static void run(const struct call *call)
{
    with_operand<false>(&call->problem, [&](auto zero) { scan_naive<decltype(zero)>(call); });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return problem->n * element_bytes(problem->type);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_naive) = {
    .name = "naive",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_BLOCK,
    .operator_types = TYPES_OF_4_BYTES,
    .default_block = 256,
    .summary = "Hillis-Steele in global memory, ping-pong buffers, log2 n launches",
    .source = "Hillis and Steele 1986",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
