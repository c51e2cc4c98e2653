/* scan_thrust, scan_thrust_cached: Thrust's scan, which waits for its result. */
#include "thrust_calls.cuh"

#include <thrust/scan.h>

namespace SCANBENCH_BACKEND
{

static const char *thrust_segments_unsupported(const struct problem *problem)
{
    return problem->segments == SEGMENTS_OFFSETS ? "Thrust scans segments by keys, not by offsets"
                                                 : nullptr;
}

struct thrust_scan {
    static constexpr struct algorithm ROW = {.op = OP_SCAN,
                                             .operator_types = TYPES_OF_4_BYTES,
                                             .segment_types = TYPES_OF_4_BYTES,
                                             .supports = thrust_segments_unsupported};

    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        if (call->problem.binary_operator != OPERATOR_SUM ||
            call->problem.segments != SEGMENTS_NONE)
            return thrust_scan_by_operator(call, policy);
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

ALGORITHM_DESCRIPTOR(scan_thrust) = SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_scan>(
    "thrust::exclusive_scan / inclusive_scan, including allocation", false);
ALGORITHM_DESCRIPTOR(scan_thrust_cached) =
    SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_scan>(
        "thrust scans with an allocator that keeps memory between calls", true);
