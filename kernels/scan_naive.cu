/* scan_naive: Hillis-Steele scan in global memory.
 * Source:  Hillis and Steele, "Data parallel algorithms", CACM 29(12), 1986;
 *          GPU Gems 3, chapter 39, algorithm 1.
 * Work:    O(n log n). Depth: O(log n), a launch a level.
 * DRAM:    ceil(log2 n) passes over the whole array, each reads and writes it.
 * Shared:  none.
 * Relies:  on ping-pong buffers: within a launch threads run in any order, so
 *          a level may not overwrite what another thread of it still reads. */
#include "launch.cuh"

#include <utility>

namespace SCANBENCH_BACKEND
{

/* First level: adds the element before. Reading one place further left makes
 * the scan exclusive without another pass. */
template <class T>
__global__ void hillis_steele_first_kernel(const T *in, T *out, uint64_t n, bool exclusive)
{
    const uint64_t i = global_thread();
    if (i >= n)
        return;
    const uint64_t shift = exclusive ? 1 : 0;
    T sum = i >= shift ? in[i - shift] : T(0);
    if (i >= shift + 1)
        sum += in[i - shift - 1];
    out[i] = sum;
}

/* One level: adds the sum that ends `stride` elements further left. */
template <class T>
__global__ void hillis_steele_step_kernel(const T *in, T *out, uint64_t n, uint64_t stride)
{
    const uint64_t i = global_thread();
    if (i < n)
        out[i] = i >= stride ? in[i - stride] + in[i] : in[i];
}

template <class T> static void scan_naive(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t n = problem->n;
    const launch_shape shape = {ceil_div(n, problem->block), problem->block};

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
    with_sum_type(call->problem.type, [&](auto zero) { scan_naive<decltype(zero)>(call); });
}

static size_t scratch_bytes(const struct problem *problem)
{
    return problem->n * element_bytes(problem->type);
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_naive) = {
    .name = "naive",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_BLOCK,
    .default_block = 256,
    .summary = "Hillis-Steele in global memory, ping-pong buffers, log2 n launches",
    .source = "Hillis and Steele 1986",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .run = SCANBENCH_BACKEND::run,
};
