/* sorts_test: the sorts that are written for sorting alone, and one over a scan, in the emulator:
 * every input and every type, keys and pairs, at awkward sizes, on devices of few
 * multiprocessors. Each problem is run RUNS times on the scratch that the run before left. */
#include "../../bench/device/verify.h"
#include "../../bench/names.h"
#include "../../bench/operations.h"
#include "../../bench/registry.h"
#include "../../bench/types.h"
#include "../../emulator/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 2 };

struct bench {
    struct device *device;
    struct device_limits limits;
    struct workspace workspace;
    const struct algorithm *algorithm;
    struct input input;
    struct call call;
    void *kept;
};

static const struct algorithm *sort_named(const char *name)
{
    for (size_t r = 0; r < registry_row_count(); r++) {
        const struct table_row *row = registry_row(r);
        if (row->op == OP_SORT && strcmp(row->name, name) == 0)
            return row->on[DEVICE_EMULATOR];
    }
    return NULL;
}

static void open_bench(struct bench *bench, const char *name, unsigned multiprocessors)
{
    struct device_info info;
    *bench = (struct bench){.algorithm = sort_named(name)};
    assert_non_null(bench->algorithm);
    emulator_set_multiprocessors(multiprocessors);
    assert_null(emulated_backend.open(0, 1, &info, &bench->limits, &bench->device));
    bench->limits.kind = DEVICE_EMULATOR;
}

static void close_bench(struct bench *bench)
{
    bench->device->can->close(bench->device);
    emulator_set_multiprocessors(0);
}

static void allocate(struct bench *bench, const struct problem *problem, size_t scratch)
{
    const struct {
        struct buffer *buffer;
        size_t bytes;
    } all[] = {
        {&bench->workspace.input, problem->n * element_bytes(problem->type)},
        {&bench->workspace.output, problem->n * element_bytes(problem->type)},
        {&bench->workspace.input_values, problem->n * value_bytes(problem->values)},
        {&bench->workspace.output_values, problem->n * value_bytes(problem->values)},
        {&bench->workspace.scratch, scratch},
    };
    bench->workspace = (struct workspace){0};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++)
        if (all[b].bytes > 0 || b < 2)
            assert_null(bench->device->can->allocate(bench->device, all[b].bytes, all[b].buffer));
}

static void release(struct bench *bench)
{
    struct workspace *w = &bench->workspace;
    struct buffer *const all[WORKSPACE_BUFFERS] = {&w->input, &w->output,       &w->scratch,
                                                   &w->count, &w->input_values, &w->output_values};
    if (bench->kept != NULL)
        bench->algorithm->release(&bench->call);
    bench->kept = NULL;
    for (size_t b = 0; b < WORKSPACE_BUFFERS; b++)
        bench->device->can->release(bench->device, all[b]);
}

static void prepare_call(struct bench *bench, const struct problem *problem)
{
    const size_t scratch =
        bench->algorithm->scratch_bytes != NULL ? bench->algorithm->scratch_bytes(problem) : 0;
    struct workspace *w = &bench->workspace;
    allocate(bench, problem, scratch);
    bench->call = (struct call){.problem = *problem,
                                .input = w->input.data,
                                .output = w->output.data,
                                .input_values = w->input_values.data,
                                .output_values = w->output_values.data,
                                .scratch = w->scratch.data,
                                .scratch_bytes = scratch,
                                .kept = &bench->kept};
}

static void expect_shared_memory_suffices(const struct bench *bench, const struct launch_log *log)
{
    for (uint64_t l = 0; l < log->count && l < LAUNCH_LOG_RECORDS; l++) {
        const struct launch_record *launch = &log->record[l];
        assert_in_range(launch->static_shared_bytes + launch->dynamic_shared_bytes, 0,
                        bench->limits.shared_bytes_per_block);
    }
}

static void run_and_check(struct bench *bench, unsigned run)
{
    static struct launch_log log;
    struct device *device = bench->device;
    const struct problem *problem = &bench->call.problem;
    const struct trial trial = {.algorithm = bench->algorithm, .call = &bench->call};
    struct workspace *w = &bench->workspace;
    struct verdict verdict;
    double ms;
    assert_null(device->can->fill_input(device, &bench->input, w->input.data));
    assert_null(device->can->poison(device, &w->output));
    if (problem->values != VALUES_NONE)
        assert_null(device->can->poison(device, &w->output_values));
    const char *why = run == 0 ? device->can->first_call(device, &trial, &log, &ms)
                               : device->can->run_again(device, &trial);
    if (why != NULL)
        fail_msg("%s", why);
    if (run == 0)
        expect_shared_memory_suffices(bench, &log);
    assert_null(verify(device, problem, RESULT_OF_OPERATION, &bench->input, w, &verdict));
    if (!verdict.passed)
        fail_msg("%s, %d multiprocessors, %s, %s, %d bytes of values, n = %d, run %u: %s",
                 bench->algorithm->name, bench->limits.multiprocessors, type_name(problem->type),
                 input_shape_name(bench->input.shape), (int)value_bytes(problem->values),
                 (int)problem->n, run + 1, verdict.reason);
}

/* Sorts one input, and another on the scratch that the first left; not if it is not supported. */
static bool sorts(struct bench *bench, enum element_type type, enum value_type values,
                  enum input_shape shape, uint64_t n)
{
    const struct problem problem = {
        .op = OP_SORT,
        .type = type,
        .values = values,
        .stable = (bench->algorithm->traits & TRAIT_STABLE) != 0,
        .n = n,
        .block = bench->algorithm->traits & TRAIT_HAS_BLOCK ? 64 : 0,
        .max_time_ms = 1e9,
        .scan = bench->algorithm->over,
        .device = &bench->limits,
    };
    const uint64_t most = largest_value(type);
    const struct input_spec spec = {
        .shape = shape, .max = most < INT32_MAX ? most : INT32_MAX, .keep = 0.5, .seed = n};
    const struct input indices = index_input(values, n);
    bench->input = make_input(&spec, &problem);
    if (why_unsupported(bench->algorithm, &problem) != NULL ||
        input_unsuited(&bench->input) != NULL)
        return false;
    prepare_call(bench, &problem);
    if (values != VALUES_NONE)
        assert_null(bench->device->can->fill_input(bench->device, &indices,
                                                   bench->workspace.input_values.data));
    for (unsigned run = 0; run < RUNS; run++) {
        run_and_check(bench, run);
        bench->input = other_input(&bench->input);
    }
    release(bench);
    return true;
}

/* Half of the types for each input, and each type with half of the inputs. Sizes, kinds of values,
 * and devices of 1 and of 3 multiprocessors take turns. */
static void sort_every_input(const char *name, const uint64_t *sizes, size_t size_count)
{
    struct bench bench;
    size_t turn = 0, pairs = 0;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        open_bench(&bench, name, shape % 2 == 0 ? 1 : 3);
        for (int type = 0; type < TYPE_COUNT; type++, turn++)
            if (operation_takes(OP_SORT, type) && (shape + type) % 2 == 0) {
                const enum value_type values = turn % VALUE_TYPE_COUNT;
                pairs += sorts(&bench, type, values, shape, sizes[turn % size_count]) &&
                         values != VALUES_NONE;
            }
        close_bench(&bench);
    }
    assert_true(pairs > 25 || !(bench.algorithm->traits & TRAIT_PAIRS));
}

static void every_input_and_every_type(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 33, 640, 1023, 2049};
    static const uint64_t few[] = {1, 2, 33, 65};
    sort_every_input("onesweep", sizes, 5);
    sort_every_input("msd", sizes, 5);
    sort_every_input("four-bits", few, 4);
    sort_every_input("efficient-smem", few, 4);
}

/* Around tiles of onesweep, of 2048 to 12288 keys by n, and of four-bits, and around the largest
 * array that msd sorts in one block. */
static void awkward_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t n;
        enum value_type values;
    } cases[] = {
        {"onesweep", 0, VALUES_U32},      {"onesweep", 1, VALUES_U64},
        {"onesweep", 2049, VALUES_U32},   {"onesweep", 4096, VALUES_NONE},
        {"onesweep", 8193, VALUES_U64},   {"onesweep", 16385, VALUES_U64},
        {"onesweep", 20481, VALUES_NONE}, {"onesweep", 24577, VALUES_U32},
        {"four-bits", 1025, VALUES_U64},  {"four-bits", 5003, VALUES_NONE},
        {"msd", 0, VALUES_NONE},          {"msd", 16384, VALUES_NONE},
        {"msd", 16385, VALUES_NONE},      {"msd", 30723, VALUES_NONE},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench bench;
        open_bench(&bench, cases[c].name, 2);
        assert_true(sorts(&bench, TYPE_I32, cases[c].values, INPUT_SIGNED, cases[c].n));
        close_bench(&bench);
    }
}

/* That of GPUs of compute capability 7.5, 8.6 and 8.0. */
static void little_shared_memory(void **state)
{
    (void)state;
    static const size_t shared_kib[] = {64, 99, 163};
    for (size_t s = 0; s < sizeof shared_kib / sizeof *shared_kib; s++)
        for (int values = 0; values < VALUE_TYPE_COUNT; values++) {
            struct bench bench;
            open_bench(&bench, "onesweep", 1);
            bench.limits.shared_bytes_per_block = shared_kib[s] << 10;
            const enum element_type type = (s + values) % 2 == 0 ? TYPE_F64 : TYPE_I32;
            assert_true(sorts(&bench, type, values, INPUT_SIGNED, 8193));
            close_bench(&bench);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_and_every_type),
        cmocka_unit_test(awkward_sizes),
        cmocka_unit_test(little_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
