/* library.hpp: shared code of the files that call a C++ library. */
#ifndef SCANBENCH_CPU_LIBRARY_HPP
#define SCANBENCH_CPU_LIBRARY_HPP

#include "../bench/algorithm.h"

#include <bit>
#include <type_traits>

/* Bytes of the narrowest type that an operation takes; libraries need not support narrower
 * ones. */
constexpr size_t least_bytes(enum operation op)
{
    switch (op) {
#define OPERATION(NAME, name, PROPERTIES, LEAST_BYTES, ...) \
    case OP_##NAME:                                         \
        return LEAST_BYTES;
#include "../bench/operations.def"
#undef OPERATION
    default:
        return 0;
    }
}

/* Calls work(in, out, n) with elements as numbers that add up as scanbench's do: integers are
 * unsigned, so that sums wrap. */
template <enum operation op, class Work> void with_sums(const struct call *call, Work work)
{
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        if constexpr (sizeof(T) >= least_bytes(op))
            work(static_cast<const T *>(call->input), static_cast<T *>(call->output),
                 call->problem.n);
    };
    switch (call->problem.type) {
#define TYPE(NAME, name, T, SUM, ...) \
    case TYPE_##NAME:                 \
        return run(SUM{0});
#include "../bench/types.def"
#undef TYPE
    default:
        return;
    }
}

/* The order of keys. Floats are compared by their bits, because NaN is neither less than nor
 * equal to anything. */
struct key_less {
    template <class T> bool operator()(T a, T b) const
    {
        if constexpr (std::is_floating_point_v<T>) {
            using bits = std::conditional_t<sizeof(T) == sizeof(int32_t), int32_t, int64_t>;
            constexpr bits magnitude = std::bit_cast<bits>(T{-0.0}) ^ bits { -1 };
            const auto x = std::bit_cast<bits>(a), y = std::bit_cast<bits>(b);
            return (x < 0 ? x ^ magnitude : x) < (y < 0 ? y ^ magnitude : y);
        } else {
            return a < b;
        }
    }
};

/* Calls work(keys, n) with a copy of the input, to be sorted by key_less. */
template <class Work> void with_keys(const struct call *call, Work work)
{
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        if constexpr (sizeof(T) >= least_bytes(OP_SORT))
            work(static_cast<T *>(call->output), call->problem.n);
    };
    __builtin_memcpy(call->output, call->input,
                     call->problem.n * element_bytes(call->problem.type));
    switch (call->problem.type) {
#define TYPE(NAME, name, T, ...) \
    case TYPE_##NAME:            \
        return run(T{0});
#include "../bench/types.def"
#undef TYPE
    default:
        return;
    }
}

/* Does compaction keep the element? */
struct is_kept {
    template <class T> bool operator()(T element) const
    {
        return element != 0;
    }
};

/* Defines the row of a library. Its file also has LIBRARY_VERSION(). */
#define LIBRARY(its_name, its_op, its_traits, its_summary, its_source, its_supports, its_run)    \
    {                                                                                            \
        .name = its_name, .op = its_op, .family = FAMILY_LIBRARY, .result = RESULT_OF_OPERATION, \
        .traits = its_traits, .default_block = 0, .summary = its_summary, .source = its_source,  \
        .library_version = library_version, .over = nullptr, .supports = its_supports,           \
        .scratch_bytes = nullptr, .prepare = nullptr, .run = its_run                             \
    }

/* Defines a row's `supports` and `run` if the library is not installed. */
#define LIBRARY_MISSING(package)                       \
    static const char *missing(const struct problem *) \
    {                                                  \
        return NOT_IN_BUILD package;                   \
    }                                                  \
    static constexpr const char *(*library_version)(void) = nullptr;

#endif
