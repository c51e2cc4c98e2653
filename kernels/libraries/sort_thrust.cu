/* sort_thrust, sort_thrust_cached: Thrust's sort, which waits for its result. It sorts
 * in place: the copy before it is part of the work, and timed too, as the input must stay. */
#include "thrust_calls.cuh"

#include <thrust/sort.h>

namespace SCANBENCH_BACKEND
{

/* Copies n items of the input, which must stay, to where they are sorted. */
static bool copy_in(const struct call *call, void *to, const void *from, size_t bytes)
{
    return succeeded(queue_of(call), "copy",
                     cudaMemcpyAsync(to, from, call->problem.n * bytes, cudaMemcpyDeviceToDevice,
                                     queue_of(call)->stream));
}

struct thrust_sort {
    static constexpr struct algorithm ROW = {
        .op = OP_SORT, .result = RESULT_ZEROS_EQUAL, .traits = TRAIT_PAIRS | TRAIT_STABLE};

    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        const struct problem *problem = &call->problem;
        const size_t values = value_bytes(problem->values);
        if (!copy_in(call, call->output, call->input, element_bytes(problem->type)) ||
            (values > 0 && !copy_in(call, call->output_values, call->input_values, values)))
            return;
        if (values > 0)
            return thrust_sort_pairs(call, policy);
        with_element_type(problem->type, [&](auto zero) {
            auto *out = static_cast<decltype(zero) *>(call->output);
            thrust::sort(policy, out, out + problem->n);
        });
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_thrust) = SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_sort>(
    "a copy, then thrust::sort in place, its allocation included; pairs: stable_sort_by_key",
    false);
ALGORITHM_DESCRIPTOR(sort_thrust_cached) =
    SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_sort>(
        "thrust::sort with an allocator that keeps its memory between calls", true);
