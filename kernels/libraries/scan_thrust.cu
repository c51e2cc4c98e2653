/* scan_thrust, scan_thrust_cached: Thrust's scan, which waits for its result. */
#include "thrust_calls.cuh"

#include <thrust/scan.h>

namespace SCANBENCH_BACKEND
{

struct thrust_scan {
    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        with_sum_type(call->problem.type, [&](auto zero) {
            using T = decltype(zero);
            const T *in = static_cast<const T *>(call->input);
            T *out = static_cast<T *>(call->output);
            if (call->problem.kind == KIND_EXCLUSIVE)
                thrust::exclusive_scan(policy, in, in + call->problem.n, out);
            else
                thrust::inclusive_scan(policy, in, in + call->problem.n, out);
        });
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_thrust) = {
    .name = "thrust",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust::exclusive_scan / inclusive_scan, including allocation",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .run = SCANBENCH_BACKEND::run_thrust<SCANBENCH_BACKEND::thrust_scan>,
};

ALGORITHM_DESCRIPTOR(scan_thrust_cached) = {
    .name = "thrust-cached",
    .op = OP_SCAN,
    .family = FAMILY_LIBRARY,
    .traits = TRAIT_SYNCHRONISES,
    .summary = "thrust scans with an allocator that keeps memory between calls",
    .source = "NVIDIA Thrust",
    .library_version = SCANBENCH_BACKEND::library_version,
    .prepare = SCANBENCH_BACKEND::prepare_thrust,
    .run = SCANBENCH_BACKEND::run_thrust_cached<SCANBENCH_BACKEND::thrust_scan>,
    .release = SCANBENCH_BACKEND::release_thrust,
};
