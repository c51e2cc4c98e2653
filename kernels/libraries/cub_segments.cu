/* cub_segments: CUB's scans by keys, scans and sums of segments, and linear recurrences. */
#include "cub_calls.cuh"

#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#if __has_include(<cub/device/device_segmented_scan.cuh>)
#include <cub/device/device_segmented_scan.cuh>
#define HAS_SEGMENTED_SCAN 1
#endif
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

namespace SCANBENCH_BACKEND
{

const char *cub_segments_unsupported(const struct problem *problem)
{
#ifndef HAS_SEGMENTED_SCAN
    if (problem->segments == SEGMENTS_ROWS || problem->segments == SEGMENTS_OFFSETS)
        return "this CUB has no scan of segments (CUB 3.6 has)";
#endif
    (void)problem;
    return nullptr;
}

/* Where row s begins. */
struct row_begin {
    uint64_t length, n;
    __host__ __device__ uint64_t operator()(uint64_t row) const
    {
        return row * length < n ? row * length : n;
    }
};

/* Element i of a recurrence, from two arrays. */
template <class T> struct affine_at {
    const T *a, *b;
    __host__ __device__ affine<T> operator()(uint64_t i) const
    {
        return {a[i], b[i]};
    }
};

template <class T> struct after {
    __host__ __device__ affine<T> operator()(const affine<T> &x, const affine<T> &y) const
    {
        return x + y;
    }
};

template <class T> struct result_of {
    __host__ __device__ T operator()(const affine<T> &x) const
    {
        return x.b;
    }
};

template <class T>
static cudaError_t scan_recurrence(const struct call *call, size_t *bytes, const T *in, T *out,
                                   cudaStream_t stream)
{
    const auto operands =
        thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0),
                                        affine_at<T>{in, static_cast<const T *>(call->second)});
    const auto results = thrust::make_transform_output_iterator(out, result_of<T>());
    return with_count(call->problem.n, [&](auto n) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            return cub::DeviceScan::ExclusiveScan(call->scratch, *bytes, operands, results,
                                                  after<T>(), affine<T>(0), n, stream);
        return cub::DeviceScan::InclusiveScan(call->scratch, *bytes, operands, results, after<T>(),
                                              n, stream);
    });
}

template <class T>
static cudaError_t scan_by_keys(const struct call *call, size_t *bytes, const T *in, T *out,
                                cudaStream_t stream)
{
    const auto *keys = static_cast<const uint32_t *>(call->second);
    return with_count(call->problem.n, [&](auto n) {
        if (call->problem.kind == KIND_EXCLUSIVE)
            return cub::DeviceScan::ExclusiveSumByKey(call->scratch, *bytes, keys, in, out, n,
                                                      cuda::std::equal_to<>(), stream);
        return cub::DeviceScan::InclusiveSumByKey(call->scratch, *bytes, keys, in, out, n,
                                                  cuda::std::equal_to<>(), stream);
    });
}

/* Calls f(begins, ends) with iterators over the first element of each segment and over that after
 * its last. */
template <class Function>
static cudaError_t with_bounds(const struct problem *problem, const void *second, Function f)
{
    if (problem->segments == SEGMENTS_OFFSETS) {
        const auto *offsets = static_cast<const uint64_t *>(second);
        return f(offsets, offsets + 1);
    }
    const auto begins = thrust::make_transform_iterator(
        thrust::counting_iterator<uint64_t>(0), row_begin{problem->segment_length, problem->n});
    return f(begins, begins + 1);
}

template <class T>
static cudaError_t sum_segments(const struct call *call, size_t *bytes, const T *in, T *out,
                                cudaStream_t stream)
{
    const struct problem *problem = &call->problem;
    const auto count = (int64_t)problem->segment_count;
#if CUB_VERSION >= 300100
    /* Segments of one size, which is faster. */
    if (problem->segments == SEGMENTS_ROWS && problem->n % problem->segment_length == 0 &&
        problem->segment_length <= INT32_MAX)
        return cub::DeviceSegmentedReduce::Sum(call->scratch, *bytes, in, out, count,
                                               (int)problem->segment_length, stream);
#endif
    return with_bounds(problem, call->second, [&](auto begins, auto ends) {
        return cub::DeviceSegmentedReduce::Sum(call->scratch, *bytes, in, out, count, begins, ends,
                                               stream);
    });
}

#ifdef HAS_SEGMENTED_SCAN
template <class T, class Begins, class Ends>
static cudaError_t scan_between(const struct call *call, size_t *bytes, const T *in, T *out,
                                Begins begins, Ends ends, cudaStream_t stream)
{
    const auto count = (int64_t)call->problem.segment_count;
    if (call->problem.kind == KIND_EXCLUSIVE)
        return cub::DeviceSegmentedScan::ExclusiveSegmentedSum(call->scratch, *bytes, in, out,
                                                               begins, ends, count, stream);
    return cub::DeviceSegmentedScan::InclusiveSegmentedSum(call->scratch, *bytes, in, out, begins,
                                                           ends, count, stream);
}

template <class T>
static cudaError_t scan_segments(const struct call *call, size_t *bytes, const T *in, T *out,
                                 cudaStream_t stream)
{
    return with_bounds(&call->problem, call->second, [&](auto begins, auto ends) {
        return scan_between(call, bytes, in, out, begins, ends, stream);
    });
}
#endif

cudaError_t cub_reduce_segments(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    with_sum_type(call->problem.type, [&]<class T>(T) {
        if constexpr (sizeof(T) == 4)
            error = sum_segments(call, bytes, static_cast<const T *>(call->input),
                                 static_cast<T *>(call->output), stream);
    });
    return error;
}

cudaError_t cub_scan_in_order(const struct call *call, size_t *bytes, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    with_sum_type(call->problem.type, [&]<class T>(T) {
        const T *in = static_cast<const T *>(call->input);
        T *out = static_cast<T *>(call->output);
        if constexpr (sizeof(T) == 4) {
            if (call->problem.binary_operator == OPERATOR_RECURRENCE)
                error = scan_recurrence(call, bytes, in, out, stream);
            else if (call->problem.segments == SEGMENTS_KEYS)
                error = scan_by_keys(call, bytes, in, out, stream);
#ifdef HAS_SEGMENTED_SCAN
            else
                error = scan_segments(call, bytes, in, out, stream);
#endif
        }
    });
    return error;
}

} // namespace SCANBENCH_BACKEND
