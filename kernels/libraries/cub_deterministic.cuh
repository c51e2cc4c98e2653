/* cub_deterministic.cuh: CUB, required to return the same sums of floats each time.
 *
 * CUB takes that requirement in an environment, where it asks for the size of its temporary
 * memory and allocates it in every call. So that nothing is allocated in run(), the environment
 * also holds a memory resource, which hands out the call's scratch. */
#pragma once

#include "cub_calls.cuh"

/* 3.0.1 has no such environment; 3.6.0 has. */
#define CUB_IS_DETERMINISTIC (CUB_VERSION >= 300600)

/* What a row does, by a cub_function and what calls that in run(). */
#if CUB_IS_DETERMINISTIC
#define DETERMINISTIC(function, calls)                                                  \
    .supports = SCANBENCH_BACKEND::not_of_floats,                                       \
    .scratch_bytes = SCANBENCH_BACKEND::cub_scratch_bytes<SCANBENCH_BACKEND::function>, \
    .run = SCANBENCH_BACKEND::calls<SCANBENCH_BACKEND::function>
#else
#define DETERMINISTIC(function, calls) .supports = SCANBENCH_BACKEND::no_deterministic_cub
#endif

#if CUB_IS_DETERMINISTIC
#include <cuda/execution>
#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include <new>

namespace SCANBENCH_BACKEND
{

/* Hands out memory that is there already. Without any it only sets `wanted`. */
struct scratch_resource {
    void *memory;
    size_t bytes;
    size_t *wanted;

    void *allocate_sync(size_t more, size_t)
    {
        *wanted = more;
        if (more > bytes)
            throw std::bad_alloc(); /* CUB turns it into cudaErrorMemoryAllocation */
        return memory;
    }
    void *allocate(cuda::stream_ref, size_t more, size_t alignment)
    {
        return allocate_sync(more, alignment);
    }
    void deallocate_sync(void *, size_t, size_t)
    {
    }
    void deallocate(cuda::stream_ref, void *, size_t, size_t)
    {
    }
    bool operator==(const scratch_resource &) const = default;
};

/* Calls work(in, out, n, environment) as a cub_function calls CUB, for floats: without scratch it
 * only sets `bytes`. */
template <class Requirement, class Work>
cudaError_t cub_of_floats(const struct call *call, size_t *bytes, cudaStream_t stream,
                          Requirement requirement, Work work)
{
    const scratch_resource scratch = {call->scratch, call->scratch_bytes, bytes};
    const cuda::std::execution::env environment{
        cuda::stream_ref{stream},
        cuda::std::execution::prop{cuda::mr::get_memory_resource, scratch},
        cuda::execution::require(requirement)};
    cudaError_t error = cudaSuccess;
    with_sum_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>)
            error = with_count(call->problem.n, [&](auto n) {
                return work(static_cast<const T *>(call->input), static_cast<T *>(call->output), n,
                            environment);
            });
    });
    const bool only_asked = call->scratch == nullptr && error == cudaErrorMemoryAllocation;
    return only_asked ? cudaSuccess : error;
}

inline const char *not_of_floats(const struct problem *problem)
{
    return type_class(problem->type) == TYPE_FLOAT
               ? nullptr
               : "sums of integers are the same in any order: cub";
}

} // namespace SCANBENCH_BACKEND

#else

namespace SCANBENCH_BACKEND
{

inline const char *no_deterministic_cub(const struct problem *)
{
    return NOT_IN_BUILD "CUB 3.6 by make CCCL=dir";
}

} // namespace SCANBENCH_BACKEND

#endif
