/* library.hpp: shared code of the files that call a C++ library. */
#pragma once

#include "../bench/apply.h"
#include "key_order.h"

#include <bit>
#include <functional>
#include <limits>
#include <type_traits>

/* Calls work(in, out, n) with elements as numbers that add up as scanbench's do: integers are
 * unsigned, so that sums wrap. Elements whose sums are wider are left out, unless nothing adds. */
template <enum operation op, class Work> void with_sums(const struct call *call, Work work)
{
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        work(static_cast<const T *>(call->input), static_cast<T *>(call->output), call->problem.n);
    };
    switch (call->problem.type) {
#define TYPE(NAME, name, T, SUM, ...)           \
    case TYPE_##NAME:                           \
        if constexpr (sizeof(T) == sizeof(SUM)) \
            return run(SUM{0});                 \
        else if constexpr (op == OP_COMPACT)    \
            return run(T(0));                   \
        return;
#include "../bench/types.def"
    default:
        return;
    }
}

/* An operator on numbers of type T, as C++ libraries take it. A sum is std::plus, which they know.
 */
template <class T, binary_operator ID> struct operator_on;
#define TWO_INPUT_OPERATOR(...)
#define OPERATOR(NAME, ...)                                     \
    template <class T> struct operator_on<T, OPERATOR_##NAME> { \
        T operator()(T a, T b) const                            \
        {                                                       \
            return T(APPLY_##NAME(a, b));                       \
        }                                                       \
    };
#include "../bench/operators.def"

template <class T, binary_operator ID>
using library_operator = std::conditional_t<ID == OPERATOR_SUM, std::plus<T>, operator_on<T, ID>>;

/* Calls work(in, out, n, add, identity) with what the call's operator makes of two elements, and
 * its identity. Operators other than sum are compiled for OPERATOR_TYPES. */
template <uint32_t OPERATOR_TYPES, class Work>
void with_operands(const struct call *call, Work work)
{
    switch (OPERAND_ID(call->problem.binary_operator, call->problem.type)) {
#define OPERAND(OPERATOR, TYPE, T, STORED, LOWEST, HIGHEST)                                       \
    case OPERAND_ID(OPERATOR_##OPERATOR, TYPE_##TYPE):                                            \
        if constexpr (sizeof(T) == sizeof(STORED) &&                                              \
                      (OPERATOR_##OPERATOR == OPERATOR_SUM || OPERATOR_TYPES >> TYPE_##TYPE & 1)) \
            work(static_cast<const T *>(call->input), static_cast<T *>(call->output),             \
                 call->problem.n, library_operator<T, OPERATOR_##OPERATOR>(),                     \
                 T(IDENTITY_##OPERATOR(LOWEST, HIGHEST)));                                        \
        return;
#include "../bench/operands.def"
    default:
        return;
    }
}

/* A key and its value as one item. */
template <class Key, class Value> struct pair {
    Key key;
    Value value;
};

template <class Item> constexpr bool is_pair = false;
template <class Key, class Value> constexpr bool is_pair<pair<Key, Value>> = true;

/* The order of keys, and of pairs by their keys. Floats are compared by their bits, because NaN is
 * neither less than nor equal to anything. */
struct key_less {
    template <class T> bool operator()(T a, T b) const
    {
        if constexpr (!std::is_integral_v<T>) {
            using bits = std::conditional_t<
                sizeof(T) == sizeof(int16_t), int16_t,
                std::conditional_t<sizeof(T) == sizeof(int32_t), int32_t, int64_t>>;
            constexpr bits magnitude = std::numeric_limits<bits>::max();
            const auto x = std::bit_cast<bits>(a), y = std::bit_cast<bits>(b);
            return (x < 0 ? x ^ magnitude : x) < (y < 0 ? y ^ magnitude : y);
        } else {
            return a < b;
        }
    }
    template <class Key, class Value>
    bool operator()(const pair<Key, Value> &a, const pair<Key, Value> &b) const
    {
        return (*this)(a.key, b.key);
    }
};

/* Calls work(keys, n) with a copy of the input, to be sorted by key_less, if it is of TYPES. */
template <unsigned TYPES = TYPES_OF_4_AND_8_BYTES, class Work>
void with_keys(const struct call *call, Work work)
{
    __builtin_memcpy(call->output, call->input,
                     call->problem.n * element_bytes(call->problem.type));
    switch (call->problem.type) {
#define TYPE(NAME, name, T, ...)                                   \
    case TYPE_##NAME:                                              \
        if constexpr ((TYPES & TYPE_BIT_##NAME) != 0)              \
            work(static_cast<T *>(call->output), call->problem.n); \
        return;
#include "../bench/types.def"
    default:
        return;
    }
}

inline size_t pairs_bytes(const struct problem *problem)
{
    const size_t key = element_bytes(problem->type), value = value_bytes(problem->values);
    return value > 0 ? 2 * problem->n * (key > value ? key : value) : 0;
}

/* Calls work(pairs, n) with keys and values as pairs in scratch, and takes them apart again. Keys
 * are unsigned numbers of their order, so that few types of pairs do for all types of keys. */
template <class Key, class Value, class Work> void with_pairs(const struct call *call, Work work)
{
    const auto *keys = static_cast<const Key *>(call->input);
    const auto *values = static_cast<const Value *>(call->input_values);
    auto *keys_out = static_cast<Key *>(call->output);
    auto *values_out = static_cast<Value *>(call->output_values);
    auto *pairs = static_cast<pair<Key, Value> *>(call->scratch);
    const uint64_t n = call->problem.n;
    constexpr unsigned TOP_BIT = 8 * sizeof(Key) - 1;
    const struct key_order order = key_order(call->problem.type);
    const auto positive = static_cast<Key>(order.positive);
    const auto negative = static_cast<Key>(order.negative);
#pragma omp parallel for num_threads((int)call->problem.threads)
    for (uint64_t i = 0; i < n; i++)
        pairs[i] = {keys[i] ^ (keys[i] >> TOP_BIT ? negative : positive), values[i]};
    work(pairs, n);
#pragma omp parallel for num_threads((int)call->problem.threads)
    for (uint64_t i = 0; i < n; i++) {
        keys_out[i] = pairs[i].key ^ (pairs[i].key >> TOP_BIT ? positive : negative);
        values_out[i] = pairs[i].value;
    }
}

template <class Key, class Work> void with_pairs_of(const struct call *call, Work work)
{
    if (call->problem.values == VALUES_U64)
        with_pairs<Key, uint64_t>(call, work);
    else
        with_pairs<Key, uint32_t>(call, work);
}

/* Calls work(items, n) with keys of TYPES or, where there are values, with pairs, to be sorted by
 * key_less. */
template <unsigned TYPES = TYPES_OF_4_AND_8_BYTES, class Work>
void with_items(const struct call *call, Work work)
{
    if (call->problem.values == VALUES_NONE)
        with_keys<TYPES>(call, work);
    else if (element_bytes(call->problem.type) == sizeof(uint64_t))
        with_pairs_of<uint64_t>(call, work);
    else
        with_pairs_of<uint32_t>(call, work);
}

/* Does compaction keep the element? */
struct is_kept {
    template <class T> bool operator()(T element) const
    {
        return element != 0;
    }
    bool operator()(f16 element) const
    {
        return widen_f16(element) != 0;
    }
    bool operator()(bf16 element) const
    {
        return widen_bf16(element) != 0;
    }
};

/* Defines the row of a library. Its file also has LIBRARY_VERSION(). */
#define LIBRARY(its_name, its_op, its_traits, its_summary, its_source, its_supports, its_run) \
    LIBRARY_ROW(its_name, its_op, its_traits, 0, 0, 0, its_summary, its_source, its_supports, \
                nullptr, its_run)

/* The same for a scan or a reduction by with_operands(), under operators other than sum of
 * `its_operator_types`, and of arrays with segments of `its_segment_types`. */
#define LIBRARY_OF_OPERATORS(its_name, its_op, its_traits, its_operator_types, its_segment_types, \
                             its_summary, its_source, its_supports, its_run)                      \
    LIBRARY_ROW(its_name, its_op, its_traits, its_operator_types, its_segment_types, 0,           \
                its_summary, its_source, its_supports, nullptr, its_run)

/* The same for a sort by with_items(), of keys of 4 and 8 bytes and of `its_narrow_key_types`. */
#define LIBRARY_SORT(its_name, its_traits, its_narrow_key_types, its_summary, its_source,  \
                     its_supports, its_run)                                                \
    LIBRARY_ROW(its_name, OP_SORT, (its_traits) | TRAIT_PAIRS, 0, 0, its_narrow_key_types, \
                its_summary, its_source, its_supports, pairs_bytes, its_run)

#define LIBRARY_ROW(its_name, its_op, its_traits, its_operator_types, its_segment_types,           \
                    its_narrow_key_types, its_summary, its_source, its_supports, its_scratch,      \
                    its_run)                                                                       \
    {                                                                                              \
        .name = its_name, .op = its_op, .family = FAMILY_LIBRARY, .result = RESULT_OF_OPERATION,   \
        .traits = its_traits, .wide_sum_types = 0, .operator_types = its_operator_types,           \
        .recurrence_types = 0, .segment_types = its_segment_types,                                 \
        .narrow_key_types = its_narrow_key_types, .default_block = 0, .summary = its_summary,      \
        .source = its_source, .library_version = library_version, .over = nullptr,                 \
        .supports = its_supports, .scratch_bytes = its_scratch, .prepare = nullptr, .run = its_run \
    }

/* Defines a row's `supports` and `run` if the library is not installed. */
#define LIBRARY_MISSING(package)                                     \
    static const char *missing(const struct problem *)               \
    {                                                                \
        return NOT_IN_BUILD package;                                 \
    }                                                                \
    static constexpr const char *(*library_version)(void) = nullptr; \
    static constexpr auto supports = missing;                        \
    [[maybe_unused]] static constexpr void (*scan)(                  \
        const struct call *) = nullptr,                              \
                          (*reduce)(const struct call *) = nullptr,  \
                          (*compact)(const struct call *) = nullptr, \
                          (*sort)(const struct call *) = nullptr;
