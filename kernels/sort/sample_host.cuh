/* sample_host.cuh: what the host decides about sort_sample by the number of keys, its scratch, and
 * the functions of sort_sample.cu, for sort_adaptive. */
#pragma once

#include "msd_host.cuh"
#include "sample_division.cuh"

#include <bit>

namespace SCANBENCH_BACKEND::sample_sort
{

/* Fewer keys are sorted sooner by one block, as sort_msd does. */
enum { LEAST_KEYS = 8192 };

template <class Key> constexpr unsigned MOST_BUCKETS = MOST_SAMPLED<Key> / OVERSAMPLING;

template <class Key> shape shape_of(const struct problem *problem)
{
    const auto n = (unsigned)problem->n;
    const unsigned tile =
        std::min(msd::keys_for<Key>(problem), (unsigned)ceil_div(msd::share_of(problem), THREADS)) *
        THREADS;
    /* Small arrays have more buckets with fewer keys. */
    const unsigned few = std::min(std::bit_ceil((unsigned)ceil_div(n, SHARE<Key> / 2)), 128u);
    const unsigned buckets = std::max(few, std::bit_ceil((unsigned)ceil_div(n, SHARE<Key>)));
    return {n, tile, std::min(buckets, MOST_BUCKETS<Key>)};
}

/* Scratch is the state, and then that of msd, whose other array holds the buckets at their
 * capacity.
 */
template <class Key> task<Key> task_of(const struct call *call, allocator *scratch)
{
    const struct problem *problem = &call->problem;
    const shape shape = shape_of<Key>(problem);
    task<Key> task = {scratch->get<state<Key>>(1), shape, {}};
    task.msd = msd::task_of<Key>(
        call, msd::small_shape<Key>(problem),
        std::max<uint64_t>(problem->n, (uint64_t)shape.buckets * CAPACITY<Key>), scratch);
    return task;
}

extern const bucket_policy SAMPLE; /* is in sort_sample.cu */

} // namespace SCANBENCH_BACKEND::sample_sort
