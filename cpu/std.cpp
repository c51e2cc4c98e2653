/* std: the C++ standard library on one thread, as a user calls it.
 * Source:  ISO C++17, <numeric> and <algorithm>. */
#include "library.hpp"
#include "segments.h"

#include <algorithm>
#include <numeric>

LIBRARY_VERSION("libstdc++ %d", _GLIBCXX_RELEASE)

static constexpr uint32_t OPERATOR_TYPES = TYPES_OF_OWN_SUMS;

static void scan(const struct call *call)
{
    with_operands<OPERATOR_TYPES>(call,
                                  [&](auto in, auto out, uint64_t n, auto add, auto identity) {
                                      if (call->problem.kind == KIND_INCLUSIVE)
                                          std::inclusive_scan(in, in + n, out, add);
                                      else
                                          std::exclusive_scan(in, in + n, out, identity, add);
                                  });
}

static void reduce(const struct call *call)
{
    with_operands<OPERATOR_TYPES>(call, [](auto in, auto out, uint64_t n, auto add, auto identity) {
        *out = std::reduce(in, in + n, identity, add);
    });
}

static void compact(const struct call *call)
{
    with_sums<OP_COMPACT>(call, [&]<class T>(const T *in, T *out, uint64_t n) {
        *call->count = (uint64_t)(std::copy_if(in, in + n, out, is_kept()) - out);
    });
}

static void sort(const struct call *call)
{
    with_items<ALL_TYPES>(call, []<class Item>(Item *items, uint64_t n) {
        if constexpr (is_pair<Item>)
            std::stable_sort(items, items + n, key_less());
        else
            std::sort(items, items + n, key_less());
    });
}

extern "C" const struct algorithm cpu_scan_std = LIBRARY_OF_OPERATORS(
    "std", OP_SCAN, 0, OPERATOR_TYPES, ALL_TYPES, "C++: std::exclusive_scan, std::inclusive_scan",
    "ISO C++17", nullptr, [](const struct call *call) { for_each_segment(call, scan); });
extern "C" const struct algorithm cpu_compact_std =
    LIBRARY("std", OP_COMPACT, 0, "C++: std::copy_if", "ISO C++17", nullptr, compact);
extern "C" const struct algorithm cpu_reduce_std = LIBRARY_OF_OPERATORS(
    "std", OP_REDUCE, 0, OPERATOR_TYPES, ALL_TYPES, "C++: std::reduce", "ISO C++17", nullptr,
    [](const struct call *call) { for_each_segment(call, reduce); });
extern "C" const struct algorithm cpu_sort_std = LIBRARY_SORT(
    "std", TRAIT_STABLE | TRAIT_ALLOCATES(1), TYPES_OF_NARROW_KEYS,
    "C++: a copy, then std::sort; pairs: std::stable_sort", "ISO C++17", nullptr, sort);
