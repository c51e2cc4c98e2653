/* library_test: the library as a program calls it, on the CPU and, in the GPU's place, in the
 * emulator: results, alignment, arrays in place, bad arguments, graphs, and several handles. */
#include "../../library/handle.h"

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
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

enum kind { ON_CPU, ON_GPU, KINDS };
enum operation_name { EXCLUSIVE, INCLUSIVE, COMPACT, SORT, OPERATIONS };

static const uint64_t SIZES[] = {0, 1, 2, 33, 1000, 4099};
/* Guards are the first in order of signed numbers, so that sorts show what is read past the end. */
enum { GUARD = 40, GUARD_BYTE = 0xA5 };

static void ok(scanbench_status status, const scanbench_handle *handle = nullptr)
{
    if (status != SCANBENCH_OK)
        fail_msg("%s: %s", scanbench_status_text(status), scanbench_error(handle));
}

static void ok(cudaError_t error)
{
    if (error != cudaSuccess)
        fail_msg("%s %s", cudaGetErrorString(error), emulator_error_detail());
}

static scanbench_handle *create(kind kind, unsigned threads = 2)
{
    scanbench_handle *handle = nullptr;
    ok(kind == ON_CPU ? scanbench_create_cpu(&handle, threads)
                      : create_handle(&handle, &emulated_part, 0));
    return handle;
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

template <class T> constexpr scanbench_type TYPE = SCANBENCH_U8;
template <> constexpr scanbench_type TYPE<int32_t> = SCANBENCH_I32;
template <> constexpr scanbench_type TYPE<uint32_t> = SCANBENCH_U32;
template <> constexpr scanbench_type TYPE<int64_t> = SCANBENCH_I64;
template <> constexpr scanbench_type TYPE<uint64_t> = SCANBENCH_U64;
template <> constexpr scanbench_type TYPE<float> = SCANBENCH_F32;
template <> constexpr scanbench_type TYPE<double> = SCANBENCH_F64;

static scanbench_status call(scanbench_handle *handle, operation_name operation,
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

/* Is every byte a guard? Each is like the one before it: sanitizers make a loop slow. */
static bool only_guards(const unsigned char *first, const unsigned char *end)
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
static void check_result(scanbench_handle *handle, operation_name operation,
                         const std::vector<T> &input, const std::vector<T> &wanted, unsigned offset,
                         int out_offset)
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
static void check(scanbench_handle *handle, operation_name operation, uint64_t n, unsigned offset,
                  int out_offset, uint64_t seed)
{
    const std::vector<T> input = make_input<T>(n, seed);
    check_result(handle, operation, input, reference(operation, input), offset, out_offset);
}

template <class Function> static void with_types(operation_name operation, Function f)
{
    f(int32_t{});
    f(uint32_t{});
    f(int64_t{});
    f(uint64_t{});
    f(float{});
    f(double{});
    if (operation < COMPACT)
        f(uint8_t{});
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
    const bool as_words = handle->part == &cpu_part && sizeof(Key) == 4 && sizeof(Value) == 4;
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
static void check_pairs(scanbench_handle *handle, std::vector<Key> keys, unsigned offset = 0,
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

/* ---- Results ---- */

static void every_type_and_size(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        for (int o = 0; o < OPERATIONS; o++)
            with_types((operation_name)o, [&](auto zero) {
                for (const uint64_t n : SIZES)
                    check<decltype(zero)>(handle, (operation_name)o, n, 0, 0, n + 1);
            });
        scanbench_destroy(handle);
    }
}

static void any_alignment_of_an_element(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        for (int o = 0; o < OPERATIONS; o++)
            with_types((operation_name)o, [&](auto zero) {
                check<decltype(zero)>(handle, (operation_name)o, 1003, 0, 1, 7);
                check<decltype(zero)>(handle, (operation_name)o, 1003, 1, 0, 8);
                check<decltype(zero)>(handle, (operation_name)o, 1003, 3, 2, 9);
                check<decltype(zero)>(handle, (operation_name)o, 40009 / sizeof(zero), 1, 3, 5);
            });
        scanbench_destroy(handle);
    }
}

static void in_place(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        for (int o = 0; o < OPERATIONS; o++)
            with_types((operation_name)o, [&](auto zero) {
                for (const uint64_t n : {0, 1, 33, 4099})
                    check<decltype(zero)>(handle, (operation_name)o, n, n % 2, -1, n + 3);
            });
        scanbench_destroy(handle);
    }
}

/* Enough for several threads and for many blocks, so that they meet in place as well. */
static void large_arrays_on_several_threads(void **)
{
    scanbench_handle *const handles[] = {create(ON_CPU, 1), create(ON_CPU, 3), create(ON_CPU, 0)};
    const auto on_each = [&](operation_name operation, auto input, unsigned offset) {
        const auto wanted = reference(operation, input);
        for (scanbench_handle *handle : handles)
            for (const int out : {0, 1, -1})
                check_result(handle, operation, input, wanted, offset, out);
    };
    for (int o = 0; o < OPERATIONS; o++) {
        on_each((operation_name)o, make_input<int32_t>(700001, 1), 1);
        on_each((operation_name)o, make_input<double>(300001, 2), 0);
    }
    for (scanbench_handle *handle : handles) {
        for (const int in_place : {NOTHING, KEYS | VALUES}) {
            check_pairs<uint32_t>(handle, make_input<int32_t>(200001, 1), 1, in_place);
            check_pairs<uint64_t>(handle, make_input<double>(100001, 2), 0, in_place);
        }
        scanbench_destroy(handle);
    }
}

/* Many tiles: as one-wave, as lookahead, and as lookback where the device is old. */
static void many_tiles(void **)
{
    scanbench_handle *handle = create(ON_GPU);
    for (int o = 0; o < OPERATIONS; o++)
        for (const int out : {0, -1}) {
            check<uint32_t>(handle, (operation_name)o, 60001, 0, out, 9);
            check<int64_t>(handle, (operation_name)o, 30001, 0, out, 10);
            check<int64_t>(handle, (operation_name)o, 30003, 1, out, 12);
        }
    scanbench_destroy(handle);
}

static void older_gpus_get_what_they_can_run(void **)
{
    scanbench_handle *handle = create(ON_GPU);
    handle->limits.compute_capability = 70;
    handle->limits.shared_bytes_per_block = 64 * 1024;
    handle->limits.shared_bytes_per_multiprocessor = 64 * 1024;
    for (int o = 0; o < OPERATIONS; o++)
        for (const int out : {0, 1, -1})
            for (const uint64_t n : {0, 1, 20011})
                check<float>(handle, (operation_name)o, n, 0, out, 11);
    check_pairs<uint64_t>(handle, make_input<float>(20011, 11));
    scanbench_destroy(handle);
}

/* Scratch that a call leaves serves the next one, whatever either was. */
static void one_handle_many_problems(void **)
{
    numbers numbers;
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        for (unsigned i = 0; i < 60; i++) {
            const auto o = (operation_name)(numbers.next() % OPERATIONS);
            const uint64_t n = numbers.next() % (i % 10 == 0 ? 40000 : 3000);
            const unsigned offset = numbers.next() % 4 == 0;
            const int out = numbers.next() % 5 == 0 ? -1 : (int)(numbers.next() % 8 == 0);
            if (numbers.next() % 2 == 0)
                check<int32_t>(handle, o, n, offset, out, i + 1);
            else
                check<double>(handle, o, n, offset, out, i + 1);
            if (i % 3 == 0) {
                check_pairs<uint64_t>(handle, make_input<int32_t>(n, i), offset);
                check_pairs<uint32_t>(handle, make_input<int32_t>(n, i), offset);
            }
        }
        scanbench_destroy(handle);
    }
}

static void pairs_of_every_type_and_size(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        with_types(SORT, [&](auto zero) {
            for (const uint64_t n : {0, 1, 31, 32, 33, 1000}) {
                check_pairs<uint32_t>(handle, make_input<decltype(zero)>(n, n + 1));
                check_pairs<uint64_t>(handle, make_input<decltype(zero)>(n, n + 2));
            }
        });
        scanbench_destroy(handle);
    }
}

/* Around tiles of 2048 to 12288 pairs, by the number of pairs for each multiprocessor. */
static void pairs_of_several_tiles(void **)
{
    scanbench_handle *handle = create(ON_GPU);
    for (const uint64_t n : {2047, 2048, 2049, 4097, 16385, 32769})
        check_pairs<uint32_t>(handle, make_input<int32_t>(n, n));
    for (const uint64_t n : {2048, 2049, 32769})
        check_pairs<uint64_t>(handle, make_input<float>(n, n));
    check_pairs<uint32_t>(handle, make_input<double>(16385, 1));
    check_pairs<uint64_t>(handle, make_input<uint64_t>(32769, 2));
    scanbench_destroy(handle);
}

/* Keys that differ in no digit, in one, and in two; keys and values in place or not. */
static void pairs_with_equal_keys_anywhere(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        for (const uint32_t distinct : {1, 3, 300})
            for (int in_place = NOTHING; in_place <= (KEYS | VALUES); in_place++) {
                std::vector<uint32_t> keys(3001);
                numbers numbers;
                for (uint32_t &key : keys)
                    key = (uint32_t)(numbers.next() % distinct);
                const std::vector<int64_t> longer(keys.begin(), keys.end());
                check_pairs<uint32_t>(handle, keys, 1, in_place);
                check_pairs<uint64_t>(handle, keys, 2, in_place);
                check_pairs<uint32_t>(handle, longer, 3, in_place);
                check_pairs<uint64_t>(handle, longer, 0, in_place);
            }
        scanbench_destroy(handle);
    }
}

/* ---- Scratch ---- */

static void nothing_grows_after_reserve(void **)
{
    numbers numbers;
    for (int o = 0; o < 3; o++) {
        scanbench_handle *handle = create(ON_GPU);
        ok(scanbench_reserve(handle, (scanbench_operation)o, SCANBENCH_I32, 20000), handle);
        const size_t reserved = scanbench_scratch_bytes(handle);
        assert_true(reserved > 0);
        for (unsigned i = 0; i < 10; i++)
            check<int32_t>(handle, o == 0 ? EXCLUSIVE : (operation_name)(o + 1),
                           numbers.next() % 20001, i % 3, i % 2, i + 1);
        assert_int_equal(scanbench_scratch_bytes(handle), reserved);
        scanbench_destroy(handle);
    }
}

/* So many pairs that neither keys nor values fit in the spare room of a reserve. */
template <class Value> static void reserve_and_sort_pairs(uint64_t n)
{
    scanbench_handle *cpu = create(ON_CPU), *gpu = create(ON_GPU);
    for (scanbench_handle *handle : {cpu, gpu}) {
        ok(scanbench_reserve_pairs(handle, SCANBENCH_I64, sizeof(Value), n), handle);
        assert_true(scanbench_scratch_bytes(handle) > n * (sizeof(int64_t) + sizeof(Value)));
    }
    const size_t reserved = scanbench_scratch_bytes(cpu);
    for (const uint64_t part : {n / 3, n})
        check_pairs<Value>(cpu, make_input<int64_t>(part, part));
    assert_int_equal(scanbench_scratch_bytes(cpu), reserved);
    scanbench_destroy(cpu);
    scanbench_destroy(gpu);
}

static void nothing_grows_after_reserve_for_pairs(void **)
{
    reserve_and_sort_pairs<uint32_t>(500000);
    reserve_and_sort_pairs<uint64_t>(500000);
}

/* What a problem needs is never more than a larger one has reserved: for itself and the powers of
 * two below, with the reserve's spare room. */
static void expect_growing_scratch(const scanbench_handle *handle, struct problem problem)
{
    size_t most = 0, of_powers = 0;
    std::set<uint64_t> sizes;
    for (uint64_t n = 1; n < (uint64_t)1 << 34; n += n / 19 + 1)
        sizes.insert(n);
    for (unsigned log2 = 10; log2 < 34; log2++) /* where other algorithms are chosen */
        sizes.insert({(uint64_t)1 << log2, ((uint64_t)1 << log2) + 1});
    problem.device = &handle->limits;
    for (const uint64_t n : sizes) {
        problem.n = n;
        const struct resolved resolved = handle->part->choose(&problem, false);
        assert_non_null(resolved.algorithm);
        problem.block = resolved.block;
        const size_t bytes = resolved.algorithm->scratch_bytes != nullptr
                                 ? resolved.algorithm->scratch_bytes(&problem)
                                 : 0;
        const size_t asked = std::max(bytes, of_powers);
        if (asked + std::clamp<size_t>(asked / 16, 1 << 20, 32 << 20) < most)
            fail_msg("n = %llu on %d multiprocessors: %zu bytes, fewer elements need %zu",
                     (unsigned long long)problem.n, handle->limits.multiprocessors, bytes, most);
        most = std::max(most, bytes);
        if (std::has_single_bit(n))
            of_powers = std::max(of_powers, bytes);
    }
}

/* On small and large GPUs. */
static void fewer_elements_need_no_more_scratch(void **)
{
    static const std::pair<enum operation, enum value_type> problems[] = {
        {OP_SCAN, VALUES_NONE}, {OP_COMPACT, VALUES_NONE}, {OP_SORT, VALUES_NONE},
        {OP_SORT, VALUES_U32},  {OP_SORT, VALUES_U64},
    };
    scanbench_handle *handle = create(ON_GPU);
    for (const int multiprocessors : {16, 114, 132, 170})
        for (const int capability : {70, 90}) {
            handle->limits.multiprocessors = multiprocessors;
            handle->limits.compute_capability = capability;
            for (const enum element_type type : {TYPE_I32, TYPE_F64})
                for (const bool unaligned : {false, true})
                    for (const auto &[op, values] : problems) {
                        struct problem problem = {};
                        problem.op = op;
                        problem.values = values;
                        problem.type = type;
                        problem.unaligned = unaligned;
                        expect_growing_scratch(handle, problem);
                    }
        }
    scanbench_destroy(handle);
}

/* bench/choices.def may name only what the library has. */
static void every_choice_is_in_the_library(void **)
{
    static const std::set<std::string> own = {
#define ALGORITHM(where, op_name) #op_name,
#include "../../library/algorithms.def"
#undef ALGORITHM
    };
    static const char *const operations[OPERATION_COUNT] = {
#define OPERATION(NAME, name, ...) #name,
#include "../../bench/operations.def"
#undef OPERATION
    };
    static const struct {
        enum device_kind kind;
        const char *device;
        enum operation op;
        unsigned bytes;
        uint64_t up_to;
        const char *algo;
        unsigned block;
    } lines[] = {
#define CHOICE(...) {__VA_ARGS__},
#define SCALED_CHOICE CHOICE
#include "../../bench/choices.def"
#undef SCALED_CHOICE
#undef CHOICE
    };
    for (const auto &line : lines) {
        std::string name = std::string(operations[line.op]) + "_" + line.algo;
        std::replace(name.begin(), name.end(), '-', '_');
        if (line.op <= OP_SORT && own.count(name) == 0)
            fail_msg("library/algorithms.def lacks %s", name.c_str());
    }
}

/* ---- Counts ---- */

static void count_in_memory_of_host_or_device(void **)
{
    scanbench_handle *handle = create(ON_GPU);
    const std::vector<int32_t> input = {0, 1, 0, 2, 3};
    int32_t out[5];
    uint64_t *d_count, on_host = 0;
    ok(cudaMalloc(&d_count, sizeof *d_count));
    ok(scanbench_compact_nonzero(handle, SCANBENCH_I32, input.data(), out, d_count, 5, nullptr));
    assert_int_equal(*d_count, 3);
    ok(scanbench_compact_nonzero(handle, SCANBENCH_I32, input.data(), out, &on_host, 4, nullptr));
    assert_int_equal(on_host, 2);
    ok(scanbench_compact_nonzero(handle, SCANBENCH_I32, nullptr, nullptr, &on_host, 0, nullptr));
    assert_int_equal(on_host, 0);
    ok(cudaFree(d_count));
    scanbench_destroy(handle);
}

/* ---- Bad arguments ---- */

static void expect_status(scanbench_status status, scanbench_status wanted,
                          const scanbench_handle *handle)
{
    if (status != wanted)
        fail_msg("%s, where %s is right", scanbench_status_text(status),
                 scanbench_status_text(wanted));
    assert_string_not_equal(scanbench_error(handle), "");
}

static void bad_arguments_return_a_status(void **)
{
    alignas(16) int32_t in[64] = {}, out[64] = {};
    uint64_t count[2] = {};
    char *odd = reinterpret_cast<char *>(in) + 2;
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        for (int o = 0; o < OPERATIONS; o++) {
            const auto operation = (operation_name)o;
            const auto status = [&](const void *from, void *to, uint64_t n,
                                    int type = SCANBENCH_I32) {
                return call(h, operation, (scanbench_type)type, from, to, count, n);
            };
            expect_status(status(nullptr, out, 8), SCANBENCH_ERROR_NULL, h);
            expect_status(status(in, nullptr, 8), SCANBENCH_ERROR_NULL, h);
            expect_status(status(odd, out, 8), SCANBENCH_ERROR_ALIGNMENT, h);
            expect_status(status(in, odd, 8), SCANBENCH_ERROR_ALIGNMENT, h);
            expect_status(status(in + 1, out, 8, SCANBENCH_F64), SCANBENCH_ERROR_ALIGNMENT, h);
            expect_status(status(in, in + 4, 8), SCANBENCH_ERROR_OVERLAP, h);
            expect_status(status(in + 4, in, 8), SCANBENCH_ERROR_OVERLAP, h);
            expect_status(status(in, out, UINT64_MAX), SCANBENCH_ERROR_SIZE, h);
            expect_status(status(in, out, (uint64_t)1 << 62), SCANBENCH_ERROR_SIZE, h);
            expect_status(status(in, out, 8, 7), SCANBENCH_ERROR_TYPE, h);
            expect_status(status(in, out, 8, -1), SCANBENCH_ERROR_TYPE, h);
            if (operation >= COMPACT)
                expect_status(status(in, out, 8, SCANBENCH_U8), SCANBENCH_ERROR_TYPE, h);
            ok(status(in, out, 8), h);
            assert_string_equal(scanbench_error(h), "");
            assert_int_equal(call(nullptr, operation, SCANBENCH_I32, in, out, count, 8),
                             SCANBENCH_ERROR_NULL);
        }
        expect_status(call(h, COMPACT, SCANBENCH_I32, in, out, nullptr, 8), SCANBENCH_ERROR_NULL,
                      h);
        auto *odd_count = reinterpret_cast<uint64_t *>(reinterpret_cast<char *>(count) + 4);
        expect_status(call(h, COMPACT, SCANBENCH_I32, in, out, odd_count, 8),
                      SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(scanbench_reserve(h, SCANBENCH_SORT, SCANBENCH_U8, 8), SCANBENCH_ERROR_TYPE,
                      h);
        expect_status(scanbench_reserve(h, (scanbench_operation)3, SCANBENCH_I32, 8),
                      SCANBENCH_ERROR_TYPE, h);
        expect_status(scanbench_reserve(h, SCANBENCH_SORT, SCANBENCH_I32, UINT64_MAX),
                      SCANBENCH_ERROR_SIZE, h);
        scanbench_destroy(h);
    }
    assert_int_equal(scanbench_reserve(nullptr, SCANBENCH_SUM, SCANBENCH_I32, 8),
                     SCANBENCH_ERROR_NULL);
}

static void bad_pairs_return_a_status(void **)
{
    alignas(16) int32_t in[64] = {}, out[64] = {}, values[64] = {}, out_values[64] = {};
    const auto *odd = reinterpret_cast<char *>(in) + 2;
    auto *odd_out = reinterpret_cast<char *>(out) + 2;
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        const auto status = [&](const void *from, void *to, const void *its_values, void *values_to,
                                size_t bytes = 4, uint64_t n = 8, int type = SCANBENCH_I32) {
            return scanbench_sort_pairs(h, (scanbench_type)type, from, to, bytes, its_values,
                                        values_to, n, nullptr);
        };
        expect_status(status(nullptr, out, values, out_values), SCANBENCH_ERROR_NULL, h);
        expect_status(status(in, nullptr, values, out_values), SCANBENCH_ERROR_NULL, h);
        expect_status(status(in, out, nullptr, out_values), SCANBENCH_ERROR_NULL, h);
        expect_status(status(in, out, values, nullptr), SCANBENCH_ERROR_NULL, h);
        for (const size_t bytes : {0, 1, 2, 5, 16})
            expect_status(status(in, out, values, out_values, bytes), SCANBENCH_ERROR_TYPE, h);
        expect_status(status(in, out, values, out_values, 4, 8, SCANBENCH_U8), SCANBENCH_ERROR_TYPE,
                      h);
        expect_status(status(in, out, values, out_values, 4, UINT64_MAX), SCANBENCH_ERROR_SIZE, h);
        expect_status(status(odd, out, values, out_values), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, odd_out, values, out_values), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, out, odd, out_values), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, out, values, odd_out), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, out, values + 1, out_values, 8), SCANBENCH_ERROR_ALIGNMENT, h);
        ok(status(in, out, values, out_values, 8, 8), h);
        ok(status(nullptr, nullptr, nullptr, nullptr, 8, 0), h);
        scanbench_destroy(h);
    }
    assert_int_equal(
        scanbench_sort_pairs(nullptr, SCANBENCH_I32, in, out, 4, values, out_values, 8, nullptr),
        SCANBENCH_ERROR_NULL);
}

/* What is written may be its own input, and nothing else. */
static void pairs_must_not_overlap(void **)
{
    alignas(16) int32_t a[64] = {}, b[64] = {}, c[64] = {};
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        const auto sort = [&](const void *keys, void *to, const void *values, void *values_to,
                              size_t bytes = 4) {
            return scanbench_sort_pairs(h, SCANBENCH_I32, keys, to, bytes, values, values_to, 16,
                                        nullptr);
        };
        expect_status(sort(a, a + 15, b, c), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, c + 15), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, b + 15, c), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, b + 15), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, a + 15), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, b, c), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, a), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, a, a, b), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, b), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, a, b, b + 16, 8), SCANBENCH_ERROR_OVERLAP, h);
        ok(sort(a, a, b, b + 16), h);
        ok(sort(a, a + 16, a + 32, a + 48), h);
        ok(sort(a, b, a, c), h); /* both only read it */
        scanbench_destroy(h);
    }
}

static void bad_reserves_of_pairs(void **)
{
    scanbench_handle *h = create(ON_GPU);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_I32, 3, 8), SCANBENCH_ERROR_TYPE, h);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_I32, 0, 8), SCANBENCH_ERROR_TYPE, h);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_U8, 4, 8), SCANBENCH_ERROR_TYPE, h);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_I32, 4, UINT64_MAX), SCANBENCH_ERROR_SIZE,
                  h);
    assert_int_equal(scanbench_reserve_pairs(nullptr, SCANBENCH_I32, 4, 8), SCANBENCH_ERROR_NULL);
    scanbench_destroy(h);
}

static void what_there_is_not(void **)
{
    scanbench_handle *handle;
    int32_t in[4] = {}, out[4];
    assert_int_equal(scanbench_create_gpu(nullptr, 0), SCANBENCH_ERROR_NULL);
    assert_int_equal(scanbench_create_cpu(nullptr, 1), SCANBENCH_ERROR_NULL);
    assert_int_equal(scanbench_create_gpu(&handle, -1), SCANBENCH_ERROR_NO_DEVICE);
    assert_null(handle);
    assert_int_equal(scanbench_create_gpu(&handle, 1000), SCANBENCH_ERROR_NO_DEVICE);
    assert_null(handle);
    scanbench_destroy(nullptr);
    assert_string_equal(scanbench_error(nullptr), "");
    assert_int_equal(scanbench_scratch_bytes(nullptr), 0);

    handle = create(ON_CPU);
    expect_status(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, in),
                  SCANBENCH_ERROR_STREAM, handle);
    scanbench_destroy(handle);

    handle = create(ON_GPU);
    expect_status(scanbench_reserve(handle, SCANBENCH_SUM, SCANBENCH_I64, (uint64_t)1 << 55),
                  SCANBENCH_ERROR_MEMORY, handle);
    ok(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, nullptr), handle);
    scanbench_destroy(handle);
}

static void statuses_have_texts(void **)
{
    std::set<std::string> texts;
    for (int status = SCANBENCH_OK; status <= SCANBENCH_ERROR_CUDA; status++)
        texts.insert(scanbench_status_text((scanbench_status)status));
    assert_int_equal(texts.size(), SCANBENCH_ERROR_CUDA + 1);
    assert_string_equal(scanbench_status_text((scanbench_status)99), "unknown status");
    assert_string_equal(scanbench_status_text((scanbench_status)-1), "unknown status");
    assert_int_equal(scanbench_version(), SCANBENCH_VERSION);
}

/* ---- Devices, streams and errors ---- */

static void another_device_is_current(void **)
{
    int32_t in[4] = {1, 2, 3, 4}, out[4];
    emulator_set_device_count(2);
    scanbench_handle *handle;
    ok(create_handle(&handle, &emulated_part, 1));
    int current = -1;
    ok(cudaGetDevice(&current));
    assert_int_equal(current, 0); /* as before */
    expect_status(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, nullptr),
                  SCANBENCH_ERROR_DEVICE, handle);
    cudaStream_t of_device_0;
    ok(cudaStreamCreate(&of_device_0));
    ok(cudaSetDevice(1));
    expect_status(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, of_device_0),
                  SCANBENCH_ERROR_CUDA, handle);
    assert_int_equal(cudaGetLastError(), cudaSuccess); /* it was reported */
    ok(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, nullptr), handle);
    assert_int_equal(out[3], 6);
    scanbench_destroy(handle);
    ok(cudaSetDevice(0));
    ok(cudaStreamDestroy(of_device_0));
    emulator_set_device_count(0);
}

static void two_handles_on_two_streams(void **)
{
    const std::vector<int32_t> input = make_input<int32_t>(10007, 3);
    scanbench_handle *handle[2] = {create(ON_GPU), create(ON_GPU)};
    cudaStream_t stream[2];
    for (cudaStream_t &s : stream)
        ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int round = 0; round < 6; round++) {
        std::vector<int32_t> out(input.size());
        const auto operation = round % 3 == 0 ? SORT : INCLUSIVE;
        const int one = round % 2;
        ok(call(handle[one], operation, SCANBENCH_I32, input.data(), out.data(), nullptr,
                input.size() - (unsigned)round, stream[one]),
           handle[one]);
        const std::vector<int32_t> part(input.begin(), input.end() - round);
        const std::vector<int32_t> wanted = reference(operation, part);
        assert_true(std::equal(wanted.begin(), wanted.end(), out.begin()));
    }
    for (int i = 0; i < 2; i++) {
        scanbench_destroy(handle[i]);
        ok(cudaStreamDestroy(stream[i]));
    }
}

/* ---- Graphs ---- */

struct capture {
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t executable = nullptr;

    capture()
    {
        ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    }
    void end()
    {
        ok(cudaStreamEndCapture(stream, &captured));
        ok(cudaGraphInstantiate(&executable, captured, 0));
    }
    void launch()
    {
        ok(cudaGraphLaunch(executable, stream));
        ok(cudaStreamSynchronize(stream));
    }
    ~capture()
    {
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(captured);
        cudaStreamDestroy(stream);
    }
};

/* Captured once and launched often, with new data each time and other calls in between. */
template <class T> static void replay(operation_name operation, uint64_t n)
{
    scanbench_handle *handle = create(ON_GPU);
    std::vector<T> in(n), out(n);
    uint64_t count = 0;
    const auto group = operation < COMPACT ? SCANBENCH_SUM : (scanbench_operation)(operation - 1);
    ok(scanbench_reserve(handle, group, TYPE<T>, n), handle);
    const size_t reserved = scanbench_scratch_bytes(handle);
    check<T>(handle, operation, n / 2, 0, 0, 1);
    {
        capture graph;
        ok(call(handle, operation, TYPE<T>, in.data(), out.data(), &count, n, graph.stream),
           handle);
        graph.end();
        std::vector<unsigned char> later; /* where scratch was, if it is freed too early */
        for (uint64_t round = 0; round < 5; round++) {
            const std::vector<T> input = make_input<T>(n, round + 20);
            std::copy(input.begin(), input.end(), in.begin());
            std::fill(out.begin(), out.end(), 77);
            graph.launch();
            const std::vector<T> wanted = reference(operation, in);
            assert_true(std::equal(wanted.begin(), wanted.end(), out.begin()));
            assert_int_equal(count, operation == COMPACT ? wanted.size() : 0);
            /* The graph has used the scratch since the same problem was solved. */
            check<T>(handle, operation, n - 1, 0, 0, round);
            if (round == 3 && operation == SORT) { /* new scratch; the graph's own stays */
                ok(scanbench_reserve(handle, group, SCANBENCH_I64, 1 << 20), handle);
                later.assign(reserved, 77);
            }
        }
        assert_true(std::all_of(later.begin(), later.end(), [](auto byte) { return byte == 77; }));
    }
    scanbench_destroy(handle);
}

static void graphs_are_captured_once_and_launched_often(void **)
{
    for (const uint64_t n : {1000, 20011})
        for (int o = 0; o < OPERATIONS; o++)
            replay<int32_t>((operation_name)o, n);
    replay<int64_t>(SORT, 20011); /* by another algorithm */
}

/* Captured only after a reserve; launched with new keys, and sorts of other problems in between. */
static void graphs_sort_pairs(void **)
{
    const uint64_t n = 10007;
    scanbench_handle *handle = create(ON_GPU);
    std::vector<int32_t> in(n), out(n);
    const std::vector<uint64_t> values = make_values<uint64_t>(n);
    std::vector<uint64_t> out_values(n);
    const auto sort = [&](cudaStream_t stream) {
        return scanbench_sort_pairs(handle, SCANBENCH_I32, in.data(), out.data(), sizeof values[0],
                                    values.data(), out_values.data(), n, stream);
    };
    {
        capture graph;
        expect_status(sort(graph.stream), SCANBENCH_ERROR_SCRATCH, handle);
        graph.end();
    }
    ok(scanbench_reserve_pairs(handle, SCANBENCH_I32, sizeof values[0], n), handle);
    {
        capture graph;
        ok(sort(graph.stream), handle);
        graph.end();
        for (uint64_t round = 0; round < 3; round++) {
            std::vector<int32_t> wanted = make_input<int32_t>(n, round + 30);
            std::vector<uint64_t> wanted_values = values;
            std::copy(wanted.begin(), wanted.end(), in.begin());
            graph.launch();
            sort_reference(handle, wanted, wanted_values);
            assert_true(out == wanted && out_values == wanted_values);
            check<int32_t>(handle, SORT, n - round, 0, 0, round);
            check_pairs<uint32_t>(handle, make_input<int32_t>(n, round));
        }
    }
    scanbench_destroy(handle);
}

static void nothing_is_allocated_during_capture(void **)
{
    scanbench_handle *handle = create(ON_GPU);
    std::vector<int32_t> in = make_input<int32_t>(20000, 1), out(20000);
    {
        capture graph;
        expect_status(
            scanbench_sort_keys(handle, SCANBENCH_I32, in.data(), out.data(), 20000, graph.stream),
            SCANBENCH_ERROR_SCRATCH, handle);
        graph.end(); /* of nothing, but valid */
        graph.launch();
    }
    ok(scanbench_reserve(handle, SCANBENCH_SORT, SCANBENCH_I32, 20000), handle);
    capture graph;
    ok(scanbench_sort_keys(handle, SCANBENCH_I32, in.data(), out.data(), 20000, graph.stream),
       handle);
    graph.end();
    graph.launch();
    assert_true(std::is_sorted(out.begin(), out.end()));
    scanbench_destroy(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_size),
        cmocka_unit_test(any_alignment_of_an_element),
        cmocka_unit_test(in_place),
        cmocka_unit_test(large_arrays_on_several_threads),
        cmocka_unit_test(many_tiles),
        cmocka_unit_test(older_gpus_get_what_they_can_run),
        cmocka_unit_test(one_handle_many_problems),
        cmocka_unit_test(pairs_of_every_type_and_size),
        cmocka_unit_test(pairs_of_several_tiles),
        cmocka_unit_test(pairs_with_equal_keys_anywhere),
        cmocka_unit_test(nothing_grows_after_reserve),
        cmocka_unit_test(nothing_grows_after_reserve_for_pairs),
        cmocka_unit_test(fewer_elements_need_no_more_scratch),
        cmocka_unit_test(every_choice_is_in_the_library),
        cmocka_unit_test(count_in_memory_of_host_or_device),
        cmocka_unit_test(bad_arguments_return_a_status),
        cmocka_unit_test(bad_pairs_return_a_status),
        cmocka_unit_test(pairs_must_not_overlap),
        cmocka_unit_test(bad_reserves_of_pairs),
        cmocka_unit_test(what_there_is_not),
        cmocka_unit_test(statuses_have_texts),
        cmocka_unit_test(another_device_is_current),
        cmocka_unit_test(two_handles_on_two_streams),
        cmocka_unit_test(graphs_are_captured_once_and_launched_often),
        cmocka_unit_test(graphs_sort_pairs),
        cmocka_unit_test(nothing_is_allocated_during_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
