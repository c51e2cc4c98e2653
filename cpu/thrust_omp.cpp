/* thrust_omp: Thrust on CPU threads, through OpenMP.
 * Source:  NVIDIA, Thrust; only its headers. */
#include "library.hpp"

#ifdef SCANBENCH_THRUST
#include "openmp.h"

#include <omp.h>
#include <thrust/copy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/version.h>

LIBRARY_VERSION("Thrust %d.%d.%d", THRUST_MAJOR_VERSION, THRUST_MINOR_VERSION,
                THRUST_SUBMINOR_VERSION)

static constexpr auto supports = openmp_unsupported;

static void scan(const struct call *call)
{
    omp_set_num_threads((int)call->problem.threads);
    with_sums<OP_SCAN>(call, [&]<class T>(const T *in, T *out, uint64_t n) {
        if (call->problem.kind == KIND_INCLUSIVE)
            thrust::inclusive_scan(thrust::omp::par, in, in + n, out, thrust::plus<T>());
        else
            thrust::exclusive_scan(thrust::omp::par, in, in + n, out, T{0}, thrust::plus<T>());
    });
}

static void reduce(const struct call *call)
{
    omp_set_num_threads((int)call->problem.threads);
    with_sums<OP_REDUCE>(call, []<class T>(const T *in, T *out, uint64_t n) {
        *out = thrust::reduce(thrust::omp::par, in, in + n, T{0}, thrust::plus<T>());
    });
}

static void compact(const struct call *call)
{
    omp_set_num_threads((int)call->problem.threads);
    with_sums<OP_COMPACT>(call, [&]<class T>(const T *in, T *out, uint64_t n) {
        const T *end = thrust::copy_if(thrust::omp::par, in, in + n, out, is_kept());
        *call->count = (uint64_t)(end - out);
    });
}

static void sort(const struct call *call)
{
    omp_set_num_threads((int)call->problem.threads);
    with_items(call, []<class Item>(Item *items, uint64_t n) {
        if constexpr (is_pair<Item>)
            thrust::stable_sort(thrust::omp::par, items, items + n, key_less());
        else
            thrust::sort(thrust::omp::par, items, items + n, key_less());
    });
}
#else
LIBRARY_MISSING("the CUDA Toolkit, which includes Thrust, or libthrust-dev")
#endif

constexpr unsigned TRAITS = TRAIT_HAS_THREADS | TRAIT_OPENMP | TRAIT_SYNCHRONISES;

extern "C" const struct algorithm cpu_scan_thrust_omp =
    LIBRARY("thrust-omp", OP_SCAN, TRAITS, "Thrust on CPU threads: exclusive_scan, inclusive_scan",
            "NVIDIA Thrust", supports, scan);
extern "C" const struct algorithm cpu_reduce_thrust_omp =
    LIBRARY("thrust-omp", OP_REDUCE, TRAITS, "Thrust on CPU threads: reduce", "NVIDIA Thrust",
            supports, reduce);
extern "C" const struct algorithm cpu_compact_thrust_omp =
    LIBRARY("thrust-omp", OP_COMPACT, TRAITS | TRAIT_ALLOCATES(2), "Thrust on CPU threads: copy_if",
            "NVIDIA Thrust", supports, compact);
extern "C" const struct algorithm cpu_sort_thrust_omp =
    LIBRARY_SORT("thrust-omp", TRAITS | TRAIT_STABLE | TRAIT_ALLOCATES(2), 0,
                 "Thrust on CPU threads: a copy, then sort; pairs: stable_sort", "NVIDIA Thrust",
                 supports, sort);
