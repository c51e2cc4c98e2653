/* moves_test: the check of compaction and sort. Right results pass, and each kind of wrong
 * result is found at its index, both on the CPU and by the checking kernels of a GPU. Right
 * results are made here with the types' own operators and with qsort. */
#include "../../bench/device/elements.h"
#include "../../bench/device/guard.h"
#include "../../bench/device/verify.h"
#include "../../bench/operations.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"

enum { BACKENDS = 2 };
static const struct backend *const backends[BACKENDS] = {&cpu_backend, &emulated_backend};

/* ---- what is right ---- */

#define TYPE(NAME, name, T, ...)                                                            \
    static uint64_t compact_##name(const T *in, T *out, uint64_t n)                         \
    {                                                                                       \
        uint64_t kept = 0;                                                                  \
        for (uint64_t i = 0; i < n; i++)                                                    \
            if (!(widen_##T(in[i]) == 0))                                                   \
                out[kept++] = in[i];                                                        \
        return kept;                                                                        \
    }                                                                                       \
    static int compare_##name(const void *a, const void *b)                                 \
    {                                                                                       \
        const T left = *(const T *)a, right = *(const T *)b;                                \
        return (widen_##T(left) > widen_##T(right)) - (widen_##T(left) < widen_##T(right)); \
    }
#include "../../bench/types.def"

static uint64_t compact(enum element_type type, const void *in, void *out, uint64_t n)
{
    switch (type) {
#define TYPE(NAME, name, ...) \
    case TYPE_##NAME:         \
        return compact_##name(in, out, n);
#include "../../bench/types.def"
    default:
        return 0;
    }
}

/* Without NaN, which comparisons cannot order. */
static void sort(enum element_type type, void *array, uint64_t n)
{
    static int (*const compare[TYPE_COUNT])(const void *, const void *) = {
#define TYPE(NAME, name, ...) [TYPE_##NAME] = compare_##name,
#include "../../bench/types.def"
    };
    qsort(array, n, element_bytes(type), compare[type]);
}

/* ---- a problem and its judge ---- */

static void open_bench(struct bench *bench, int b, enum operation op, enum element_type type,
                       uint64_t n, const struct input_spec *spec)
{
    struct device_info info;
    *bench = (struct bench){0};
    assert_null(backends[b]->open(0, 1, &info, &bench->limits, &bench->device));
    bench->problem = (struct problem){.op = op, .type = type, .n = n, .device = &bench->limits};
    bench->input = make_input(spec, &bench->problem);
    struct workspace *w = &bench->workspace;
    const size_t bytes = n * element_bytes(type);
    assert_null(bench->device->can->allocate(bench->device, bytes, &w->input));
    assert_null(bench->device->can->allocate(bench->device, bytes, &w->output));
    assert_null(bench->device->can->allocate(bench->device, sizeof(uint64_t), &w->count));
    assert_null(bench->device->can->fill_input(bench->device, &bench->input, w->input.data));
    assert_null(bench->device->can->poison(bench->device, &w->output));
    if (op == OP_COMPACT)
        bench->kept_count = compact(type, w->input.data, w->output.data, n);
    else
        memcpy(w->output.data, w->input.data, bytes);
    if (op == OP_SORT)
        sort(type, w->output.data, n);
    *(uint64_t *)w->count.data = bench->kept_count;
}

static void close_bench(struct bench *bench)
{
    bench->device->can->release(bench->device, &bench->workspace.input);
    bench->device->can->release(bench->device, &bench->workspace.output);
    bench->device->can->release(bench->device, &bench->workspace.scratch);
    bench->device->can->release(bench->device, &bench->workspace.count);
    bench->device->can->close(bench->device);
}

/* Also the number of elements written. */
static void expect_right_count(const struct bench *bench)
{
    expect_right(bench);
    assert_int_equal(judge(bench).written,
                     bench->problem.op == OP_COMPACT ? bench->kept_count : bench->problem.n);
}

static void expect_reason(const struct bench *bench, const char *wanted)
{
    const struct verdict verdict = judge(bench);
    assert_false(verdict.passed);
    assert_string_equal(verdict.reason, wanted);
}

static void expect_wrong_at(const struct bench *bench, uint64_t index)
{
    const struct verdict verdict = judge(bench);
    char wanted[48];
    snprintf(wanted, sizeof wanted, "output[%" PRIu64 "]: got ", index);
    assert_false(verdict.passed);
    if (strncmp(verdict.reason, wanted, strlen(wanted)) != 0)
        fail_msg("%s, where \"%s\" was expected", verdict.reason, wanted);
}

static const struct input_spec distinct = {
    .shape = INPUT_UNIFORM, .max = INT32_MAX, .keep = 0.5, .seed = 3};

/* ---- right results ---- */

static void right_compactions_pass(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 511, 512, 513, 3000};
    static const double keeps[] = {0, 0.01, 0.5, 0.75, 1};
    for (int b = 0; b < BACKENDS; b++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int s = 0; s < 7; s++)
                for (int k = 0; k < 5; k++) {
                    const struct input_spec spec = {.max = 49, .keep = keeps[k], .seed = 5};
                    struct bench bench;
                    open_bench(&bench, b, OP_COMPACT, type, sizes[s], &spec);
                    expect_right_count(&bench);
                    close_bench(&bench);
                }
}

static void right_results_of_every_shape_pass(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++)
        for (int op = OP_COMPACT; op <= OP_SORT; op++)
            for (int type = 0; type < TYPE_COUNT; type++)
                for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
                    const bool has_nan = shape == INPUT_SPECIAL && is_float(type);
                    const struct input_spec spec = {.shape = shape, .max = 49, .seed = 5};
                    struct bench bench;
                    if (op == OP_SORT && has_nan)
                        continue;
                    open_bench(&bench, b, op, type, 1000, &spec);
                    expect_right_count(&bench);
                    close_bench(&bench);
                }
}

static void right_sorts_pass(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 513, 3000};
    static const uint64_t maxima[] = {1, 49, 64, (uint64_t)1 << 23};
    for (int b = 0; b < BACKENDS; b++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int s = 0; s < 5; s++)
                for (int m = 0; m < 4; m++) {
                    const struct input_spec spec = {.max = maxima[m], .seed = 5};
                    struct bench bench;
                    open_bench(&bench, b, OP_SORT, type, sizes[s], &spec);
                    expect_right_count(&bench);
                    close_bench(&bench);
                }
}

/* ---- wrong compactions ---- */

static void every_wrong_count_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_COMPACT, TYPE_I32, 1001, &distinct);
        const uint64_t kept = bench.kept_count;
        const uint64_t wrong[] = {0, kept - 1, kept + 1, 1001 - kept, 1001, UINT64_MAX};
        for (int i = 0; i < 6; i++) {
            char wanted[96];
            snprintf(wanted, sizeof wanted, "count: got %" PRIu64 ", wanted %" PRIu64, wrong[i],
                     kept);
            *(uint64_t *)bench.workspace.count.data = wrong[i];
            expect_reason(&bench, wanted);
        }
        close_bench(&bench);
    }
}

/* At each index in turn: one element changed, two neighbours swapped, one lost with the rest
 * moved up, one duplicated. Over three chunks of the check. */
static void every_wrong_place_of_a_compaction_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_COMPACT, TYPE_U32, 1200, &distinct);
        uint32_t *output = bench.workspace.output.data, right[1200];
        memcpy(right, output, sizeof right);
        for (uint64_t k = 0; k + 1 < bench.kept_count; k += 7) {
            output[k] ^= 1;
            expect_wrong_at(&bench, k);
            output[k] = right[k + 1];
            output[k + 1] = right[k];
            expect_wrong_at(&bench, k);
            memmove(output + k, right + k + 1, (bench.kept_count - k - 1) * sizeof *output);
            expect_wrong_at(&bench, k);
            memmove(output + k + 1, right + k, (bench.kept_count - k - 1) * sizeof *output);
            output[k] = right[k];
            expect_wrong_at(&bench, k + 1);
            memcpy(output, right, sizeof right);
        }
        expect_right(&bench);
        close_bench(&bench);
    }
}

static void every_write_behind_what_is_kept_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_COMPACT, TYPE_I64, 300, &distinct);
        int64_t *output = bench.workspace.output.data;
        for (uint64_t i = bench.kept_count; i < 300; i++) {
            const int64_t before = output[i];
            char wanted[128];
            snprintf(wanted, sizeof wanted,
                     "written after the last kept element: output[%" PRIu64 "]: got 0, wanted "
                     "%" PRId64,
                     i, before);
            output[i] = 0;
            expect_reason(&bench, wanted);
            output[i] = before;
        }
        expect_right(&bench);
        close_bench(&bench);
    }
}

/* The right answer to another question: the dropped elements instead of the kept ones. */
static void the_complement_is_no_compaction(void **state)
{
    (void)state;
    const struct input_spec half = {.shape = INPUT_ALTERNATING, .max = 49};
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_COMPACT, TYPE_I32, 1000, &half);
        memset(bench.workspace.output.data, 0, 500 * sizeof(int32_t));
        expect_reason(&bench, "output[0]: got 0, wanted 49");
        close_bench(&bench);
    }
}

/* ---- wrong sorts ---- */

#define NOT_IN_ORDER "; the right elements, not in order"

static void every_place_out_of_order_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_SORT, TYPE_I32, 600, &distinct);
        int32_t *output = bench.workspace.output.data;
        for (int i = 1; i < 600; i++) {
            const int32_t before = output[i - 1], here = output[i];
            char wanted[96];
            snprintf(wanted, sizeof wanted, "output[%d]: got %d, wanted at least %d" NOT_IN_ORDER,
                     i, before, here);
            output[i - 1] = here;
            output[i] = before;
            if (before != here)
                expect_reason(&bench, wanted);
            output[i - 1] = before;
            output[i] = here;
        }
        expect_right(&bench);
        close_bench(&bench);
    }
}

static const char not_a_permutation[] = "output: in order, but not a permutation of the input";

/* Still in order, but with other elements: one replaced by its neighbour, all replaced by one
 * value, and two changed so that their sum and exclusive or stay the same. */
static void what_is_no_permutation_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        const struct input_spec ramp = {.shape = INPUT_SORTED, .max = 4095};
        open_bench(&bench, b, OP_SORT, TYPE_U32, 1024, &ramp); /* 0, 4, 8, ... */
        uint32_t *output = bench.workspace.output.data, right[1024];
        memcpy(right, output, sizeof right);
        for (int i = 1; i < 1024; i += 11) {
            output[i] = output[i - 1];
            expect_reason(&bench, not_a_permutation);
            output[i] = right[i];
        }
        memset(output, 0, sizeof right);
        expect_reason(&bench, not_a_permutation);
        memcpy(output, right, sizeof right);
        output[10] += 1;
        output[20] -= 1;
        expect_reason(&bench, not_a_permutation);
        memcpy(output, right, sizeof right);
        output[10] ^= 1;
        output[20] ^= 1;
        expect_reason(&bench, not_a_permutation);
        close_bench(&bench);
    }
}

static void an_unwritten_sort_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_SORT, TYPE_I32, 1000, &distinct);
        assert_null(bench.device->can->poison(bench.device, &bench.workspace.output));
        assert_false(judge(&bench).passed);
        memcpy(bench.workspace.output.data, bench.workspace.input.data, 1000 * sizeof(int32_t));
        assert_false(judge(&bench).passed);
        close_bench(&bench);
    }
}

/* ---- pairs ---- */

/* Adds values to an open sort, and makes output and values the right ones: stable. */
static void open_pairs(struct bench *bench, int b, enum element_type type, enum value_type values,
                       uint64_t n)
{
    const struct input_spec repeating = {.shape = INPUT_UNIFORM, .max = 49, .seed = 3};
    open_bench(bench, b, OP_SORT, type, n, &repeating);
    struct workspace *w = &bench->workspace;
    const struct input indices = index_input(values, n);
    bench->problem.values = values;
    bench->problem.stable = true;
    for (int out = 0; out < 2; out++) {
        struct buffer *buffer = out ? &w->output_values : &w->input_values;
        assert_null(bench->device->can->allocate(bench->device, n * value_bytes(values), buffer));
        assert_null(bench->device->can->fill_input(bench->device, &indices, buffer->data));
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t rank = element_rank(type, element_load(type, w->input.data, i));
        uint64_t to = i;
        for (; to > 0; to--) {
            const uint64_t before = element_load(indices.type, w->output_values.data, to - 1);
            if (element_rank(type, element_load(type, w->input.data, before)) <= rank)
                break;
            element_store(indices.type, w->output_values.data, to, before);
        }
        element_store(indices.type, w->output_values.data, to, i);
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t index = element_load(indices.type, w->output_values.data, i);
        element_store(type, w->output.data, i, element_load(type, w->input.data, index));
    }
}

static void close_pairs(struct bench *bench)
{
    bench->device->can->release(bench->device, &bench->workspace.input_values);
    bench->device->can->release(bench->device, &bench->workspace.output_values);
    close_bench(bench);
}

static void right_pairs_pass(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 300};
    for (int b = 0; b < BACKENDS; b++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int s = 0; s < 4; s++)
                for (int values = VALUES_U32; values < VALUE_TYPE_COUNT; values++) {
                    struct bench bench;
                    open_pairs(&bench, b, type, values, sizes[s]);
                    expect_right(&bench);
                    close_pairs(&bench);
                }
}

/* Two pairs that follow each other with the same key, or with two keys. */
static uint64_t find_neighbours(const struct bench *bench, bool same_key)
{
    const int32_t *keys = bench->workspace.output.data;
    uint64_t i = 0;
    while ((keys[i] == keys[i + 1]) != same_key)
        i++;
    return i;
}

static void swap_values(struct bench *bench, uint64_t i)
{
    uint32_t *values = bench->workspace.output_values.data;
    const uint32_t value = values[i];
    values[i] = values[i + 1];
    values[i + 1] = value;
}

/* Where the algorithm does not say that it is stable, any order of equal keys is right. */
static void an_unstable_order_is_found_where_it_is_wrong(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_pairs(&bench, b, TYPE_I32, VALUES_U32, 600);
        const uint64_t i = find_neighbours(&bench, true);
        const uint32_t *values = bench.workspace.output_values.data;
        char wanted[96];
        swap_values(&bench, i);
        snprintf(wanted, sizeof wanted,
                 "values[%" PRIu64 "]: got %u, after %u of the same key: not stable", i + 1,
                 values[i + 1], values[i]);
        expect_reason(&bench, wanted);
        bench.problem.stable = false;
        expect_right(&bench);
        close_pairs(&bench);
    }
}

static void a_value_with_another_key_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_pairs(&bench, b, TYPE_I32, VALUES_U32, 600);
        const int32_t *keys = bench.workspace.output.data;
        const uint32_t *values = bench.workspace.output_values.data;
        const uint64_t i = find_neighbours(&bench, false);
        char wanted[96];
        swap_values(&bench, i);
        snprintf(wanted, sizeof wanted,
                 "values[%" PRIu64 "]: got %u, the index of key %d, but with key %d", i, values[i],
                 keys[i + 1], keys[i]);
        bench.problem.stable = false;
        expect_reason(&bench, wanted);
        close_pairs(&bench);
    }
}

static void a_lost_value_is_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_pairs(&bench, b, TYPE_I64, VALUES_U64, 600);
        const int64_t *keys = bench.workspace.output.data;
        uint64_t *values = bench.workspace.output_values.data, i = 0;
        while (keys[i] != keys[i + 1])
            i++;
        values[i + 1] = values[i];
        bench.problem.stable = false;
        expect_reason(&bench, "values: not every index once");
        values[i] = 600;
        char wanted[96];
        snprintf(wanted, sizeof wanted, "values[%" PRIu64 "]: got 600, wanted an index below 600",
                 i);
        expect_reason(&bench, wanted);
        close_pairs(&bench);
    }
}

static void changed_and_unwritten_values_are_found(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_pairs(&bench, b, TYPE_F32, VALUES_U32, 600);
        ((uint32_t *)bench.workspace.input_values.data)[77] = 78;
        expect_reason(&bench, "input changed: input values[77]: got 78, wanted 77");
        ((uint32_t *)bench.workspace.input_values.data)[77] = 77;
        assert_null(bench.device->can->poison(bench.device, &bench.workspace.output_values));
        const struct verdict verdict = judge(&bench);
        assert_false(verdict.passed);
        assert_non_null(strstr(verdict.reason, "wanted an index below 600"));
        close_pairs(&bench);
    }
}

/* ---- floats: -0 and NaN ---- */

static void zeros_of_both_signs_and_nan(void **state)
{
    (void)state;
    assert_false(element_is_kept(TYPE_F32, float_to_bits(TYPE_F32, -0.0f)));
    assert_false(element_is_kept(TYPE_F64, float_to_bits(TYPE_F64, -0.0)));
    assert_true(element_is_kept(TYPE_F32, 0x7FC00000));
    assert_true(element_is_kept(TYPE_F32, 1)); /* the least number above 0 */
    assert_true(element_is_kept(TYPE_I32, 0x80000000));
    assert_true(element_is_kept(TYPE_I64, (uint64_t)1 << 63));

    assert_true(element_rank(TYPE_F32, float_to_bits(TYPE_F32, -0.0f)) < element_rank(TYPE_F32, 0));
    assert_true(element_rank(TYPE_F64, float_to_bits(TYPE_F64, -0.0)) < element_rank(TYPE_F64, 0));
    /* Positive NaN comes after everything, negative NaN before everything. */
    assert_true(element_rank(TYPE_F32, 0x7FC00000) > element_rank(TYPE_F32, 0x7F800000));
    assert_true(element_rank(TYPE_F32, 0xFFC00000) < element_rank(TYPE_F32, 0xFF800000));
}

/* Ranks have the order of the numbers, for every type. */
static void ranks_are_in_the_order_of_numbers(void **state)
{
    (void)state;
    static const float f32[] = {-1.0f / 0.0f, -3e38f, -1,    -1e-45f,    -0.0f,
                                1e-45f,       1,      3e38f, 1.0f / 0.0f};
    static const double f64[] = {-1.0 / 0.0, -1e308, -1, -5e-324, 0, 5e-324, 1, 1e308, 1.0 / 0.0};
    static const int64_t i64[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN,     -1,       0,
                                  1,         INT32_MAX,     INT64_MAX - 1, INT64_MAX};
    static const int32_t i32[] = {INT32_MIN, INT32_MIN + 1, -100,          -1,       0,
                                  1,         100,           INT32_MAX - 1, INT32_MAX};
    for (int i = 1; i < 9; i++) {
        assert_true(element_rank(TYPE_F32, float_to_bits(TYPE_F32, f32[i - 1])) <
                    element_rank(TYPE_F32, float_to_bits(TYPE_F32, f32[i])));
        assert_true(element_rank(TYPE_F64, float_to_bits(TYPE_F64, f64[i - 1])) <
                    element_rank(TYPE_F64, float_to_bits(TYPE_F64, f64[i])));
        assert_true(element_rank(TYPE_I64, (uint64_t)i64[i - 1]) <
                    element_rank(TYPE_I64, (uint64_t)i64[i]));
        assert_true(element_rank(TYPE_I32, (uint32_t)i32[i - 1]) <
                    element_rank(TYPE_I32, (uint32_t)i32[i]));
    }
    assert_true(element_rank(TYPE_U64, UINT64_MAX) > element_rank(TYPE_U64, INT64_MAX));
    assert_true(element_rank(TYPE_U32, UINT32_MAX) > element_rank(TYPE_U32, INT32_MAX));
}

/* -0 comes before 0, neither may replace the other, and a NaN must keep its bits. Where a library's
 * 0 and -0 are equal, they may come in either order. */
static void a_sort_keeps_the_bits_of_zeros_and_nan(void **state)
{
    (void)state;
    const struct input_spec special = {.shape = INPUT_SPECIAL, .max = 49, .seed = 2};
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_SORT, TYPE_F32, 200, &special);
        const uint32_t *input = bench.workspace.input.data;
        uint32_t *output = bench.workspace.output.data;
        static const uint32_t order[] = {0xFF800000, 0xBF800000, 0x80000000, 0,
                                         1,          0x7F7FFFFF, 0x7F800000, 0x7FC00000};
        uint64_t place = 0, first_of[8];
        for (int v = 0; v < 8; v++) {
            first_of[v] = place;
            for (int i = 0; i < 200; i++)
                if (input[i] == order[v])
                    output[place++] = order[v];
        }
        assert_int_equal(place, 200);
        expect_right(&bench);
        output[first_of[2]] = 0;
        output[first_of[3]] = 0x80000000;
        char reason[96];
        snprintf(reason, sizeof reason, "output[%d]: got -0, wanted at least 0" NOT_IN_ORDER,
                 (int)first_of[2] + 1);
        expect_reason(&bench, reason);
        struct verdict verdict;
        assert_null(verify(bench.device, &bench.problem, RESULT_ZEROS_EQUAL, &bench.input,
                           &bench.workspace, &verdict));
        assert_true(verdict.passed);
        output[first_of[2]] = 0x80000000;
        output[first_of[3]] = 0;
        output[first_of[3] - 1] = 0;
        expect_reason(&bench, not_a_permutation);
        output[first_of[3] - 1] = 0x80000000;
        output[199] ^= 1;
        expect_reason(&bench, not_a_permutation);
        output[199] ^= 1;
        expect_right(&bench);
        /* A misplaced NaN is out of order. */
        output[0] = 0x7FC00000;
        expect_reason(&bench, "output[1]: got -inf, wanted at least nan");
        close_bench(&bench);
    }
}

static void a_compaction_keeps_the_bits_of_nan(void **state)
{
    (void)state;
    const struct input_spec special = {.shape = INPUT_SPECIAL, .max = 49, .seed = 2};
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_COMPACT, TYPE_F64, 200, &special);
        uint64_t *output = bench.workspace.output.data, nan = 0;
        while (output[nan] != 0x7FF8000000000000u)
            nan++;
        output[nan] ^= 1;
        expect_wrong_at(&bench, nan);
        close_bench(&bench);
    }
}

/* ---- scratch that is smaller than what was allocated ---- */

__attribute__((no_sanitize("address"))) static void write_at(struct buffer *buffer, size_t offset)
{
    ((volatile unsigned char *)buffer->data)[offset] = 42;
}

static void the_zone_moves_with_the_end_of_a_buffer(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        struct bench bench;
        open_bench(&bench, b, OP_SORT, TYPE_I32, 100, &distinct);
        struct buffer *scratch = &bench.workspace.scratch;
        assert_null(bench.device->can->allocate(bench.device, 4096, scratch));
        for (size_t bytes = 0; bytes <= 4096; bytes += 512) {
            assert_null(bench.device->can->resize(bench.device, scratch, bytes));
            memset(scratch->data, 7, bytes); /* and the sanitizer accepts it */
            expect_right(&bench);
            write_at(scratch, bytes);
            char wanted[64];
            snprintf(wanted, sizeof wanted, "written after scratch: scratch[%zu]: got ", bytes / 4);
            const struct verdict verdict = judge(&bench);
            assert_false(verdict.passed);
            assert_memory_equal(verdict.reason, wanted, strlen(wanted));
            assert_null(bench.device->can->resize(bench.device, scratch, 4096));
            memset(scratch->data, 7, 4096);
            expect_right(&bench);
        }
        close_bench(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_compactions_pass),
        cmocka_unit_test(right_results_of_every_shape_pass),
        cmocka_unit_test(right_sorts_pass),
        cmocka_unit_test(every_wrong_count_is_found),
        cmocka_unit_test(every_wrong_place_of_a_compaction_is_found),
        cmocka_unit_test(every_write_behind_what_is_kept_is_found),
        cmocka_unit_test(the_complement_is_no_compaction),
        cmocka_unit_test(every_place_out_of_order_is_found),
        cmocka_unit_test(what_is_no_permutation_is_found),
        cmocka_unit_test(an_unwritten_sort_is_found),
        cmocka_unit_test(right_pairs_pass),
        cmocka_unit_test(an_unstable_order_is_found_where_it_is_wrong),
        cmocka_unit_test(a_value_with_another_key_is_found),
        cmocka_unit_test(a_lost_value_is_found),
        cmocka_unit_test(changed_and_unwritten_values_are_found),
        cmocka_unit_test(zeros_of_both_signs_and_nan),
        cmocka_unit_test(ranks_are_in_the_order_of_numbers),
        cmocka_unit_test(a_sort_keeps_the_bits_of_zeros_and_nan),
        cmocka_unit_test(a_compaction_keeps_the_bits_of_nan),
        cmocka_unit_test(the_zone_moves_with_the_end_of_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
