/* library_test: the library as a program calls it, on the CPU and, in the GPU's place, in the
 * emulator: results, alignment, arrays in place, and scratch. library_misuse.cpp,
 * library_scans.cpp and library_streams.cpp have the rest of its tests. */
#include "library_testing.h"

#include <bit>
#include <set>
#include <string>

static const uint64_t SIZES[] = {0, 1, 2, 33, 1000, 4099};

/* ---- Results ---- */

static void every_type_and_size(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        for (int o = 0; o < OPERATIONS; o++)
            with_types([&](auto zero) {
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
            with_types([&](auto zero) {
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
            with_types([&](auto zero) {
                for (const uint64_t n : {0, 1, 33, 4099})
                    check<decltype(zero)>(handle, (operation_name)o, n, n % 2, -1, n + 3);
            });
        check<uint16_t>(handle, SORT, 9001, 1, -1, 3); /* one block counts so many */
        scanbench_destroy(handle);
    }
}

/* Enough for several threads and for many blocks, so that they meet in place as well. */
static void large_arrays_on_several_threads(void **)
{
    scanbench_handle *const handles[] = {create(ON_CPU, 1), create(ON_CPU, 3), create(ON_CPU, 0)};
    const int outs[] = {0, 1, -1};
    const auto on_each = [&](operation_name operation, auto input, unsigned offset) {
        const auto wanted = reference(operation, input);
        for (int h = 0; h < 3; h++)
            for (int o = 0; o < 3; o++)
                if ((h + o) % 3 == operation % 3 || getenv("LONG") != nullptr)
                    check_result(handles[h], operation, input, wanted, offset, outs[o]);
    };
    for (int o = 0; o < OPERATIONS; o++) {
        on_each((operation_name)o, make_input<int32_t>(300001, 1), 1);
        on_each((operation_name)o, make_input<double>(150001, 2), 0);
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
    handle->limits.cluster_blocks = 0;
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
        with_types([&](auto zero) {
            for (const uint64_t n : {0, 1, 31, 32, 33, 1000})
                if constexpr (sizeof zero >= sizeof(uint32_t)) {
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
    for (const uint64_t n : {2047, 2048, 2049, 8192, 8193, 16385, 32769})
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
 * two and 3/4 of them below, with the reserve's spare room. */
static void expect_growing_scratch(const scanbench_handle *handle, struct problem problem)
{
    size_t most = 0, of_steps = 0;
    std::set<uint64_t> sizes;
    for (uint64_t n = 1; n < (uint64_t)1 << 34; n += n / 19 + 1)
        sizes.insert(n);
    for (unsigned log2 = 10; log2 < 34; log2++) /* where other algorithms are chosen */
        sizes.insert({(uint64_t)1 << log2, ((uint64_t)1 << log2) + 1, (uint64_t)3 << log2,
                      (uint64_t)5 << log2});
    problem.device = &handle->limits;
    for (const uint64_t n : sizes) {
        problem.n = n;
        const struct resolved resolved = handle->side->choose(&problem);
        assert_non_null(resolved.algorithm);
        problem.block = resolved.block;
        const size_t bytes = resolved.algorithm->scratch_bytes != nullptr
                                 ? resolved.algorithm->scratch_bytes(&problem)
                                 : 0;
        const size_t asked = std::max(bytes, of_steps);
        if (asked + std::clamp<size_t>(asked / 16, 1 << 20, 32 << 20) < most)
            fail_msg("n = %llu on %d multiprocessors: %zu bytes, fewer elements need %zu",
                     (unsigned long long)problem.n, handle->limits.multiprocessors, bytes, most);
        most = std::max(most, bytes);
        if (std::has_single_bit(n) || (n % 3 == 0 && std::has_single_bit(n / 3)))
            of_steps = std::max(of_steps, bytes);
    }
}

/* On small and large GPUs. */
static void fewer_elements_need_no_more_scratch(void **)
{
    static const struct {
        enum operation op;
        enum value_type values;
        bool rows;
    } problems[] = {
        {OP_SCAN, VALUES_NONE, false},    {OP_SCAN, VALUES_NONE, true},
        {OP_COMPACT, VALUES_NONE, false}, {OP_SORT, VALUES_NONE, false},
        {OP_SORT, VALUES_U32, false},     {OP_SORT, VALUES_U64, false},
    };
    scanbench_handle *handle = create(ON_GPU);
    for (const int multiprocessors : {16, 114, 132, 170})
        for (const int capability : {70, 90}) {
            handle->limits.multiprocessors = multiprocessors;
            handle->limits.compute_capability = capability;
            handle->limits.cluster_blocks = capability < 90 ? 0 : 16;
            for (const enum element_type type : {TYPE_I32, TYPE_F64})
                for (const bool unaligned : {false, true})
                    for (const auto &[op, values, rows] : problems) {
                        if (rows && type != TYPE_I32)
                            continue;
                        struct problem problem = {};
                        problem.op = op;
                        problem.values = values;
                        problem.segments = rows ? SEGMENTS_ROWS : SEGMENTS_NONE;
                        problem.segment_length = rows;
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
    };
    static const char *const operations[OPERATION_COUNT] = {
#define OPERATION(NAME, name, ...) #name,
#include "../../bench/operations.def"
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
#define ROWS_CHOICE(LONGEST, ...) CHOICE(__VA_ARGS__)
#include "../../bench/choices.def"
#undef ROWS_CHOICE
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
    std::vector<int32_t> out(5); /* what is written past its end is found */
    uint64_t *d_count, on_host = 0;
    ok(cudaMalloc(&d_count, sizeof *d_count));
    ok(scanbench_compact_nonzero(handle, SCANBENCH_I32, input.data(), out.data(), d_count, 5,
                                 nullptr));
    assert_int_equal(*d_count, 3);
    ok(scanbench_compact_nonzero(handle, SCANBENCH_I32, input.data(), out.data(), &on_host, 4,
                                 nullptr));
    assert_int_equal(on_host, 2);
    ok(scanbench_compact_nonzero(handle, SCANBENCH_I32, nullptr, nullptr, &on_host, 0, nullptr));
    assert_int_equal(on_host, 0);
    ok(cudaFree(d_count));
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
        cmocka_unit_test(counts_lie_outside_of_the_arrays),
        cmocka_unit_test(more_threads_than_there_can_be),
        cmocka_unit_test(bad_pairs_return_a_status),
        cmocka_unit_test(pairs_must_not_overlap),
        cmocka_unit_test(bad_reserves_of_pairs),
        cmocka_unit_test(what_there_is_not),
        cmocka_unit_test(statuses_have_texts),
        cmocka_unit_test(scans_of_every_operator_and_type),
        cmocka_unit_test(scans_at_any_alignment_and_in_place),
        cmocka_unit_test(scans_of_large_arrays),
        cmocka_unit_test(floats_are_added_in_one_order),
        cmocka_unit_test(one_handle_many_scans),
        cmocka_unit_test(nothing_grows_after_reserve_for_scans),
        cmocka_unit_test(graphs_of_scans),
        cmocka_unit_test(bad_scans_return_a_status),
        cmocka_unit_test(another_device_is_current),
        cmocka_unit_test(two_handles_on_two_streams),
        cmocka_unit_test(graphs_are_captured_once_and_launched_often),
        cmocka_unit_test(graphs_sort_pairs),
        cmocka_unit_test(nothing_is_allocated_during_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
