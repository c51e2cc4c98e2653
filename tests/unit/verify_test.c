/* verify_test: a right result passes; each kind of wrong result is found, with the first wrong
 * index, the value found and the value wanted. On the CPU. */
#include "../../bench/device/chunk_reduction.h"
#include "../../bench/device/verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench.h"

static struct device *device; /* the CPU */

/* The result by definition: one addition after another. */
static void scan(const struct input *input, enum scan_kind kind, void *output)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < input->n; i++) {
        const uint64_t with_this = apply_to(input, sum, i);
        element_store(input->type, output, i,
                      element_narrow(input->type, kind == KIND_INCLUSIVE ? with_this : sum));
        sum = with_this;
    }
}

static void set_up(struct bench *bench, enum element_type type, enum scan_kind kind, uint64_t n)
{
    struct device_info info;
    assert_null(cpu_backend.open(0, 1, &info, &bench->limits, &device));
    const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = 49, .seed = 3};
    bench->problem = (struct problem){
        .op = OP_SCAN, .type = type, .kind = kind, .n = n, .device = &bench->limits};
    bench->input = make_input(&spec, &bench->problem);
    struct workspace *w = &bench->workspace;
    *w = (struct workspace){0};
    assert_null(device->can->allocate(device, n * element_bytes(type), &w->input));
    assert_null(device->can->allocate(device, n * element_bytes(type), &w->output));
    assert_null(device->can->allocate(device, 64 * element_bytes(type), &w->scratch));
    assert_null(device->can->fill_input(device, &bench->input, w->input.data));
    assert_null(device->can->poison(device, &w->output));
    scan(&bench->input, kind, w->output.data);
}

static void tear_down(struct bench *bench)
{
    device->can->release(device, &bench->workspace.input);
    device->can->release(device, &bench->workspace.output);
    device->can->release(device, &bench->workspace.scratch);
    device->can->close(device);
}

static struct verdict verdict_on(const struct bench *bench, enum result result)
{
    struct verdict verdict;
    assert_null(
        verify(device, &bench->problem, result, &bench->input, &bench->workspace, &verdict));
    return verdict;
}

static void expect_reason(const struct bench *bench, enum result result, const char *wanted)
{
    const struct verdict verdict = verdict_on(bench, result);
    assert_false(verdict.passed);
    assert_string_equal(verdict.reason, wanted);
}

/* ---- right results ---- */

static void right_results_pass(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 3, 1000, 4096};
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int kind = 0; kind < KIND_COUNT; kind++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct bench bench;
                set_up(&bench, type, kind, sizes[s]);
                const struct verdict verdict = verdict_on(&bench, RESULT_OF_OPERATION);
                if (!verdict.passed)
                    fail_msg("type %d, kind %d, n = %d: %s", type, kind, (int)sizes[s],
                             verdict.reason);
                tear_down(&bench);
            }
}

static void a_sum_that_is_rounded_on_the_way_is_found(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int kind = 0; kind < KIND_COUNT && sum_type(type) != (enum element_type)type; kind++) {
            struct bench bench;
            set_up(&bench, type, kind, 4096);
            uint64_t sum = 0;
            for (uint64_t i = 0; i < bench.input.n; i++) {
                const uint64_t next = element_add(type, sum, input_element(&bench.input, i));
                element_store(type, bench.workspace.output.data, i,
                              kind == KIND_INCLUSIVE ? next : sum);
                sum = next;
            }
            assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
            tear_down(&bench);
        }
}

static void a_copy_is_judged_as_a_copy(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_I32, KIND_EXCLUSIVE, 1000);
    assert_false(verdict_on(&bench, RESULT_COPY).passed);
    memcpy(bench.workspace.output.data, bench.workspace.input.data, 1000 * sizeof(int32_t));
    assert_true(verdict_on(&bench, RESULT_COPY).passed);
    assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    tear_down(&bench);
}

static void nothing_is_judged_by_what_it_left_alone(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_I32, KIND_EXCLUSIVE, 1000);
    assert_null(device->can->poison(device, &bench.workspace.output));
    assert_true(verdict_on(&bench, RESULT_NOTHING).passed);
    ((int32_t *)bench.workspace.input.data)[5] ^= 1;
    assert_false(verdict_on(&bench, RESULT_NOTHING).passed);
    tear_down(&bench);
}

/* ---- wrong results ---- */

/* Each single element off by one is found at its index. */
static void one_wrong_element(void **state)
{
    (void)state;
    enum { N = 200 };
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        struct bench bench;
        set_up(&bench, TYPE_I32, kind, N);
        int32_t *output = bench.workspace.output.data;
        for (int i = 0; i < N; i++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "output[%d]: got %d, wanted %d", i, output[i] + 1,
                     output[i]);
            output[i]++;
            expect_reason(&bench, RESULT_OF_OPERATION, wanted);
            output[i]--;
        }
        assert_true(verdict_on(&bench, RESULT_OF_OPERATION).passed);
        tear_down(&bench);
    }
}

static void the_first_of_several(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_I64, KIND_INCLUSIVE, 1000);
    int64_t *output = bench.workspace.output.data;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "output[333]: got -7, wanted %lld", (long long)output[333]);
    output[900] = output[334] = output[333] = -7;
    expect_reason(&bench, RESULT_OF_OPERATION, wanted);
    tear_down(&bench);
}

/* A block that ignored its carry: right in itself, wrong by a constant. */
static void a_wrong_carry_is_found_where_it_begins(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_U32, KIND_EXCLUSIVE, 1000);
    uint32_t *output = bench.workspace.output.data;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "output[512]: got 0, wanted %u", output[512]);
    for (int i = 999; i >= 512; i--)
        output[i] -= output[512];
    expect_reason(&bench, RESULT_OF_OPERATION, wanted);
    tear_down(&bench);
}

static void the_other_kind_of_scan(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_U64, KIND_EXCLUSIVE, 1000);
    scan(&bench.input, KIND_INCLUSIVE, bench.workspace.output.data);
    assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    tear_down(&bench);
}

static void an_element_left_unwritten(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_U32, KIND_EXCLUSIVE, 1000);
    uint32_t *output = bench.workspace.output.data;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "output[77]: got %u, wanted %u (as if nothing was written)",
             0x5C5C5C5Cu, output[77]);
    memset(&output[77], POISON_BYTE, sizeof *output);
    expect_reason(&bench, RESULT_OF_OPERATION, wanted);
    tear_down(&bench);
}

static void a_float_off_by_its_last_bit(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_F32, KIND_INCLUSIVE, 1000);
    float *output = bench.workspace.output.data;
    const float right = output[10];
    uint32_t bits;
    memcpy(&bits, &right, sizeof bits);
    bits++;
    memcpy(&output[10], &bits, sizeof bits);
    char wanted[96];
    snprintf(wanted, sizeof wanted, "output[10]: got %.9g, wanted %.9g", (double)output[10],
             (double)right);
    expect_reason(&bench, RESULT_OF_OPERATION, wanted);
    output[10] = right;
    output[999] = 0.0f / 0.0f;
    assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    tear_down(&bench);
}

static void a_changed_input(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_I32, KIND_EXCLUSIVE, 1000);
    int32_t *input = bench.workspace.input.data;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "input changed: input[999]: got %d, wanted %d", input[999] + 1,
             input[999]);
    input[999]++; /* an exclusive scan does not use the last element */
    expect_reason(&bench, RESULT_OF_OPERATION, wanted);
    tear_down(&bench);
}

/* ---- outside the buffers ---- */

/* Writes an element outside a buffer, unseen by the address sanitizer. */
__attribute__((no_sanitize("address"))) static void write_at(struct buffer *buffer, int64_t index,
                                                             int32_t value)
{
    volatile int32_t *data = buffer->data;
    data[index] = value;
}

static void expect_damage(enum element_type type, size_t which, int64_t index, const char *where)
{
    struct bench bench;
    set_up(&bench, type, KIND_EXCLUSIVE, 100);
    struct buffer *buffers[] = {&bench.workspace.output, &bench.workspace.input,
                                &bench.workspace.scratch};
    write_at(buffers[which], index, 42);
    const struct verdict verdict = verdict_on(&bench, RESULT_OF_OPERATION);
    assert_false(verdict.passed);
    if (strncmp(verdict.reason, where, strlen(where)) != 0)
        fail_msg("%s, where \"%s\" was expected", verdict.reason, where);
    assert_non_null(strstr(verdict.reason, "got 42, wanted "));
    tear_down(&bench);
}

static void a_write_behind_the_end(void **state)
{
    (void)state;
    expect_damage(TYPE_I32, 0, 100, "written after output: output[100]: ");
    expect_damage(TYPE_I32, 0, 150, "written after output: output[150]: ");
    expect_damage(TYPE_U32, 1, 100, "written after input: input[100]: ");
    expect_damage(TYPE_I32, 2, 64, "written after scratch: scratch[64]: ");
}

static void a_write_before_the_start(void **state)
{
    (void)state;
    expect_damage(TYPE_I32, 0, -1, "written before output: output[-1]: ");
    expect_damage(TYPE_U32, 1, -10, "written before input: input[-10]: ");
    expect_damage(TYPE_I32, 2, -64, "written before scratch: scratch[-64]: ");
}

static void damage_beside_an_empty_array(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_I32, KIND_EXCLUSIVE, 0);
    write_at(&bench.workspace.output, 0, 42);
    const struct verdict verdict = verdict_on(&bench, RESULT_OF_OPERATION);
    assert_false(verdict.passed);
    assert_non_null(strstr(verdict.reason, "written after output: output[0]: got 42"));
    tear_down(&bench);
}

#if defined(__SANITIZE_ADDRESS__)
/* A read outside a buffer changes nothing, so only the sanitizer can notice it: the guard zones
 * are poisoned. */
static void a_read_behind_the_end_is_seen_by_the_sanitizer(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, TYPE_I32, KIND_EXCLUSIVE, 100);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        fclose(stderr); /* its report is expected, and long */
        close(STDERR_FILENO);
        const volatile int32_t *data = bench.workspace.input.data;
        _exit(data[100] == 0 ? 0 : 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tear_down(&bench);
}
#endif

/* ---- elements as text ---- */

/* ---- other operators, recurrences, segments ---- */

/* What the run is to do, and what stands in for an algorithm that is wrong in one way. */
enum mistake {
    NO_MISTAKE,
    LOSES_ELEMENT,    /* at LOST_AT */
    SWAPS_ELEMENTS,   /* LOST_AT and the one after it */
    BEGINS_WITH_ZERO, /* instead of the identity */
    IGNORES_SEGMENTS,
    BEGINS_LATER, /* a segment of two elements or more, by one element */
};
enum { LOST_AT = 600 };

/* One element of the input, as a run with that mistake sees it: which one. */
static uint64_t as_read(uint64_t i, enum mistake mistake)
{
    if (mistake != SWAPS_ELEMENTS || i < LOST_AT || i > LOST_AT + 1)
        return i;
    return i == LOST_AT ? LOST_AT + 1 : LOST_AT;
}

static uint64_t combined(const struct input *input, uint64_t before, uint64_t i)
{
    const struct input second = second_input(input);
    if (input->binary_operator == OPERATOR_RECURRENCE)
        return element_recur(input->type, input_element(input, i), before,
                             input_element(&second, i));
    return apply_to(input, before, i);
}

static bool restarts(const struct input *input, uint64_t i, enum mistake mistake)
{
    if (mistake == IGNORES_SEGMENTS && i > 0)
        return false;
    if (mistake == BEGINS_LATER && i > 1)
        return begins_segment(input, i - 1);
    return begins_segment(input, i);
}

/* Fills the output of a scan or, by segments, of a reduction. */
static void solve(const struct bench *bench, enum mistake mistake)
{
    const struct input *input = &bench->input;
    void *output = bench->workspace.output.data;
    const uint64_t identity = mistake == BEGINS_WITH_ZERO ? 0 : sum_of_none(input);
    uint64_t sum = identity, segment = 0;
    for (uint64_t i = 0; i < input->n; i++) {
        if (restarts(input, i, mistake)) {
            sum = identity;
            segment += i > 0;
        }
        const bool lost = mistake == LOSES_ELEMENT && i == LOST_AT;
        const uint64_t with_this = lost ? sum : combined(input, sum, as_read(i, mistake));
        if (bench->problem.op == OP_REDUCE)
            element_store(input->type, output, segment, element_narrow(input->type, with_this));
        else
            element_store(input->type, output, i,
                          element_narrow(input->type,
                                         bench->problem.kind == KIND_INCLUSIVE ? with_this : sum));
        sum = with_this;
    }
}

/* Allocates and fills what the problem and the segments call for. */
static void set_up_problem(struct bench *bench, const struct problem *problem,
                           const struct input_spec *spec)
{
    struct device_info info;
    struct workspace *w = &bench->workspace;
    assert_null(cpu_backend.open(0, 1, &info, &bench->limits, &device));
    bench->problem = *problem;
    bench->problem.device = &bench->limits;
    bench->problem.segments = spec->segments.form;
    bench->problem.segment_length = spec->segments.length;
    bench->problem.segment_count = segment_count(&spec->segments, problem->n);
    bench->input = make_input(spec, &bench->problem);
    const struct input second = second_input(&bench->input);
    const size_t bytes = problem->n * element_bytes(problem->type);
    *w = (struct workspace){0};
    assert_null(device->can->allocate(device, bytes, &w->input));
    assert_null(device->can->allocate(device, bytes, &w->output));
    assert_null(device->can->allocate(device, 64, &w->scratch));
    assert_int_equal(second_bytes(&bench->problem), second.n * element_bytes(second.type));
    if (second.n > 0) {
        assert_null(device->can->allocate(device, second_bytes(&bench->problem), &w->second));
        assert_null(device->can->fill_input(device, &second, w->second.data));
    }
    assert_null(device->can->fill_input(device, &bench->input, w->input.data));
    assert_null(device->can->poison(device, &w->output));
}

static void tear_down_problem(struct bench *bench)
{
    device->can->release(device, &bench->workspace.second);
    tear_down(bench);
}

/* Only a run without a mistake passes. */
static void expect_found(const struct problem *problem, const struct input_spec *spec,
                         enum mistake mistake)
{
    struct bench bench;
    for (int wrong = 0; wrong < 2; wrong++) {
        set_up_problem(&bench, problem, spec);
        solve(&bench, wrong ? mistake : NO_MISTAKE);
        const struct verdict verdict = verdict_on(&bench, RESULT_OF_OPERATION);
        if (verdict.passed == (bool)wrong)
            fail_msg("operation %d, operator %d, type %d, kind %d, form %d, mistake %d: %s",
                     problem->op, problem->binary_operator, problem->type, problem->kind,
                     spec->segments.form, wrong ? mistake : NO_MISTAKE, verdict.reason);
        tear_down_problem(&bench);
    }
}

static void mistakes_of_a_recurrence(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int kind = 0; kind < KIND_COUNT; kind++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                const struct problem problem = {.op = OP_SCAN,
                                                .type = type,
                                                .kind = kind,
                                                .n = 1000,
                                                .binary_operator = OPERATOR_RECURRENCE};
                const struct input_spec spec = {.shape = is_signed ? INPUT_SIGNED : INPUT_UNIFORM,
                                                .max = largest_value(type),
                                                .seed = 3};
                if ((is_signed && !is_float(type)) || sum_type(type) != (enum element_type)type)
                    continue;
                expect_found(&problem, &spec, LOSES_ELEMENT);
                expect_found(&problem, &spec, SWAPS_ELEMENTS);
            }
}

/* Floats may be combined in any order: here in pairs of neighbours, then with what comes before. */
static void a_recurrence_in_another_order(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    const struct problem problem = {.op = OP_SCAN,
                                    .type = TYPE_F32,
                                    .kind = KIND_INCLUSIVE,
                                    .n = SIZE,
                                    .binary_operator = OPERATOR_RECURRENCE};
    const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = (uint64_t)1 << 23, .seed = 3};
    struct bench bench;
    set_up_problem(&bench, &problem, &spec);
    const float *a = bench.workspace.input.data, *b = bench.workspace.second.data;
    float *h = bench.workspace.output.data, before = 0;
    unsigned rounded = 0;
    for (uint64_t i = 0; i < SIZE; i += 4) {
        const float a01 = a[i + 1] * a[i], b01 = a[i + 1] * b[i] + b[i + 1];
        const float a23 = a[i + 3] * a[i + 2], b23 = a[i + 3] * b[i + 2] + b[i + 3];
        h[i] = a[i] * before + b[i];
        h[i + 1] = a01 * before + b01;
        h[i + 2] = a[i + 2] * h[i + 1] + b[i + 2];
        h[i + 3] = a23 * a01 * before + (a23 * b01 + b23);
        rounded += h[i + 3] != a[i + 3] * h[i + 2] + b[i + 3];
        before = h[i + 3];
    }
    assert_true(rounded > SIZE / 100);
    assert_true(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    h[777] += 1e-3f;
    assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    h[777] = NAN;
    assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    tear_down_problem(&bench);
}

static void mistakes_with_segments(void **state)
{
    (void)state;
    static const struct segmentation forms[] = {
        {SEGMENTS_ROWS, LENGTHS_UNIFORM, 100},    {SEGMENTS_OFFSETS, LENGTHS_UNIFORM, 20},
        {SEGMENTS_OFFSETS, LENGTHS_SKEWED, 20},   {SEGMENTS_KEYS, LENGTHS_UNIFORM, 20},
        {SEGMENTS_KEYS, LENGTHS_SKEWED, 20},      {SEGMENTS_ROWS, LENGTHS_UNIFORM, 700},
        {SEGMENTS_OFFSETS, LENGTHS_SKEWED, 1000},
    };
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int kind = 0; kind <= KIND_COUNT; kind++) {
                const bool reduces = kind == KIND_COUNT;
                const struct problem problem = {.op = reduces ? OP_REDUCE : OP_SCAN,
                                                .type = type,
                                                .kind = reduces ? KIND_EXCLUSIVE : kind,
                                                .n = 2500};
                const struct input_spec spec = {
                    .shape = INPUT_UNIFORM, .max = 49, .seed = 3, .segments = forms[f]};
                if (reduces && forms[f].form == SEGMENTS_KEYS)
                    continue;
                /* A sum that is rounded may be the same without one small element. */
                if (!reduces || sum_type(type) == (enum element_type)type)
                    expect_found(&problem, &spec, LOSES_ELEMENT);
                expect_found(&problem, &spec, IGNORES_SEGMENTS);
                expect_found(&problem, &spec, BEGINS_LATER);
            }
}

/* All elements are negative, so that 0 is larger than each. */
static void a_maximum_that_begins_with_zero(void **state)
{
    (void)state;
    const struct problem problem = {
        .op = OP_SCAN, .type = TYPE_I32, .n = 1000, .binary_operator = OPERATOR_MAX};
    const struct input_spec spec = {.shape = INPUT_RISING, .max = INT32_MAX, .seed = 3};
    struct bench bench;
    set_up_problem(&bench, &problem, &spec);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        bench.problem.kind = kind;
        bench.input.n = 400; /* of a ramp that rises above 0 in the middle */
        bench.problem.n = 400;
        bench.input.after = 600;
        solve(&bench, NO_MISTAKE);
        assert_true(verdict_on(&bench, RESULT_OF_OPERATION).passed);
        solve(&bench, BEGINS_WITH_ZERO);
        assert_false(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    }
    tear_down_problem(&bench);
}

static void a_changed_second_input(void **state)
{
    (void)state;
    const struct problem problem = {.op = OP_SCAN, .type = TYPE_I32, .n = 1000};
    const struct input_spec spec = {.shape = INPUT_UNIFORM,
                                    .max = 49,
                                    .seed = 3,
                                    .segments = {SEGMENTS_OFFSETS, LENGTHS_UNIFORM, 20}};
    struct bench bench;
    set_up_problem(&bench, &problem, &spec);
    solve(&bench, NO_MISTAKE);
    uint64_t *offsets = bench.workspace.second.data;
    offsets[50]--;
    expect_reason(&bench, RESULT_OF_OPERATION,
                  "second input changed: second input[50]: got 999, wanted 1000");
    offsets[50]++;
    assert_true(verdict_on(&bench, RESULT_OF_OPERATION).passed);
    write_at(&bench.workspace.second, 2 * 51, 0); /* the lower half of an offset */
    write_at(&bench.workspace.second, 2 * 51 + 1, 0);
    assert_non_null(strstr(verdict_on(&bench, RESULT_OF_OPERATION).reason,
                           "written after second input: second input[51]: got 0"));
    tear_down_problem(&bench);
}

static void expect_element(enum element_type type, uint64_t bits, const char *wanted)
{
    char text[40];
    format_element(type, bits, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void elements_as_text(void **state)
{
    (void)state;
    expect_element(TYPE_I32, 0xFFFFFFFF, "-1");
    expect_element(TYPE_U32, 0xFFFFFFFF, "4294967295");
    expect_element(TYPE_I64, UINT64_MAX, "-1");
    expect_element(TYPE_U64, UINT64_MAX, "18446744073709551615");
    expect_element(TYPE_F32, float_to_bits(TYPE_F32, -2.5f), "-2.5");
    expect_element(TYPE_F32, float_to_bits(TYPE_F32, 16777217), "16777216");
    expect_element(TYPE_F64, float_to_bits(TYPE_F64, 0x1p53 - 1), "9007199254740991");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_results_pass),
        cmocka_unit_test(a_sum_that_is_rounded_on_the_way_is_found),
        cmocka_unit_test(a_copy_is_judged_as_a_copy),
        cmocka_unit_test(nothing_is_judged_by_what_it_left_alone),
        cmocka_unit_test(one_wrong_element),
        cmocka_unit_test(the_first_of_several),
        cmocka_unit_test(a_wrong_carry_is_found_where_it_begins),
        cmocka_unit_test(the_other_kind_of_scan),
        cmocka_unit_test(an_element_left_unwritten),
        cmocka_unit_test(a_float_off_by_its_last_bit),
        cmocka_unit_test(a_changed_input),
        cmocka_unit_test(a_write_behind_the_end),
        cmocka_unit_test(a_write_before_the_start),
        cmocka_unit_test(damage_beside_an_empty_array),
#if defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(a_read_behind_the_end_is_seen_by_the_sanitizer),
#endif
        cmocka_unit_test(mistakes_of_a_recurrence),
        cmocka_unit_test(a_recurrence_in_another_order),
        cmocka_unit_test(mistakes_with_segments),
        cmocka_unit_test(a_maximum_that_begins_with_zero),
        cmocka_unit_test(a_changed_second_input),
        cmocka_unit_test(elements_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
