/* std_par: the C++ standard library with std::execution::par_unseq. GNU's is
 * built on TBB.
 * Source:  ISO C++17, <execution>. */
#include "library.hpp"

static constexpr uint32_t OPERATOR_TYPES = TYPES_OF_4_BYTES;

#ifdef SCANBENCH_TBB
#include "arena.hpp"

#include <algorithm>
#include <execution>
#include <numeric>
#include <tbb/version.h>

LIBRARY_VERSION("libstdc++ %d over oneTBB %d.%d", _GLIBCXX_RELEASE, TBB_VERSION_MAJOR,
                TBB_VERSION_MINOR)

static constexpr const char *(*supports)(const struct problem *) = nullptr;

static void scan(const struct call *call)
{
    with_operands<OPERATOR_TYPES>(
        call, [&](auto in, auto out, uint64_t n, auto add, auto identity) {
            in_arena(call->problem.threads, [&] {
                if (call->problem.kind == KIND_INCLUSIVE)
                    std::inclusive_scan(std::execution::par_unseq, in, in + n, out, add);
                else
                    std::exclusive_scan(std::execution::par_unseq, in, in + n, out, identity, add);
            });
        });
}

static void reduce(const struct call *call)
{
    with_operands<OPERATOR_TYPES>(call, [&](auto in, auto out, uint64_t n, auto add,
                                            auto identity) {
        in_arena(call->problem.threads,
                 [&] { *out = std::reduce(std::execution::par_unseq, in, in + n, identity, add); });
    });
}

static void compact(const struct call *call)
{
    with_sums<OP_COMPACT>(call, [&]<class T>(const T *in, T *out, uint64_t n) {
        in_arena(call->problem.threads, [&] {
            const T *end = std::copy_if(std::execution::par_unseq, in, in + n, out, is_kept());
            *call->count = (uint64_t)(end - out);
        });
    });
}

static void sort(const struct call *call)
{
    with_items(call, [&]<class Item>(Item *items, uint64_t n) {
        in_arena(call->problem.threads, [&] {
            if constexpr (is_pair<Item>)
                std::stable_sort(std::execution::par_unseq, items, items + n, key_less());
            else
                std::sort(std::execution::par_unseq, items, items + n, key_less());
        });
    });
}
#else
LIBRARY_MISSING("libtbb-dev")
#endif

constexpr unsigned TRAITS = TRAIT_HAS_THREADS | TRAIT_SYNCHRONISES;

extern "C" const struct algorithm cpu_scan_std_par =
    LIBRARY_OF_OPERATORS("std-par", OP_SCAN, TRAITS, OPERATOR_TYPES, 0,
                         "C++: std::exclusive_scan with par_unseq", "ISO C++17", supports, scan);
extern "C" const struct algorithm cpu_reduce_std_par =
    LIBRARY_OF_OPERATORS("std-par", OP_REDUCE, TRAITS, OPERATOR_TYPES, 0,
                         "C++: std::reduce with par_unseq", "ISO C++17", supports, reduce);
extern "C" const struct algorithm cpu_compact_std_par =
    LIBRARY("std-par", OP_COMPACT, TRAITS | TRAIT_ALLOCATES(1), "C++: std::copy_if with par_unseq",
            "ISO C++17", supports, compact);
extern "C" const struct algorithm cpu_sort_std_par =
    LIBRARY_SORT("std-par", TRAITS | TRAIT_STABLE | TRAIT_ALLOCATES(9), 0,
                 "C++: a copy, then std::sort with par_unseq; pairs: std::stable_sort", "ISO C++17",
                 supports, sort);
