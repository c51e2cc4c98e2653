/* tbb: Threading Building Blocks, as a user calls them.
 * Source:  oneTBB, parallel_scan, parallel_reduce and parallel_sort. Not
 *          parallel_deterministic_reduce: that is for sums that rounding makes depend on
 *          their order, and ours are exact; it would give up the partitioner that adapts. */
#include "library.hpp"

static constexpr uint32_t OPERATOR_TYPES = TYPES_OF_4_BYTES;

#ifdef SCANBENCH_TBB
#include "arena.hpp"

#include <numeric>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/version.h>

LIBRARY_VERSION("oneTBB %d.%d", TBB_VERSION_MAJOR, TBB_VERSION_MINOR)

static constexpr const char *(*supports)(const struct problem *) = nullptr;

template <class T, class Add>
static T scan_range(const T *in, T *out, const tbb::blocked_range<uint64_t> &range, T sum, Add add,
                    bool inclusive, bool is_final)
{
    for (uint64_t i = range.begin(); i < range.end(); i++) {
        const T before = sum;
        sum = add(sum, in[i]);
        if (is_final)
            out[i] = inclusive ? sum : before;
    }
    return sum;
}

static void scan(const struct call *call)
{
    const bool inclusive = call->problem.kind == KIND_INCLUSIVE;
    with_operands<OPERATOR_TYPES>(
        call, [&]<class T>(const T *in, T *out, uint64_t n, auto add, T identity) {
            in_arena(call->problem.threads, [&] {
                tbb::parallel_scan(
                    tbb::blocked_range<uint64_t>(0, n), identity,
                    [=](const auto &range, T sum, bool is_final) {
                        return scan_range(in, out, range, sum, add, inclusive, is_final);
                    },
                    add);
            });
        });
}

static void reduce(const struct call *call)
{
    with_operands<OPERATOR_TYPES>(
        call, [&]<class T>(const T *in, T *out, uint64_t n, auto add, T identity) {
            in_arena(call->problem.threads, [&] {
                *out = tbb::parallel_reduce(
                    tbb::blocked_range<const T *>(in, in + n), identity,
                    [=](const auto &range, T sum) {
                        return std::reduce(range.begin(), range.end(), sum, add);
                    },
                    add);
            });
        });
}

static void sort(const struct call *call)
{
    with_items(call, [&](auto *items, uint64_t n) {
        in_arena(call->problem.threads, [&] { tbb::parallel_sort(items, items + n, key_less()); });
    });
}
#else
LIBRARY_MISSING("libtbb-dev")
#endif

constexpr unsigned TRAITS = TRAIT_HAS_THREADS | TRAIT_SYNCHRONISES;

extern "C" const struct algorithm cpu_scan_tbb =
    LIBRARY_OF_OPERATORS("tbb", OP_SCAN, TRAITS, OPERATOR_TYPES, 0,
                         "oneTBB: parallel_scan over several threads", "oneTBB", supports, scan);
extern "C" const struct algorithm cpu_reduce_tbb = LIBRARY_OF_OPERATORS(
    "tbb", OP_REDUCE, TRAITS, OPERATOR_TYPES, 0, "oneTBB: parallel_reduce over several threads",
    "oneTBB", supports, reduce);
extern "C" const struct algorithm cpu_sort_tbb =
    LIBRARY_SORT("tbb", TRAITS, 0, "oneTBB: a copy, then parallel_sort", "oneTBB", supports, sort);
