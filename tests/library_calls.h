/* library_calls.h: the library's operations by number, for tests that try them all. */
#pragma once

#include "../library/scanbench.h"

#include <algorithm>
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
