/* library_testing.h: what the files of library_test share. */
#pragma once

#include "../../library/handle.h"
#include "../library_calls.h"

#include "emulator.h"
#include <cuda_runtime.h>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the headers it requires. */
#include <cmocka.h>
}

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

enum kind { ON_CPU, ON_GPU, KINDS };

/* Guards are the first in order of signed numbers, so that sorts show what is read past the end. */
enum { GUARD = 40, GUARD_BYTE = 0xA5 };

inline void ok(scanbench_status status, const scanbench_handle *handle = nullptr)
{
    if (status != SCANBENCH_OK)
        fail_msg("%s: %s", scanbench_status_text(status), scanbench_error(handle));
}

inline void ok(cudaError_t error)
{
    if (error != cudaSuccess)
        fail_msg("%s %s", cudaGetErrorString(error), emulator_error_detail());
}

inline scanbench_handle *create(kind kind, unsigned threads = 2)
{
    scanbench_handle *handle = nullptr;
    ok(kind == ON_CPU ? scanbench_create_cpu(&handle, threads)
                      : create_handle(&handle, &emulated_side, 0));
    return handle;
}

/* `text` is part of what the handle says. */
inline void expect_status(scanbench_status status, scanbench_status wanted,
                          const scanbench_handle *handle, const char *text = "")
{
    if (status != wanted)
        fail_msg("%s, where %s is right", scanbench_status_text(status),
                 scanbench_status_text(wanted));
    assert_string_not_equal(scanbench_error(handle), "");
    if (strstr(scanbench_error(handle), text) == nullptr)
        fail_msg("\"%s\", where \"%s\" is right", scanbench_error(handle), text);
}

/* ---- Reference ---- */

/* Xorshift: the same numbers in each run. */
struct numbers {
    uint64_t state = 88172645463325252u;

    uint64_t next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        return state ^= state << 17;
    }
};

/* Whole numbers, a third of them 0, so that sums of floats are exact in any order. */
template <class T> std::vector<T> make_input(uint64_t n, uint64_t seed)
{
    numbers numbers{seed * 2654435761u + 1};
    std::vector<T> input(n);
    for (T &x : input)
        x = numbers.next() % 3 == 0 ? T(0) : T((int)(numbers.next() % 15) - 7);
    return input;
}

template <class T> constexpr scanbench_type TYPE = SCANBENCH_U8;
template <> constexpr scanbench_type TYPE<int8_t> = SCANBENCH_I8;
template <> constexpr scanbench_type TYPE<int16_t> = SCANBENCH_I16;
template <> constexpr scanbench_type TYPE<uint16_t> = SCANBENCH_U16;
template <> constexpr scanbench_type TYPE<int32_t> = SCANBENCH_I32;
template <> constexpr scanbench_type TYPE<uint32_t> = SCANBENCH_U32;
template <> constexpr scanbench_type TYPE<int64_t> = SCANBENCH_I64;
template <> constexpr scanbench_type TYPE<uint64_t> = SCANBENCH_U64;
template <> constexpr scanbench_type TYPE<float> = SCANBENCH_F32;
template <> constexpr scanbench_type TYPE<double> = SCANBENCH_F64;

/* Is every byte a guard? Each is like the one before it: sanitizers make a loop slow. */
inline bool only_guards(const unsigned char *first, const unsigned char *end)
{
    return first == end ||
           (*first == GUARD_BYTE && memcmp(first, first + 1, (size_t)(end - first - 1)) == 0);
}

/* An array that begins some elements past an aligned address, between guards. */
template <class T> struct array {
    std::vector<unsigned char> bytes;
    T *data;
    uint64_t n;

    array(uint64_t n, unsigned offset) : bytes((n + 2 * GUARD) * sizeof(T) + 64, GUARD_BYTE), n(n)
    {
        const auto address = (uintptr_t)bytes.data() + GUARD * sizeof(T);
        data = reinterpret_cast<T *>((address + 15) / 16 * 16) + offset;
    }
    void fill(const std::vector<T> &values)
    {
        std::copy(values.begin(), values.end(), data);
    }
    /* Are these the values, and is all else as it was? */
    void expect(const std::vector<T> &values, uint64_t may_change, const char *what) const
    {
        const auto *begin = reinterpret_cast<const unsigned char *>(data);
        if (!values.empty() && memcmp(begin, values.data(), values.size() * sizeof(T)) != 0)
            fail_msg("%s, n = %llu: wrong at %td", what, (unsigned long long)n,
                     std::mismatch(values.begin(), values.end(), data).second - data);
        if (!only_guards(bytes.data(), begin))
            fail_msg("%s, n = %llu: wrote before the start", what, (unsigned long long)n);
        if (!only_guards(begin + may_change * sizeof(T), bytes.data() + bytes.size()))
            fail_msg("%s, n = %llu: wrote after the end", what, (unsigned long long)n);
    }
};

/* Calls and compares; `out_offset` < 0: in place. */
template <class T>
void check_result(scanbench_handle *handle, operation_name operation, const std::vector<T> &input,
                  const std::vector<T> &wanted, unsigned offset, int out_offset)
{
    static const char *const names[] = {"exclusive", "inclusive", "compact", "sort"};
    const uint64_t n = input.size();
    array<T> in(n, offset), out(n, out_offset < 0 ? 0 : (unsigned)out_offset);
    in.fill(input);
    uint64_t count = 12345;
    array<T> *result = out_offset < 0 ? &in : &out;
    ok(call(handle, operation, TYPE<T>, in.data, result->data, &count, n), handle);
    result->expect(wanted, out_offset < 0 ? n : wanted.size(), names[operation]);
    if (out_offset >= 0)
        in.expect(input, n, "input");
    assert_int_equal(count, operation == COMPACT ? wanted.size() : 12345);
}

template <class T>
void check(scanbench_handle *handle, operation_name operation, uint64_t n, unsigned offset,
           int out_offset, uint64_t seed)
{
    const std::vector<T> input = make_input<T>(n, seed);
    check_result(handle, operation, input, reference(operation, input), offset, out_offset);
}

template <class Function> void with_types(Function f)
{
    f(int32_t{});
    f(uint32_t{});
    f(int64_t{});
    f(uint64_t{});
    f(float{});
    f(double{});
    f(uint8_t{});
    f(int8_t{});
    f(int16_t{});
    f(uint16_t{});
}

/* ---- Pairs ---- */

/* What replaces its input. */
static constexpr int NOTHING = 0, KEYS = 1, VALUES = 2;

/* Values that are all different, and not in order. */
template <class Value> std::vector<Value> make_values(uint64_t n)
{
    std::vector<Value> values(n);
    for (uint64_t i = 0; i < n; i++)
        values[i] = Value((n - i) * 0x300000001u);
    return values;
}

/* On the CPU keys and values of 4 bytes are sorted as one word. */
template <class Key, class Value>
void sort_reference(const scanbench_handle *handle, std::vector<Key> &keys,
                    std::vector<Value> &values)
{
    const bool as_words = handle->side == &cpu_side && sizeof(Key) == 4 && sizeof(Value) == 4;
    std::vector<std::pair<Key, Value>> pairs(keys.size());
    for (uint64_t i = 0; i < keys.size(); i++)
        pairs[i] = {keys[i], values[i]};
    std::stable_sort(pairs.begin(), pairs.end(), [&](const auto &a, const auto &b) {
        return as_words ? a < b : a.first < b.first;
    });
    for (uint64_t i = 0; i < keys.size(); i++)
        std::tie(keys[i], values[i]) = pairs[i];
}

template <class Value, class Key>
void check_pairs(scanbench_handle *handle, std::vector<Key> keys, unsigned offset = 0,
                 int in_place = NOTHING)
{
    const uint64_t n = keys.size();
    std::vector<Value> values = make_values<Value>(n);
    array<Key> in(n, offset), out(n, offset / 2);
    array<Value> in_values(n, offset / 2), out_values(n, offset);
    in.fill(keys);
    in_values.fill(values);
    const array<Key> &result = in_place & KEYS ? in : out;
    const array<Value> &its_values = in_place & VALUES ? in_values : out_values;
    ok(scanbench_sort_pairs(handle, TYPE<Key>, in.data, result.data, sizeof(Value), in_values.data,
                            its_values.data, n, nullptr),
       handle);
    if (!(in_place & KEYS))
        in.expect(keys, n, "input");
    if (!(in_place & VALUES))
        in_values.expect(values, n, "input values");
    sort_reference(handle, keys, values);
    result.expect(keys, n, "keys");
    its_values.expect(values, n, "values");
}

/* ---- Tests, by file ---- */

/* library_misuse.cpp */
void bad_arguments_return_a_status(void **);
void counts_lie_outside_of_the_arrays(void **);
void more_threads_than_there_can_be(void **);
void bad_pairs_return_a_status(void **);
void pairs_must_not_overlap(void **);
void bad_reserves_of_pairs(void **);
void what_there_is_not(void **);
void statuses_have_texts(void **);

/* library_scans.cpp */
void scans_of_every_operator_and_type(void **);
void scans_at_any_alignment_and_in_place(void **);
void scans_of_large_arrays(void **);
void floats_are_added_in_one_order(void **);
void one_handle_many_scans(void **);
void nothing_grows_after_reserve_for_scans(void **);
void graphs_of_scans(void **);
void bad_scans_return_a_status(void **);

/* library_streams.cpp */
void another_device_is_current(void **);
void two_handles_on_two_streams(void **);
void graphs_are_captured_once_and_launched_often(void **);
void graphs_sort_pairs(void **);
void nothing_is_allocated_during_capture(void **);
