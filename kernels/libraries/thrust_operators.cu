/* thrust_operators: Thrust's scans and reductions by operators other than sum, and its scans of
 * segments, which take long to compile. */
#include "library_operators.cuh"
#include "thrust_calls.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

namespace SCANBENCH_BACKEND
{

/* ---- Segments: Thrust scans by keys, and a row's index is a key ---- */

struct row_of {
    uint64_t length;

    __host__ __device__ uint64_t operator()(uint64_t i) const
    {
        return i / length;
    }
};

template <class Policy, class Keys, class T>
static void scan_by_key(const struct call *call, const Policy &policy, Keys keys, const T *in,
                        T *out)
{
    if (call->problem.kind == KIND_EXCLUSIVE)
        thrust::exclusive_scan_by_key(policy, keys, keys + call->problem.n, in, out);
    else
        thrust::inclusive_scan_by_key(policy, keys, keys + call->problem.n, in, out);
}

template <class Policy> static void scan_segments(const struct call *call, const Policy &policy)
{
    const struct problem *problem = &call->problem;
    with_sum_type(problem->type, [&]<class T>(T) {
        const T *in = static_cast<const T *>(call->input);
        T *out = static_cast<T *>(call->output);
        if constexpr (sizeof(T) == 4) {
            if (problem->segments == SEGMENTS_KEYS)
                scan_by_key(call, policy, static_cast<const uint32_t *>(call->second), in, out);
            else
                scan_by_key(call, policy,
                            thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0),
                                                            row_of{problem->segment_length}),
                            in, out);
        }
    });
}

/* ---- What the rows call ---- */

template <class Policy> void thrust_scan_by_operator(const struct call *call, const Policy &policy)
{
    if (call->problem.segments != SEGMENTS_NONE)
        return scan_segments(call, policy);
    with_library_operator(call, [&](auto in, auto out, auto combine, auto identity) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            thrust::exclusive_scan(policy, in, in + call->problem.n, out, identity, combine);
        else
            thrust::inclusive_scan(policy, in, in + call->problem.n, out, combine);
    });
}

template <class Policy>
void thrust_reduce_by_operator(const struct call *call, const Policy &policy, void *result)
{
    with_library_operator(call, [&]<class T>(const T *in, T *, auto combine, T identity) {
        const T value = thrust::reduce(policy, in, in + call->problem.n, identity, combine);
        memcpy(result, &value, sizeof value);
    });
}

template void thrust_scan_by_operator(const struct call *, const thrust_policy<plain_allocator> &);
template void thrust_scan_by_operator(const struct call *,
                                      const thrust_policy<caching_allocator> &);
template void thrust_reduce_by_operator(const struct call *, const thrust_policy<plain_allocator> &,
                                        void *);
template void thrust_reduce_by_operator(const struct call *,
                                        const thrust_policy<caching_allocator> &, void *);

} // namespace SCANBENCH_BACKEND
