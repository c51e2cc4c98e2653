/* sample_host.cuh: what the host decides about sort_sample by the number of keys, its scratch, and
 * the functions by which sort_sample.cu sorts, for sort_adaptive as well. */
#ifndef SCANBENCH_KERNELS_SORT_SAMPLE_HOST_CUH
#define SCANBENCH_KERNELS_SORT_SAMPLE_HOST_CUH

#include "msd_host.cuh"
#include "sample_division.cuh"

#include <bit>

namespace SCANBENCH_BACKEND
{

namespace sample_sort
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

/* The scratch of the sort: the state, what msd needs beside the other array, and at the end one
 * array that is msd's other array and holds the buckets at their capacity. */
template <class Key> struct scratch {
    state<Key> *own;
    msd::scratch<Key> msd;
    size_t bytes;
};

template <class Key> scratch<Key> scratch_of(const struct problem *problem, void *start)
{
    scratch<Key> scratch = {};
    const size_t own_bytes = next_place(sizeof(state<Key>));
    scratch.own = static_cast<state<Key> *>(start);
    scratch.msd =
        msd::scratch_of<Key>(problem, msd::small_shape<Key>(problem),
                             start == nullptr ? nullptr : static_cast<char *>(start) + own_bytes);
    const size_t buckets = (size_t)shape_of<Key>(problem).buckets * CAPACITY<Key> * sizeof(Key);
    const size_t array = next_place(problem->n * sizeof(Key));
    scratch.bytes = own_bytes + scratch.msd.bytes - array + std::max(buckets, array);
    return scratch;
}

/* The word in which a call finds the address of `disabled` of another sort, queued after it. If it
 * is not null, the skewed keys of a large array are left to the other sort, and `disabled` says
 * whether they are. prepare() makes it null. */
inline unsigned **other_disabled(const struct call *call)
{
    return with_key_width(call->problem.type, [&]<class Key>() {
        return &static_cast<state<Key> *>(call->scratch)->other_disabled;
    });
}

/* The functions of an algorithm, as algorithm.h describes them, defined in sort_sample.cu. */
const char *supports(const struct problem *problem);
size_t scratch_bytes(const struct problem *problem);
void prepare(const struct call *call);
void run(const struct call *call);

} // namespace sample_sort

} // namespace SCANBENCH_BACKEND

#endif
