/* cub_calls.cuh: shared code of the algorithms that call CUB, whose functions are called twice. */
#pragma once

#include "../launch.cuh"

#include <cub/version.cuh>

namespace SCANBENCH_BACKEND
{

[[maybe_unused]] LIBRARY_VERSION("CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
                                 CUB_SUBMINOR_VERSION)

    /* A CUB function for the types of the call. Without call->scratch it only sets `bytes` to the
     * scratch that the problem needs. */
    using cub_function = cudaError_t(const struct call *call, size_t *bytes, cudaStream_t stream);

/* Calls f with the count; one of 32 bits selects CUB's faster, 32-bit indices. */
template <class Function> cudaError_t with_count(uint64_t n, Function f)
{
    return n <= INT32_MAX ? f((int32_t)n) : f((int64_t)n);
}

/* The first call returns the scratch size. */
template <cub_function *Function> size_t cub_scratch_bytes(const struct problem *problem)
{
    const struct call query = {.problem = *problem};
    size_t bytes = 0;
    return Function(&query, &bytes, nullptr) == cudaSuccess ? bytes : 0;
}

/* The second call does the work. */
template <cub_function *Function> void cub_run(const struct call *call)
{
    queue *queue = queue_of(call);
    size_t bytes = call->scratch_bytes;
    if (call->problem.n > 0)
        succeeded(queue, "cub", Function(call, &bytes, queue->stream));
    else if (call->count != nullptr)
        store_zero_count(call);
}

template <class T> __global__ void store_kernel(T *place, T value)
{
    *place = value;
}

/* The same for a reduction, which of no elements is the identity. */
template <cub_function *Function> void cub_run_reduction(const struct call *call)
{
    if (call->problem.n > 0 || call->problem.segments != SEGMENTS_NONE)
        return cub_run<Function>(call);
    with_stored_operand<false>(&call->problem, [&]<class T>(T zero) {
        launch<store_kernel<T>>(queue_of(call), {1, 1, {sizeof(T)}}, static_cast<T *>(call->output),
                                zero);
    });
}

/* Scans and reductions by operators other than sum, for elements of 4 bytes. */
cub_function cub_scan_by_operator, cub_reduce_by_operator;

/* Scans and reductions of f16 and bf16, with sums in f32. */
cub_function cub_scan_of_halves, cub_reduce_halves;

/* Sums of segments, and scans of segments and recurrences, for elements of 4 bytes, and which of
 * them this CUB lacks. */
cub_function cub_reduce_segments, cub_scan_in_order;
const char *cub_segments_unsupported(const struct problem *problem);

/* Sorts keys of 8 and 16 bits. */
cub_function cub_sort_narrow_keys;

/* Sorts the pairs of a call by the bits of their keys below end_bit. Without temporary memory it
 * only sets `bytes` to what that needs. */
cudaError_t cub_sort_pairs(const struct call *call, void *temporary, size_t *bytes, int end_bit,
                           cudaStream_t stream);

} // namespace SCANBENCH_BACKEND
