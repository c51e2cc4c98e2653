/* sort_thrust, sort_thrust_cached: Thrust's sort, which waits for its result. It sorts
 * in place: the copy before it is part of the work, and timed too, as the input must stay. */
#include "thrust_calls.cuh"

#include <thrust/sort.h>

namespace SCANBENCH_BACKEND
{

struct thrust_sort {
    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        with_element_type(call->problem.type, [&](auto zero) {
            using T = decltype(zero);
            T *out = static_cast<T *>(call->output);
            const size_t bytes = call->problem.n * sizeof(T);
            if (succeeded(queue_of(call), "copy",
                          cudaMemcpyAsync(out, call->input, bytes, cudaMemcpyDeviceToDevice,
                                          queue_of(call)->stream)))
                thrust::sort(policy, out, out + call->problem.n);
        });
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_thrust) = {
    .name = "thrust",
    .op = OP_SORT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "a copy, then thrust::sort in place, its allocation included",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .run = SCANBENCH_BACKEND::run_thrust<SCANBENCH_BACKEND::thrust_sort>,
};

ALGORITHM_DESCRIPTOR(sort_thrust_cached) = {
    .name = "thrust-cached",
    .op = OP_SORT,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::sort with an allocator that keeps its memory between calls",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .prepare = SCANBENCH_BACKEND::prepare_thrust,
    .run = SCANBENCH_BACKEND::run_thrust_cached<SCANBENCH_BACKEND::thrust_sort>,
    .release = SCANBENCH_BACKEND::release_thrust,
};
