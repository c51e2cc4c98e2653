/* compact_thrust, compact_thrust_cached: Thrust's copy_if, which waits for the count. */
#include "select_calls.cuh"
#include "thrust_calls.cuh"

#include <thrust/copy.h>

namespace SCANBENCH_BACKEND
{

static void hand_over_count(const struct call *call)
{
    hand_over_to(call, call->count, sizeof *call->count);
}

struct thrust_copy_if {
    static constexpr struct algorithm ROW = {
        .op = OP_COMPACT, .supports = select_unsupported, .hand_over = hand_over_count};

    template <class Policy> static void run(const struct call *call, const Policy &policy)
    {
        uint64_t *count = &kept_by_thrust(call)->on_host;
        *count = UINT64_MAX;
        with_stored_type(call->problem.type, [&]<class T>(T) {
            const auto *in = static_cast<const library_type<T> *>(call->input);
            auto *out = static_cast<library_type<T> *>(call->output);
            const auto *end = thrust::copy_if(policy, in, in + call->problem.n, out, is_kept<T>{});
            *count = (uint64_t)(end - out);
        });
    }
};

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(compact_thrust) =
    SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_copy_if>(
        "thrust::copy_if, including allocation and the wait for the count", false);
ALGORITHM_DESCRIPTOR(compact_thrust_cached) =
    SCANBENCH_BACKEND::thrust_row<SCANBENCH_BACKEND::thrust_copy_if>(
        "thrust::copy_if with an allocator that keeps memory between calls", true);
