/* sort_cub: CUB's DeviceRadixSort, all bits, its temporary memory handed in. The
 * input stays as it is, which costs CUB a second array in that memory. */
#include "launch.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace SCANBENCH_BACKEND
{

/* CUB's two calls in one: without scratch it only says how many bytes it wants.
 * The count has 64 bits whatever n: with 32, CUB 3.0's kernel for u32 keys takes 74
 * registers in place of 56 on sm_90, and sorting is 17 % slower. */
static cudaError_t cub_sort(const struct call *call, size_t *bytes)
{
    const cudaStream_t stream = call->queue != nullptr ? queue_of(call)->stream : nullptr;
    cudaError_t error = cudaSuccess;
    with_element_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        error = cub::DeviceRadixSort::SortKeys(
            call->scratch, *bytes, static_cast<const T *>(call->input),
            static_cast<T *>(call->output), call->problem.n, 0, (int)(8 * sizeof(T)), stream);
    });
    return error;
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct call query = {.problem = *problem};
    size_t bytes = 0;
    return cub_sort(&query, &bytes) == cudaSuccess ? bytes : 0;
}

/* What CUB said to want for the problem prepared: a user asks once, too. */
static size_t prepared_bytes;

static void prepare(const struct call *call)
{
    prepared_bytes = scratch_bytes(&call->problem);
}

static void run(const struct call *call)
{
    size_t bytes = prepared_bytes;
    if (call->problem.n > 0)
        succeeded(queue_of(call), "cub", cub_sort(call, &bytes));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_cub) = {
    .name = "cub",
    .op = OP_SORT,
    .family = FAMILY_LIBRARY,
    .summary = "cub::DeviceRadixSort::SortKeys, all bits, temporary memory allocated beforehand",
    .source = "NVIDIA CUB",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
