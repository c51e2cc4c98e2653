/* devices_test: several devices open at the same time and used in turns: a CPU and an emulator,
 * and several emulators. */
#include "../../bench/device/backend.h"
#include "../../bench/device/check.h"
#include "../../bench/device/verify.h"
#include "../../bench/registry.h"
#include "../../emulator/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"

enum { MOST_DEVICES = 4, N = 5000, BLOCK = 64 };

static const struct algorithm *algorithm_named(enum operation op, const char *name,
                                               enum device_kind kind)
{
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        if (row->op == op && strcmp(row->name, name) == 0)
            return row->on[kind];
    }
    return NULL;
}

/* ---- one device ---- */

static void open_bench(struct bench *bench, const struct backend *backend, int index)
{
    *bench = (struct bench){0};
    assert_null(backend->open(index, 1, &bench->info, &bench->limits, &bench->device));
    assert_ptr_equal(bench->device->can, backend);
    bench->limits.kind = backend->kind;
}

/* Gives each device a different problem. */
static void fill(struct bench *bench, enum operation op, enum element_type type, uint64_t seed)
{
    struct device *device = bench->device;
    struct workspace *w = &bench->workspace;
    const char *name = device->can->has_blocks ? "reduce-then-scan" : "parallel";
    const struct algorithm *algorithm = algorithm_named(op, name, device->can->kind);
    const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = 49, .keep = 0.5, .seed = seed};
    assert_non_null(algorithm);
    bench->problem = (struct problem){.op = op,
                                      .type = type,
                                      .n = N + seed,
                                      .block = device->can->has_blocks ? BLOCK : 0,
                                      .threads = device->can->has_threads ? 2 : 0,
                                      .simd = bench->limits.best_simd,
                                      .max_time_ms = 1e9,
                                      .scan = algorithm->over,
                                      .device = &bench->limits};
    bench->algorithm = algorithm;
    bench->input = make_input(&spec, &bench->problem);
    const size_t bytes = bench->problem.n * element_bytes(type);
    const size_t scratch =
        algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(&bench->problem) : 0;
    assert_null(device->can->allocate(device, bytes, &w->input));
    assert_null(device->can->allocate(device, bytes, &w->output));
    assert_null(device->can->allocate(device, scratch, &w->scratch));
    assert_null(device->can->allocate(device, sizeof(uint64_t), &w->count));
    assert_null(device->can->fill_input(device, &bench->input, w->input.data));
    assert_null(device->can->poison(device, &w->output));
    bench->call = (struct call){.problem = bench->problem,
                                .input = w->input.data,
                                .output = w->output.data,
                                .count = w->count.data,
                                .scratch = w->scratch.data,
                                .scratch_bytes = scratch,
                                .kept = &bench->kept};
}

static struct trial trial_of(struct bench *bench)
{
    return (struct trial){.algorithm = bench->algorithm, .call = &bench->call};
}

static void release(struct bench *bench)
{
    struct buffer *const buffers[] = {&bench->workspace.input, &bench->workspace.output,
                                      &bench->workspace.scratch, &bench->workspace.count};
    for (int b = 0; b < 4; b++)
        bench->device->can->release(bench->device, buffers[b]);
    if (bench->kept != NULL)
        bench->algorithm->release(&bench->call);
}

static const char *take_samples(struct device *device, const struct trial *trial, double *ms,
                                unsigned count)
{
    struct look looks[2];
    const char *why = device->can->prepare(device, trial);
    return why == NULL ? device->can->measure(device, trial, ms, looks, count) : why;
}

/* ---- several in turns ---- */

/* Opens, fills, runs, measures and checks in turns; `backwards` closes the devices in reverse
 * order. */
static void in_turns(const struct backend *const *backends, const int *indices, int count,
                     enum operation op, bool backwards)
{
    static struct launch_log log;
    static struct bench bench[MOST_DEVICES];
    double ms[2];
    for (int d = 0; d < count; d++)
        open_bench(&bench[d], backends[d], indices[d]);
    for (int d = count; d-- > 0;)
        fill(&bench[d], op, d % 2 == 0 ? TYPE_I32 : TYPE_U64, 3 + (uint64_t)d);
    for (int round = 0; round < 3; round++)
        for (int d = 0; d < count; d++) {
            const struct trial trial = trial_of(&bench[d]);
            struct device *device = bench[d].device;
            assert_null(device->can->first_call(device, &trial, &log, ms));
            assert_int_equal(log.count > 0, device->can->has_blocks);
        }
    for (int d = count; d-- > 0;)
        expect_right(&bench[d]);
    for (int d = 0; d < count; d++) {
        const struct trial trial = trial_of(&bench[d]);
        struct device *device = bench[d].device;
        assert_null(device->can->poison(device, &bench[d].workspace.output));
        assert_null(take_samples(device, &trial, ms, 2));
        if (device->can->measure_launches != NULL)
            assert_null(device->can->measure_launches(device, &trial, ms, 1));
    }
    for (int d = 0; d < count; d++)
        expect_right(&bench[d]);
    for (int d = 0; d < count; d++) {
        struct bench *closed = &bench[backwards ? count - 1 - d : d];
        release(closed);
        closed->device->can->close(closed->device);
        for (int left = d + 1; left < count; left++)
            expect_right(&bench[backwards ? count - 1 - left : left]);
    }
}

static void a_cpu_and_an_emulator(void **state)
{
    (void)state;
    const struct backend *const backends[] = {&cpu_backend, &emulated_backend};
    const int indices[] = {0, 0};
    for (int op = OP_SCAN; op <= OP_COMPACT; op++) {
        in_turns(backends, indices, 2, op, false);
        in_turns(backends, indices, 2, op, true);
    }
}

static void two_cpus(void **state)
{
    (void)state;
    const struct backend *const backends[] = {&cpu_backend, &cpu_backend};
    const int indices[] = {0, 0};
    in_turns(backends, indices, 2, OP_COMPACT, true);
}

static void four_emulators(void **state)
{
    (void)state;
    const struct backend *const backends[] = {&emulated_backend, &emulated_backend,
                                              &emulated_backend, &emulated_backend};
    const int indices[] = {2, 0, 3, 1};
    for (int op = OP_SCAN; op <= OP_COMPACT; op++) {
        in_turns(backends, indices, 4, op, false);
        in_turns(backends, indices, 4, op, true);
    }
}

/* One emulator opened twice has two streams and two workspaces. */
static void an_emulator_twice(void **state)
{
    (void)state;
    const struct backend *const backends[] = {&emulated_backend, &emulated_backend};
    const int indices[] = {1, 1};
    in_turns(backends, indices, 2, OP_COMPACT, false);
}

static void there_are_no_more_than_there_are(void **state)
{
    (void)state;
    const char *why;
    struct device_info info;
    struct device_limits limits;
    struct device *device = NULL;
    assert_int_equal(emulated_backend.device_count(&why), MOST_DEVICES);
    assert_string_equal(emulated_backend.open(MOST_DEVICES, 1, &info, &limits, &device),
                        "cannot use the device: invalid device ordinal");
    assert_null(device);
}

/* ---- a failure affects only its own device ---- */

static void launch_too_much(const struct call *call)
{
    struct call too_much = *call;
    too_much.problem.block = 2048;
    algorithm_named(OP_SCAN, "naive", DEVICE_EMULATOR)->run(&too_much);
}

static void a_failure_stays_where_it_was(void **state)
{
    (void)state;
    static const struct algorithm wrong = {.name = "wrong", .run = launch_too_much};
    struct bench bench[2];
    for (int d = 0; d < 2; d++) {
        open_bench(&bench[d], &emulated_backend, d);
        fill(&bench[d], OP_SCAN, TYPE_I32, 1);
    }
    struct device *bad = bench[0].device, *good = bench[1].device;
    const struct trial failing = {.algorithm = &wrong, .call = &bench[0].call};
    const struct trial passing = trial_of(&bench[1]);
    double ms;
    const char *why = take_samples(bad, &failing, &ms, 1);
    assert_non_null(why);
    char reason[sizeof bad->reason];
    strcpy(reason, why);
    assert_null(take_samples(good, &passing, &ms, 1));
    expect_right(&bench[1]);
    assert_string_equal(why, reason); /* it stands until the failed one's next call */
    assert_int_equal(bad->can->recover(bad), DEVICE_USABLE);
    const struct trial again = trial_of(&bench[0]);
    assert_null(take_samples(bad, &again, &ms, 1));
    expect_right(&bench[0]);
    for (int d = 0; d < 2; d++) {
        release(&bench[d]);
        bench[d].device->can->close(bench[d].device);
    }
}

/* Look-back without its first tile, for which all others wait. */
static void wait_for_ever(const struct call *call)
{
    const struct algorithm *lookback = algorithm_named(OP_SCAN, "lookback", DEVICE_EMULATOR);
    lookback->prepare(call);
    *(uint32_t *)call->scratch = 1;
    lookback->run(call);
}

/* A reset frees everything on its device and nothing on the other. */
static void a_reset_is_one_devices_alone(void **state)
{
    (void)state;
    static const struct algorithm wrong = {.name = "wrong", .run = wait_for_ever};
    struct bench bench[2];
    for (int d = 0; d < 2; d++) {
        open_bench(&bench[d], &emulated_backend, d);
        fill(&bench[d], OP_SCAN, TYPE_I32, 1);
    }
    struct device *bad = bench[0].device, *good = bench[1].device;
    struct buffer scratch;
    double ms;
    assert_null(bad->can->allocate(bad, 4 * N, &scratch));
    bench[0].call.scratch = scratch.data;
    bench[0].call.scratch_bytes = scratch.bytes;
    const struct trial failing = {.algorithm = &wrong, .call = &bench[0].call};
    const struct trial passing = trial_of(&bench[1]);
    assert_non_null(strstr(take_samples(bad, &failing, &ms, 1), "deadlock"));
    assert_null(take_samples(good, &passing, &ms, 1));
    assert_int_equal(bad->can->recover(bad), DEVICE_RESET);
    expect_right(&bench[1]);
    assert_int_equal(good->can->recover(good), DEVICE_USABLE);
    assert_null(take_samples(good, &passing, &ms, 1));
    expect_right(&bench[1]);

    fill(&bench[0], OP_COMPACT, TYPE_I32, 2); /* it can be used again */
    const struct trial again = trial_of(&bench[0]);
    assert_null(take_samples(bad, &again, &ms, 1));
    expect_right(&bench[0]);
    for (int d = 0; d < 2; d++) {
        release(&bench[d]);
        bench[d].device->can->close(bench[d].device);
    }
}

/* ---- inputs ---- */

static void every_input_is_the_same_on_every_device(void **state)
{
    (void)state;
    struct bench cpu, emulator;
    struct buffer on_cpu, on_emulator;
    open_bench(&cpu, &cpu_backend, 0);
    open_bench(&emulator, &emulated_backend, 0);
    assert_null(cpu_backend.allocate(cpu.device, N * sizeof(uint64_t), &on_cpu));
    assert_null(emulated_backend.allocate(emulator.device, N * sizeof(uint64_t), &on_emulator));
    for (int op = 0; op < OPERATION_COUNT; op++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int shape = 0; shape <= INPUT_INDICES; shape++) {
                const struct problem problem = {.op = op, .type = type, .n = N};
                const struct input_spec spec = {.shape = shape, .max = 200, .keep = 0.5, .seed = 5};
                const struct input input = make_input(&spec, &problem);
                assert_null(cpu_backend.fill_input(cpu.device, &input, on_cpu.data));
                assert_null(emulated_backend.fill_input(emulator.device, &input, on_emulator.data));
                assert_memory_equal(on_cpu.data, on_emulator.data, N * element_bytes(type));
            }
    cpu_backend.release(cpu.device, &on_cpu);
    emulated_backend.release(emulator.device, &on_emulator);
    cpu_backend.close(cpu.device);
    emulated_backend.close(emulator.device);
}

/* ---- sums ---- */

static void expect_sum(struct device *device, const struct input *input)
{
    uint64_t wanted = 0, got = 1;
    for (uint64_t i = 0; i < input->n; i++)
        wanted = element_add(sum_type(input->type), wanted,
                             element_widen(input->type, input_element(input, i)));
    assert_null(device->can->reduce_input(device, input, &got));
    if (got != wanted)
        fail_msg("type %d, shape %d, n = %llu: %llx, where %llx is right", input->type,
                 input->shape, (unsigned long long)input->n, (unsigned long long)got,
                 (unsigned long long)wanted);
}

/* In floating-point inputs, any run of neighbours has an exact sum. */
static void the_sum_of_an_input(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 511, 512, 513, 3000, 70001};
    static const enum input_shape shapes[] = {INPUT_UNIFORM, INPUT_ONES, INPUT_ALTERNATING,
                                              INPUT_SIGNED};
    static const struct backend *const backends[] = {&cpu_backend, &emulated_backend};
    for (int b = 0; b < 2; b++) {
        struct bench bench;
        open_bench(&bench, backends[b], 0);
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int s = 0; s < 8; s++)
                for (int shape = 0; shape < 4; shape++) {
                    const struct input input = {.op = OP_SCAN,
                                                .type = type,
                                                .shape = shapes[shape],
                                                .n = sizes[s],
                                                .max = 49,
                                                .seed = 7};
                    expect_sum(bench.device, &input);
                }
        bench.device->can->close(bench.device);
    }
}

/* Counting kept elements and summing do not disturb each other. */
static void a_sum_between_count_and_check(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, &emulated_backend, 0);
    fill(&bench, OP_COMPACT, TYPE_I32, 3);
    static struct launch_log log;
    const struct trial trial = trial_of(&bench);
    struct device *device = bench.device;
    double ms;
    uint64_t count, sum;
    int64_t wrong;
    assert_null(device->can->first_call(device, &trial, &log, &ms));
    assert_null(device->can->count_kept(device, &bench.input, &count));
    assert_null(device->can->reduce_input(device, &bench.input, &sum));
    const struct check check = {
        .kind = CHECK_KEPT, .input = bench.input, .array = bench.workspace.output.data};
    assert_null(device->can->first_wrong(device, &check, &wrong));
    assert_int_equal(wrong, NO_INDEX);
    release(&bench);
    device->can->close(device);
}

/* ---- segments ---- */

static struct input with_segments(struct segmentation segments, uint64_t n)
{
    const struct input_spec spec = {
        .shape = INPUT_UNIFORM, .max = 49, .seed = 5, .segments = segments};
    const struct problem problem = {
        .op = OP_REDUCE, .type = TYPE_I32, .n = n, .segments = segments.form};
    return make_input(&spec, &problem);
}

/* Stores the sum of each segment, and returns the last. */
static int32_t *store_sums(const struct input *input, int32_t *sums)
{
    for (uint64_t i = 0; i < input->n; i++) {
        int32_t *sum = &sums[segment_of(input, i)];
        *sum = (begins_segment(input, i) ? 0 : *sum) + (int32_t)input_element(input, i);
    }
    return &sums[segment_count(&input->segments, input->n) - 1];
}

/* Both kinds of device, which share their memory, find the one wrong sum, and none if there is
 * none. A segment may end in another chunk of the check than it begins in. */
static void expect_wrong_sum(const struct bench *benches, const struct input *input,
                             const int32_t *sums, int64_t wanted)
{
    const struct check check = {.kind = CHECK_SUMS, .input = *input, .array = sums};
    for (int b = 0; b < 2; b++) {
        int64_t wrong;
        assert_null(benches[b].device->can->first_wrong(benches[b].device, &check, &wrong));
        if (wrong != wanted)
            fail_msg("device %d, n = %d, lengths %d of %d: segment %d, not %d", b, (int)input->n,
                     input->segments.lengths, (int)input->segments.length, (int)wrong, (int)wanted);
    }
}

static void sums_of_segments(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 511, 512, 513, 3000, 70001};
    static const struct segmentation forms[] = {
        {SEGMENTS_ROWS, LENGTHS_UNIFORM, 1},      {SEGMENTS_ROWS, LENGTHS_UNIFORM, 512},
        {SEGMENTS_ROWS, LENGTHS_UNIFORM, 1000},   {SEGMENTS_OFFSETS, LENGTHS_UNIFORM, 700},
        {SEGMENTS_OFFSETS, LENGTHS_SKEWED, 40},   {SEGMENTS_OFFSETS, LENGTHS_UNIFORM, 3},
        {SEGMENTS_ROWS, LENGTHS_UNIFORM, 100000},
    };
    struct bench benches[2];
    int32_t *sums = malloc(70001 * sizeof *sums);
    assert_non_null(sums);
    open_bench(&benches[0], &cpu_backend, 0);
    open_bench(&benches[1], &emulated_backend, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            const struct input input = with_segments(forms[f], sizes[s]);
            int32_t *last = store_sums(&input, sums);
            expect_wrong_sum(benches, &input, sums, NO_INDEX);
            ++*last;
            expect_wrong_sum(benches, &input, sums, last - sums);
            ++sums[(last - sums) / 2];
            expect_wrong_sum(benches, &input, sums, (last - sums) / 2);
        }
    cpu_backend.close(benches[0].device);
    emulated_backend.close(benches[1].device);
    free(sums);
}

static void second_inputs_are_the_same_on_every_device(void **state)
{
    (void)state;
    enum { WORDS = 5003 };
    static const struct segmentation forms[] = {
        {SEGMENTS_OFFSETS, LENGTHS_UNIFORM, 7},
        {SEGMENTS_OFFSETS, LENGTHS_SKEWED, 7},
        {SEGMENTS_KEYS, LENGTHS_UNIFORM, 7},
        {SEGMENTS_KEYS, LENGTHS_SKEWED, 7},
    };
    static uint64_t on[2][WORDS];
    struct bench benches[2];
    open_bench(&benches[0], &cpu_backend, 0);
    open_bench(&benches[1], &emulated_backend, 0);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const struct input first = with_segments(forms[f], WORDS), second = second_input(&first);
        for (int b = 0; b < 2; b++)
            assert_null(benches[b].device->can->fill_input(benches[b].device, &second, on[b]));
        assert_memory_equal(on[0], on[1], second.n * element_bytes(second.type));
    }
    cpu_backend.close(benches[0].device);
    emulated_backend.close(benches[1].device);
}

int main(void)
{
    emulator_set_device_count(MOST_DEVICES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cpu_and_an_emulator),
        cmocka_unit_test(two_cpus),
        cmocka_unit_test(four_emulators),
        cmocka_unit_test(an_emulator_twice),
        cmocka_unit_test(there_are_no_more_than_there_are),
        cmocka_unit_test(a_failure_stays_where_it_was),
        cmocka_unit_test(a_reset_is_one_devices_alone),
        cmocka_unit_test(every_input_is_the_same_on_every_device),
        cmocka_unit_test(the_sum_of_an_input),
        cmocka_unit_test(a_sum_between_count_and_check),
        cmocka_unit_test(sums_of_segments),
        cmocka_unit_test(second_inputs_are_the_same_on_every_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
