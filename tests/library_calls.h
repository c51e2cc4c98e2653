/* library_calls.h: the library's operations by number, for tests that try them all. */
#pragma once

#include "../library/scanbench.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

/* The operations on one array. */
enum operation_name { EXCLUSIVE, INCLUSIVE, COMPACT, SORT, OPERATIONS };

template <class T> std::vector<T> reference(operation_name operation, const std::vector<T> &input)
{
    std::vector<T> result;
    T sum = 0;
    for (const T x : input) {
        if (operation == EXCLUSIVE)
            result.push_back(sum);
        sum = T(sum + x);
        if (operation == INCLUSIVE)
            result.push_back(sum);
        if (operation == SORT || (operation == COMPACT && x != 0))
            result.push_back(x);
    }
    if (operation == SORT)
        std::sort(result.begin(), result.end());
    return result;
}

inline scanbench_status call(scanbench_handle *handle, operation_name operation,
                             scanbench_type type, const void *in, void *out, uint64_t *count,
                             uint64_t n, void *stream = nullptr)
{
    switch (operation) {
    case EXCLUSIVE:
        return scanbench_exclusive_sum(handle, type, in, out, n, stream);
    case INCLUSIVE:
        return scanbench_inclusive_sum(handle, type, in, out, n, stream);
    case COMPACT:
        return scanbench_compact_nonzero(handle, type, in, out, count, n, stream);
    default:
        return scanbench_sort_keys(handle, type, in, out, n, stream);
    }
}

/* ---- Scans by any operator, and recurrences ---- */

constexpr int RECURRENCE = SCANBENCH_OPERATOR_XOR + 1, SCANS = RECURRENCE + 1;

struct scan {
    int op; /* a scanbench_operator or RECURRENCE */
    scanbench_kind kind;
    uint64_t row;
};

/* Integers are computed as unsigned ones, whose overflow is defined. */
template <class T, bool = std::is_integral_v<T>> struct computed_in {
    using type = T;
};
template <class T> struct computed_in<T, true> {
    using type = std::make_unsigned_t<T>;
};

template <class T> T identity_of(int op)
{
    using limits = std::numeric_limits<T>;
    if (op == SCANBENCH_OPERATOR_MAX)
        return limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
    if (op == SCANBENCH_OPERATOR_MIN)
        return limits::has_infinity ? limits::infinity() : limits::max();
    return T(0);
}

/* What comes after `before`: x is the element, and of a recurrence b that of the second array. */
template <class T> T next_of(int op, T before, T x, T b)
{
    using U = typename computed_in<T>::type;
    switch (op) {
    case SCANBENCH_OPERATOR_MAX:
        return std::max(before, x);
    case SCANBENCH_OPERATOR_MIN:
        return std::min(before, x);
    case SCANBENCH_OPERATOR_XOR:
        if constexpr (std::is_integral_v<T>)
            return T(before ^ x);
        return T(0);
    case RECURRENCE:
        return T(U(U(x) * U(before)) + U(b));
    default:
        return T(U(before) + U(x));
    }
}

/* By the definition. A recurrence is inclusive. */
template <class T>
std::vector<T> reference(const scan &scan, const std::vector<T> &input,
                         const std::vector<T> &second)
{
    std::vector<T> result;
    T before = identity_of<T>(scan.op);
    for (uint64_t i = 0; i < input.size(); i++) {
        if (i == 0 || (scan.row > 0 && i % scan.row == 0))
            before = identity_of<T>(scan.op);
        const T next = next_of(scan.op, before, input[i], second[i]);
        result.push_back(scan.kind == SCANBENCH_EXCLUSIVE ? before : next);
        before = next;
    }
    return result;
}

/* The a of a recurrence: 1 or -1, so that h stays small and exact, and what comes first changes all
 * that follows; after a 0, which is rare, it does not. */
template <class T> std::vector<T> factors(uint64_t n, uint64_t seed)
{
    std::vector<T> a(n);
    for (T &x : a) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x = seed >> 52 == 0 ? T(0) : seed >> 63 == 0 ? T(1) : T(-1);
    }
    return a;
}

inline scanbench_status call(scanbench_handle *handle, const scan &scan, scanbench_type type,
                             const void *in, const void *second, void *out, uint64_t n,
                             void *stream = nullptr)
{
    if (scan.op == RECURRENCE)
        return scanbench_linear_recurrence(handle, type, in, second, out, n, scan.row, stream);
    return scanbench_scan(handle, (scanbench_operator)scan.op, type, scan.kind, in, out, n,
                          scan.row, stream);
}
