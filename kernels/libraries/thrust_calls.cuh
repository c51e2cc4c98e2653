/* thrust_calls.cuh: memory and error handling shared by the algorithms that call Thrust.
 *
 * An Operation is a class with `static void run(call, policy)`, which calls Thrust with that
 * execution policy, and with ROW, which says what is its own of the rows `thrust` and
 * `thrust-cached`. */
#pragma once

#include "thrust_allocators.cuh"

#include <thrust/execution_policy.h>
#include <thrust/version.h>

#include <exception>

namespace SCANBENCH_BACKEND
{

/* Files without an algorithm of their own do not say it. */
[[maybe_unused]] LIBRARY_VERSION("Thrust %d.%d.%d", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION,
                                 THRUST_SUBMINOR_VERSION)

    /* The target of call->kept for algorithms that use the two functions below. */
    struct thrust_kept {
    caching_allocator memory; /* thrust-cached: memory kept between calls */
    uint64_t on_host = 0;     /* a count or a sum, kept from run() to hand_over() */
};

inline thrust_kept *kept_by_thrust(const struct call *call)
{
    return static_cast<thrust_kept *>(*call->kept);
}

inline void prepare_thrust(const struct call *call)
{
    if (*call->kept == nullptr)
        *call->kept = new thrust_kept;
}

inline void release_thrust(const struct call *call)
{
    delete kept_by_thrust(call);
}

/* Thrust throws exceptions; this passes them to the queue like all other errors. */
template <class Operation, class Memory>
void run_thrust_with(const struct call *call, Memory &memory)
{
    try {
        Operation::run(call, thrust::cuda::par(memory).on(queue_of(call)->stream));
    } catch (const std::exception &error) {
        fail(queue_of(call), "thrust", error.what());
    }
}

/* Thrust returns some results to the host, where its users want them, so their copy back to the
 * device is not timed. */
inline void hand_over_to(const struct call *call, void *to, size_t bytes)
{
    succeeded(queue_of(call), "result",
              cudaMemcpyAsync(to, &kept_by_thrust(call)->on_host, bytes, cudaMemcpyHostToDevice,
                              queue_of(call)->stream));
}

/* Calls Thrust as users do by default: temporary memory is allocated inside the call. */
template <class Operation> void run_thrust(const struct call *call)
{
    plain_allocator memory;
    run_thrust_with<Operation>(call, memory);
}

/* Calls Thrust with temporary memory kept from earlier calls. */
template <class Operation> void run_thrust_cached(const struct call *call)
{
    run_thrust_with<Operation>(call, kept_by_thrust(call)->memory);
}

template <class Operation> constexpr struct algorithm thrust_row(const char *summary, bool cached)
{
    struct algorithm row = Operation::ROW;
    row.name = cached ? "thrust-cached" : "thrust";
    row.family = FAMILY_LIBRARY;
    row.traits |= TRAIT_SYNCHRONISES;
    row.summary = summary;
    row.source = "NVIDIA Thrust";
    row.library_version = library_version;
    row.run = cached ? run_thrust_cached<Operation> : run_thrust<Operation>;
    if (cached || row.hand_over != nullptr) {
        row.prepare = prepare_thrust;
        row.release = release_thrust;
    }
    return row;
}

template <class Memory>
using thrust_policy = decltype(thrust::cuda::par(std::declval<Memory &>()).on(0));

/* Sorts the keys of the output and moves the values of the output with them. */
template <class Policy> void thrust_sort_pairs(const struct call *call, const Policy &policy);

/* Scans by an operator other than sum or with segments, and reductions by such an operator, whose
 * result on the host is written to `result`; for elements of 4 bytes. */
template <class Policy> void thrust_scan_by_operator(const struct call *call, const Policy &policy);
template <class Policy>
void thrust_reduce_by_operator(const struct call *call, const Policy &policy, void *result);

} // namespace SCANBENCH_BACKEND
