/* team_test: emulated devices that share an array, and whether each kind of damage to their result
 * is found: within a slice, across a seam, in the place of a part, in the keys of all together. */
#include "../../bench/device/team.h"
#include "../../bench/registry.h"
#include "../../emulator/emulator.h"
#include "../../bench/device/input_elements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"

enum { MEMBERS = 3, N = 3001 };

static unsigned team_size = MEMBERS;

static const struct table_row *row_named(enum operation op, const char *name)
{
    for (size_t r = 0; r < table_row_count(); r++)
        if (table_row(r)->op == op && strcmp(table_row(r)->name, name) == 0)
            return table_row(r);
    fail_msg("no row %s", name);
    return NULL;
}

static void allocate(struct bench *bench)
{
    struct device *device = bench->device;
    struct workspace *w = &bench->workspace;
    const uint64_t n = bench->problem.n;
    struct problem slice = bench->problem;
    slice.n = longest_slice(n, team_size);
    const size_t scratch = next_place(bench->algorithm->scratch_bytes(&slice)) +
                           bench->algorithm->engine->scratch_bytes(&slice);
    const size_t bytes = element_bytes(bench->problem.type);
    assert_null(device->can->allocate_slices(device, n, bytes, &w->input));
    assert_null(device->can->allocate_slices(device, n, bytes, &w->output));
    assert_null(device->can->allocate(device, scratch, &w->scratch));
    assert_null(device->can->allocate(device, 2 * sizeof(uint64_t), &w->count));
    assert_null(device->can->fill_input(device, &bench->input, w->input.data));
    assert_null(device->can->poison(device, &w->output));
    bench->call = (struct call){.problem = bench->problem,
                                .input = w->input.data,
                                .output = w->output.data,
                                .count = w->count.data,
                                .scratch = w->scratch.data,
                                .scratch_bytes = scratch};
}

/* Opens the team, and fills the input. */
static void open_on(struct bench *bench, enum operation op, const char *local,
                    enum element_type type, uint64_t n, const struct input_spec *spec)
{
    *bench = (struct bench){.algorithm = row_named(op, "slices")->by[ENGINE_PEER][DEVICE_EMULATOR]};
    assert_null(open_team(&emulated_backend, 0, team_size, 1, &bench->info, &bench->limits,
                          &bench->device));
    bench->limits.kind = DEVICE_EMULATOR;
    bench->limits.name = bench->info.name;
    bench->problem = (struct problem){
        .op = op,
        .type = type,
        .n = n,
        .whole_n = n,
        .block = 64,
        .algorithm = bench->algorithm,
        .local = row_named(op, local)->on[DEVICE_EMULATOR],
        .device = &bench->limits,
    };
    bench->input = make_input(spec, &bench->problem);
    allocate(bench);
}

static struct launch_log log; /* the first member's, in the latest call */

static void call(struct bench *bench)
{
    double ms;
    const struct trial trial = {.algorithm = bench->algorithm, .call = &bench->call};
    assert_null(bench->device->can->first_call(bench->device, &trial, &log, &ms));
    assert_true(log.count > 0);
}

static void call_again(struct bench *bench)
{
    const struct trial trial = {.algorithm = bench->algorithm, .call = &bench->call};
    assert_null(bench->device->can->poison(bench->device, &bench->workspace.output));
    assert_null(bench->device->can->run_again(bench->device, &trial));
}

static bool was_launched(const char *kernel)
{
    for (unsigned r = 0; r < log.count; r++)
        if (strcmp(log.record[r].kernel, kernel) == 0)
            return true;
    return false;
}

static void run(struct bench *bench, enum operation op, const char *local, enum element_type type,
                uint64_t n)
{
    const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = 1000, .keep = 0.5, .seed = 7};
    open_on(bench, op, local, type, n, &spec);
    call(bench);
}

static int32_t *output_of(const struct bench *bench, unsigned member)
{
    return slices_of(&bench->workspace.output)->of[member].data;
}

static void finish(struct bench *bench)
{
    struct device *device = bench->device;
    struct workspace *w = &bench->workspace;
    struct buffer *const buffers[] = {&w->input, &w->output, &w->scratch, &w->count};
    for (int b = 0; b < 4; b++)
        device->can->release(device, buffers[b]);
    device->can->close(device);
}

static void a_scan_goes_on_across_seams(void **state)
{
    (void)state;
    struct bench bench;
    run(&bench, OP_SCAN, "lookback", TYPE_I32, N);
    expect_right(&bench);
    for (unsigned member = 0; member < MEMBERS; member++) {
        const uint64_t n = slice_start(N, MEMBERS, member + 1) - slice_start(N, MEMBERS, member);
        char reason[32];
        snprintf(reason, sizeof reason, "slice %u: output[0]", member);
        for (uint64_t i = 0; i < n; i++) /* right within, but from the wrong start */
            output_of(&bench, member)[i]++;
        expect_wrong(&bench, reason);
        for (uint64_t i = 0; i < n; i++)
            output_of(&bench, member)[i]--;
        output_of(&bench, member)[n - 1]++;
        snprintf(reason, sizeof reason, "slice %u: output[%d]", member, (int)n - 1);
        expect_wrong(&bench, reason);
        output_of(&bench, member)[n - 1]--;
    }
    expect_right(&bench);
    finish(&bench);
}

static void a_part_knows_its_place(void **state)
{
    (void)state;
    struct bench bench;
    run(&bench, OP_COMPACT, "lookback", TYPE_I32, N);
    expect_right(&bench);
    for (unsigned member = 0; member < MEMBERS; member++) {
        uint64_t *count = slices_of(&bench.workspace.count)->of[member].data;
        count[1]++;
        expect_wrong(&bench, "place: got");
        count[1]--;
        count[0]++;
        expect_wrong(&bench, "count: got");
        count[0]--;
        output_of(&bench, member)[count[0] - 1]++;
        expect_wrong(&bench, "output[");
        output_of(&bench, member)[count[0] - 1]--;
    }
    expect_right(&bench);
    finish(&bench);
}

static void a_sort_is_one_of_all_slices(void **state)
{
    (void)state;
    struct bench bench;
    run(&bench, OP_SORT, "onesweep", TYPE_I32, N);
    expect_right(&bench);
    /* In order within every slice, but not from the first to the second. */
    int32_t *first = output_of(&bench, 0), *second = output_of(&bench, 1);
    const int32_t least = second[0];
    second[0] = first[slice_start(N, MEMBERS, 1) - 1] - 1;
    expect_wrong(&bench, "slice 1: output[0]");
    second[0] = least;
    /* In order, with one key twice and another lost. */
    int32_t *third = output_of(&bench, 2);
    assert_true(third[0] < third[300]);
    third[0] = second[slice_start(N, MEMBERS, 2) - slice_start(N, MEMBERS, 1) - 1];
    for (int i = 1; i < 300; i++)
        third[i] = third[300];
    expect_wrong(&bench, "not a permutation");
    finish(&bench);
}

/* Of every device; 0: as by default. Opening a device makes it the current one, which a setting is
 * for. */
static void set_devices(unsigned multiprocessors, unsigned shared_bytes)
{
    for (int m = 0; m < MEMBERS; m++) {
        struct device_info info;
        struct device_limits limits;
        struct device *device;
        assert_null(emulated_backend.open(m, 1, &info, &limits, &device));
        emulator_set_multiprocessors(multiprocessors);
        emulator_set_shared_bytes(shared_bytes);
        device->can->close(device);
    }
}

/* The first slice is the longest, and the local sort needs less scratch for it than for the others:
 * its tiles, or leaves, are larger from there on. */
static void the_longest_slice_needs_least_scratch(void **state)
{
    (void)state;
    static const struct {
        const char *local;
        enum element_type type;
        unsigned multiprocessors;
        uint64_t longest;
    } cases[] = {
        {"onesweep", TYPE_I32, 8, 8 * 1024 + 1},
        {"onesweep", TYPE_I32, 3, 3 * 4096 + 1},
        {"onesweep", TYPE_I32, 6, 6 * 8192 + 1},
        {"msd", TYPE_I32, 9, 9 * 2048 + 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench bench;
        set_devices(cases[c].multiprocessors, 0);
        run(&bench, OP_SORT, cases[c].local, cases[c].type, MEMBERS * (cases[c].longest - 1) + 1);
        struct problem slice = bench.problem;
        slice.n = cases[c].longest;
        const size_t bytes = slice.local->scratch_bytes(&slice);
        slice.n--;
        assert_true(slice.local->scratch_bytes(&slice) > bytes);
        expect_right(&bench);
        finish(&bench);
    }
    set_devices(0, 0);
}

/* With one multiprocessor, slices of 256 KiB are sent by parts. Those of 1 MiB are sampled before
 * their cuts are found, and come in two batches, the second of which is copied; so do those of two
 * members. With two multiprocessors, two blocks claim places in a part. */
static void long_slices_are_sent_by_parts(void **state)
{
    (void)state;
    enum { PARTED = MEMBERS * 66003, LONG = MEMBERS * 270001 };
    static const struct {
        const char *local;
        enum element_type type;
        enum input_shape shape;
        uint64_t max, n;
        unsigned shared_bytes, multiprocessors, members; /* 0: all, 1, MEMBERS */
    } cases[] = {
        {"adaptive", TYPE_U32, INPUT_UNIFORM, UINT32_MAX, PARTED, 0},
        {"msd", TYPE_I32, INPUT_SIGNED, INT32_MAX, PARTED, 0},
        {"msd", TYPE_U32, INPUT_UNIFORM, 1500000000, PARTED, 0},
        {"adaptive", TYPE_U64, INPUT_UNIFORM, UINT64_MAX, PARTED, 0},
        {"adaptive", TYPE_F32, INPUT_NORMAL, 1 << 23, PARTED, 0},
        {"msd", TYPE_F64, INPUT_SIGNED, 1 << 23, PARTED, 0},
        {"msd", TYPE_U32, INPUT_ZIPF, 1 << 20, PARTED, 0},
        {"adaptive", TYPE_U32, INPUT_FEW, UINT32_MAX, PARTED, 0},
        {"onesweep", TYPE_U32, INPUT_UNIFORM, UINT32_MAX, PARTED, 64 << 10},
        {"msd", TYPE_U32, INPUT_UNIFORM, UINT32_MAX, 2 * PARTED, 0, 2},
        {"msd", TYPE_U32, INPUT_UNIFORM, UINT32_MAX, LONG, 0},
        {"msd", TYPE_U32, INPUT_SORTED, UINT32_MAX, LONG, 0},
        {"msd", TYPE_U32, INPUT_ALTERNATING, 1 << 20, LONG, 0},
        {"adaptive", TYPE_U32, INPUT_ZIPF, 1 << 20, LONG, 0},
        {"adaptive", TYPE_F32, INPUT_SIGNED, 1 << 23, LONG, 0},
        {"onesweep", TYPE_I64, INPUT_FEW, INT32_MAX, LONG, 64 << 10},
        {"msd", TYPE_U32, INPUT_UNIFORM, UINT32_MAX, LONG, 0, 1, 2},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct input_spec spec = {.shape = cases[c].shape, .max = cases[c].max, .seed = 11};
        struct bench bench;
        set_devices(cases[c].multiprocessors > 0 ? cases[c].multiprocessors : 1,
                    cases[c].shared_bytes);
        team_size = cases[c].members > 0 ? cases[c].members : MEMBERS;
        open_on(&bench, OP_SORT, cases[c].local, cases[c].type, cases[c].n, &spec);
        call(&bench);
        expect_right(&bench);
        assert_int_equal(was_launched("copy_runs_kernel"), cases[c].n == LONG);
        const bool is_repeated =
            cases[c].n < LONG || cases[c].members > 0 || getenv("LONG") != NULL;
        if (is_repeated && (cases[c].shape == INPUT_UNIFORM || cases[c].shape == INPUT_NORMAL)) {
            call_again(&bench);
            expect_right(&bench);
        }
        finish(&bench);
    }
    team_size = MEMBERS;
    set_devices(0, 0);
}

static int compare_keys(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

/* Each slice rises from the least key to the greatest. The sample is of keys in a few places,
 * between which the cuts lie. */
static void a_sample_that_misleads(void **state)
{
    (void)state;
    enum { SLICE = 270341 };
    static uint32_t all[MEMBERS * SLICE];
    const struct input_spec spec = {.shape = INPUT_ZEROS, .max = UINT32_MAX, .seed = 1};
    struct bench bench;
    set_devices(1, 0);
    open_on(&bench, OP_SORT, "msd", TYPE_U32, MEMBERS * SLICE, &spec);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        uint32_t *slice = slices_of(&bench.workspace.input)->of[m].data;
        for (uint32_t i = 0; i < SLICE; i++)
            all[m * SLICE + i] = slice[i] = i * (UINT32_MAX / SLICE) + i * (m + 1) * 7919 % 13000;
    }
    call(&bench);
    qsort(all, MEMBERS * SLICE, sizeof *all, compare_keys);
    for (unsigned m = 0; m < MEMBERS; m++)
        assert_memory_equal(output_of(&bench, m), all + m * SLICE, SLICE * sizeof *all);
    finish(&bench);
    set_devices(0, 0);
}

static void slices_are_those_of_the_whole_input(void **state)
{
    (void)state;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        const struct input_spec spec = {.shape = shape, .max = 49, .keep = 0.5, .seed = 3};
        const struct problem problem = {.op = OP_SCAN, .type = TYPE_I32, .n = 100};
        const struct input whole = make_input(&spec, &problem);
        const struct input slice = input_slice(&whole, 40, 73);
        const struct input inner = input_slice(&slice, 10, 20);
        assert_int_equal(slice.n, 33);
        for (uint64_t i = 0; i < 33; i++)
            assert_int_equal(input_element(&slice, i), input_element(&whole, 40 + i));
        for (uint64_t i = 0; i < 10; i++)
            assert_int_equal(input_element(&inner, i), input_element(&whole, 50 + i));
    }
}

static void without_peer_access_there_is_a_reason(void **state)
{
    (void)state;
    struct device_info info;
    struct device_limits limits;
    struct device *device;
    emulator_set_device_count(0);
    emulator_set_device_count(MEMBERS); /* without access from earlier tests */
    emulator_set_peer_access(false);
    assert_null(open_team(&emulated_backend, 0, MEMBERS, 1, &info, &limits, &device));
    const struct problem problem = {.op = OP_SCAN, .n = 1, .device = &limits};
    const char *why =
        row_named(OP_SCAN, "slices")->by[ENGINE_PEER][DEVICE_EMULATOR]->supports(&problem);
    assert_non_null(why);
    assert_non_null(strstr(why, "device 0 cannot use the memory of device 1"));
    device->can->close(device);
    emulator_set_peer_access(true);
    assert_null(open_team(&emulated_backend, 0, MEMBERS, 1, &info, &limits, &device));
    assert_null(row_named(OP_SCAN, "slices")->by[ENGINE_PEER][DEVICE_EMULATOR]->supports(&problem));
    device->can->close(device);
}

static void a_team_larger_than_the_machine(void **state)
{
    (void)state;
    struct device_info info;
    struct device_limits limits;
    struct device *device;
    const char *why = open_team(&emulated_backend, 0, MEMBERS + 1, 1, &info, &limits, &device);
    assert_non_null(why);
    assert_non_null(strstr(why, "device 3 of the team"));
}

int main(void)
{
    emulator_set_device_count(MEMBERS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_goes_on_across_seams),
        cmocka_unit_test(a_part_knows_its_place),
        cmocka_unit_test(a_sort_is_one_of_all_slices),
        cmocka_unit_test(the_longest_slice_needs_least_scratch),
        cmocka_unit_test(long_slices_are_sent_by_parts),
        cmocka_unit_test(a_sample_that_misleads),
        cmocka_unit_test(slices_are_those_of_the_whole_input),
        cmocka_unit_test(without_peer_access_there_is_a_reason),
        cmocka_unit_test(a_team_larger_than_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
