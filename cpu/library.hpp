/* library.hpp: what the files that call a C++ library share. */
#ifndef SCANBENCH_CPU_LIBRARY_HPP
#define SCANBENCH_CPU_LIBRARY_HPP

#include "../bench/algorithm.h"

#include <bit>

/* Calls work(in, out, n) with the elements as numbers that add up as scanbench's
 * do: integers without a sign, so that sums wrap. */
template <class Work> void with_sums(const struct call *call, Work work)
{
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        work(static_cast<const T *>(call->input), static_cast<T *>(call->output), call->problem.n);
    };
    switch (call->problem.type) {
    case TYPE_F32:
        return run(0.0f);
    case TYPE_F64:
        return run(0.0);
    case TYPE_I64:
    case TYPE_U64:
        return run(uint64_t{0});
    default:
        return run(uint32_t{0});
    }
}

/* Calls work(keys, n, less) with a copy of the input, which is to be sorted. */
template <class Work> void with_keys(const struct call *call, Work work)
{
    const uint64_t n = call->problem.n;
    __builtin_memcpy(call->output, call->input, n * element_bytes(call->problem.type));
    switch (call->problem.type) {
    case TYPE_I32:
        return work(static_cast<int32_t *>(call->output), n, [](auto a, auto b) { return a < b; });
    case TYPE_U32:
        return work(static_cast<uint32_t *>(call->output), n, [](auto a, auto b) { return a < b; });
    case TYPE_I64:
        return work(static_cast<int64_t *>(call->output), n, [](auto a, auto b) { return a < b; });
    case TYPE_U64:
        return work(static_cast<uint64_t *>(call->output), n, [](auto a, auto b) { return a < b; });
    /* By their bits, because NaN is neither less than anything nor equal to it. */
    case TYPE_F32:
        return work(static_cast<float *>(call->output), n, [](float a, float b) {
            const auto x = std::bit_cast<int32_t>(a), y = std::bit_cast<int32_t>(b);
            return (x < 0 ? x ^ INT32_MAX : x) < (y < 0 ? y ^ INT32_MAX : y);
        });
    default:
        return work(static_cast<double *>(call->output), n, [](double a, double b) {
            const auto x = std::bit_cast<int64_t>(a), y = std::bit_cast<int64_t>(b);
            return (x < 0 ? x ^ INT64_MAX : x) < (y < 0 ? y ^ INT64_MAX : y);
        });
    }
}

/* Is an element kept by compaction? */
struct is_kept {
    template <class T> bool operator()(T element) const
    {
        return element != 0;
    }
};

/* The rows of a library have much in common; LIBRARY_VERSION() is in the file, too. */
#define LIBRARY(its_name, its_op, its_traits, its_summary, its_source, its_supports, its_run)    \
    {                                                                                            \
        .name = its_name, .op = its_op, .family = FAMILY_LIBRARY, .result = RESULT_OF_OPERATION, \
        .traits = its_traits, .default_block = 0, .summary = its_summary, .source = its_source,  \
        .library_version = library_version, .over = nullptr, .supports = its_supports,           \
        .scratch_bytes = nullptr, .prepare = nullptr, .run = its_run                             \
    }

/* A row's `supports` and `run` where the library is not installed. */
#define LIBRARY_MISSING(package)                       \
    static const char *missing(const struct problem *) \
    {                                                  \
        return "not in this build: install " package;  \
    }                                                  \
    static constexpr const char *(*library_version)(void) = nullptr;

#endif
