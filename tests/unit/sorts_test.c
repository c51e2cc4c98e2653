/* sorts_test: the sorts that are written for sorting alone, and one over a scan, in the emulator:
 * every input and every type, keys and pairs, at awkward sizes, on devices of few
 * multiprocessors. Each problem is run RUNS times on the scratch that the run before left. */
#include "../../bench/device/verify.h"
#include "../../timing/memory_counts.h"
#include "../../bench/names.h"
#include "../../bench/operations.h"
#include "../../bench/registry.h"
#include "../../bench/types.h"
#include "../../emulator/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench.h"

enum { RUNS = 2 };

static const struct algorithm *sort_named(const char *name)
{
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
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
    struct buffer *const all[WORKSPACE_BUFFERS] = {&w->input,        &w->output, &w->scratch,
                                                   &w->count,        &w->second, &w->input_values,
                                                   &w->output_values};
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

/* Half of the types for each input, and each type with half of the inputs; a quarter if not LONG.
 * Sizes, kinds of values, and devices of 1 and of 3 multiprocessors take turns. */
static void sort_every_input(const char *name, const uint64_t *sizes, size_t size_count)
{
    struct bench bench;
    size_t turn = 0, pairs = 0;
    const int step = getenv("LONG") != NULL ? 2 : 4;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        open_bench(&bench, name, shape % 2 == 0 ? 1 : 3);
        for (int type = 0; type < TYPE_COUNT; type++, turn++)
            if ((shape + type) % step == 0) {
                const enum value_type values = turn % VALUE_TYPE_COUNT;
                pairs += sorts(&bench, type, values, shape, sizes[turn % size_count]) &&
                         values != VALUES_NONE;
            }
        close_bench(&bench);
    }
    assert_true(pairs > 50u / (unsigned)step || !(bench.algorithm->traits & TRAIT_PAIRS));
}

static void every_input_and_every_type(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 33, 640, 1023, 2049};
    static const uint64_t few[] = {1, 2, 33, 65};
    static const uint64_t many[] = {8192, 8193, 10001};
    static const uint64_t around_a_sample[] = {33, 1023, 1025, 640, 2049};
    sort_every_input("onesweep", sizes, 5);
    sort_every_input("msd", sizes, 5);
    sort_every_input("stable-msd", around_a_sample, 5);
    sort_every_input("sample", many, 3);
    sort_every_input("four-bits", few, 4);
    sort_every_input("one-block", sizes, 5);
    sort_every_input("enumeration", sizes, 5);
    sort_every_input("efficient-smem", few, 4);
}

/* Around tiles of onesweep, of 2048 to 12288 keys by n, of four-bits, and of stable-msd, of 6144 or
 * 7680 pairs, around the largest arrays that are sorted in one block, and where sample has two
 * tiles per block. */
static void awkward_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t n;
        enum value_type values;
    } cases[] = {
        {"onesweep", 0, VALUES_U32},       {"onesweep", 1, VALUES_U64},
        {"onesweep", 2049, VALUES_U32},    {"onesweep", 4096, VALUES_NONE},
        {"onesweep", 8193, VALUES_U64},    {"onesweep", 16385, VALUES_U64},
        {"onesweep", 20481, VALUES_NONE},  {"onesweep", 24577, VALUES_U32},
        {"four-bits", 1025, VALUES_U64},   {"four-bits", 5003, VALUES_NONE},
        {"one-block", 0, VALUES_U32},      {"one-block", 1, VALUES_U64},
        {"one-block", 8192, VALUES_U64},   {"one-block", 16383, VALUES_NONE},
        {"one-block", 8191, VALUES_U32},   {"one-block", 16384, VALUES_NONE},
        {"enumeration", 0, VALUES_U64},    {"enumeration", 1, VALUES_U32},
        {"enumeration", 257, VALUES_NONE}, {"enumeration", 4097, VALUES_U64},
        {"enumeration", 8192, VALUES_U32}, {"enumeration", 8193, VALUES_NONE},
        {"msd", 0, VALUES_NONE},           {"msd", 16384, VALUES_NONE},
        {"msd", 16385, VALUES_NONE},       {"msd", 30723, VALUES_NONE},
        {"sample", 8192, VALUES_NONE},     {"sample", 33793, VALUES_NONE},
        {"adaptive", 0, VALUES_NONE},      {"adaptive", 16385, VALUES_NONE},
        {"stable-msd", 0, VALUES_U32},     {"stable-msd", 1, VALUES_U64},
        {"stable-msd", 8192, VALUES_U64},  {"stable-msd", 8193, VALUES_U32},
        {"stable-msd", 12288, VALUES_U64}, {"stable-msd", 15361, VALUES_U32},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench bench;
        open_bench(&bench, cases[c].name, 2);
        assert_true(sorts(&bench, TYPE_I32, cases[c].values, INPUT_SIGNED, cases[c].n));
        close_bench(&bench);
    }
}

/* All sizes from the least to the largest, on small and large GPUs, and none below. Nothing is run.
 */
static void sample_takes_its_sizes(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, "sample", 1);
    for (int multiprocessors = 1; multiprocessors < 200; multiprocessors += 7)
        for (uint64_t n = 8192; n <= 1 << 21; n += n / 29) {
            bench.limits.multiprocessors = multiprocessors;
            const struct problem problem = {.op = OP_SORT,
                                            .type = n <= 1 << 19 ? TYPE_U64 : TYPE_U32,
                                            .n = n,
                                            .device = &bench.limits};
            const char *why = why_unsupported(bench.algorithm, &problem);
            if (why != NULL)
                fail_msg("%d keys, %d multiprocessors: %s", (int)n, multiprocessors, why);
        }
    for (uint64_t n = 0; n < 8192; n = 2 * n + 1) {
        const struct problem problem = {
            .op = OP_SORT, .type = TYPE_F32, .n = n, .device = &bench.limits};
        assert_string_equal(why_unsupported(bench.algorithm, &problem),
                            "sorts at least 8192 keys: msd sorts fewer");
        assert_int_equal(bench.algorithm->scratch_bytes(&problem), 0);
    }
    close_bench(&bench);
}

/* Beside arrays of keys and of values, onesweep needs 32 MiB or a 64th of the pairs' bytes, and its
 * plan. Nothing is run. */
static void scratch_of_pairs(void **state)
{
    (void)state;
    enum { PLAN = 64 << 10 };
    struct bench bench;
    open_bench(&bench, "onesweep", 1);
    bench.limits.multiprocessors = 132;
    for (uint64_t n = 1ull << 20; n <= 1ull << 33; n = n / 2 * 3)
        for (int values = VALUES_U32; values <= VALUES_U64; values++) {
            const struct problem problem = {
                .op = OP_SORT, .type = TYPE_U32, .values = values, .n = n, .device = &bench.limits};
            const uint64_t bytes = n * (sizeof(uint32_t) + value_bytes(problem.values));
            const uint64_t statuses = bytes / 64 > 32 << 20 ? bytes / 64 : 32 << 20;
            assert_null(why_unsupported(bench.algorithm, &problem));
            assert_in_range(bench.algorithm->scratch_bytes(&problem), bytes,
                            bytes + statuses + PLAN);
        }
    close_bench(&bench);
}

/* msd, and adaptive with it, sort up to 2^32-1 keys. Beside an array of keys they need 32 MiB or a
 * 64th of the keys' bytes. Nothing is run. */
static void most_keys_and_scratch(void **state)
{
    (void)state;
    static const char *const names[] = {"msd", "adaptive"};
    static const enum element_type types[] = {TYPE_U32, TYPE_F32, TYPE_I64, TYPE_F64};
    static const uint64_t sizes[] = {1ull << 28,       (1ull << 29) + 1, 1ull << 30,
                                     (1ull << 31) + 7, UINT32_MAX,       1ull << 32};
    for (int name = 0; name < 2; name++) {
        struct bench bench;
        open_bench(&bench, names[name], 1);
        bench.limits.multiprocessors = 132;
        for (int type = 0; type < 4; type++)
            for (int size = 0; size < 6; size++) {
                const struct problem problem = {
                    .op = OP_SORT, .type = types[type], .n = sizes[size], .device = &bench.limits};
                const uint64_t bytes = problem.n * element_bytes(problem.type);
                const uint64_t lists = bytes / 64 > 32 << 20 ? bytes / 64 : 32 << 20;
                const char *why = why_unsupported(bench.algorithm, &problem);
                if (problem.n > UINT32_MAX)
                    assert_string_equal(why, "sorts at most 2^32-1 keys: onesweep sorts more");
                else
                    assert_null(why);
                assert_in_range(bench.algorithm->scratch_bytes(&problem), bytes, bytes + lists);
            }
        close_bench(&bench);
    }
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* What msd or sample and what onesweep sorts: keys that fill their type, and skewed keys. The
 * larger arrays go to sample first. */
static void either_of_adaptive(void **state)
{
    (void)state;
    if (getenv("LONG") == NULL)
        skip();
    static const enum input_shape shapes[] = {INPUT_UNIFORM, INPUT_AND_4, INPUT_FEW};
    struct bench bench;
    open_bench(&bench, "adaptive", 2);
    for (int shape = 0; shape < 3; shape++) {
        assert_true(sorts(&bench, TYPE_I32, VALUES_NONE, shapes[shape], 20001));
        assert_true(sorts(&bench, TYPE_F64, VALUES_NONE, shapes[shape], 9001));
        assert_true(sorts(&bench, TYPE_U32, VALUES_NONE, shapes[shape], (1 << 18) + 1));
        assert_true(sorts(&bench, TYPE_F64, VALUES_NONE, shapes[shape], (1 << 17) + 1));
    }
    close_bench(&bench);
}

enum { MOST_CHOSEN = 300007, CHOSEN_RUNS = 4 };

/* Where key k of a sample comes from, if there is one from each `part` keys. */
static uint32_t place_in_sample(uint32_t k, uint32_t part)
{
    return k * part + (uint32_t)((uint64_t)((k + 1) * 0x9E3779B9u) * part >> 32);
}

/* The keys that sample looks at are spread, and all others lie between two of them: more than a
 * bucket has capacity for. Their bits are in the order of both u32 and f32. */
static void choose_keys(uint32_t *keys, uint32_t n, uint32_t sample_size, unsigned run)
{
    const uint32_t part = n / sample_size, step = 0x80000000u / sample_size;
    (void)run;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = 5 * step + 1 + i;
    for (uint32_t k = 0; k < sample_size; k++)
        keys[place_in_sample(k, part)] = k * step;
}

/* Keys that choose(keys, n, sample_size, run) writes for each run. */
struct chosen_keys {
    void (*choose)(uint32_t *keys, uint32_t n, uint32_t sample_size, unsigned run);
    enum element_type type;
    uint32_t n, sample_size;
};

static void sort_chosen(const char *algorithm, int multiprocessors, const struct chosen_keys *keys)
{
    static uint32_t expected[MOST_CHOSEN];
    static struct launch_log log;
    struct bench bench;
    open_bench(&bench, algorithm, multiprocessors);
    const struct problem problem = {
        .op = OP_SORT, .type = keys->type, .n = keys->n, .device = &bench.limits};
    prepare_call(&bench, &problem);
    const struct trial trial = {.algorithm = bench.algorithm, .call = &bench.call};
    for (unsigned run = 0; run < CHOSEN_RUNS; run++) {
        double ms;
        keys->choose(expected, keys->n, keys->sample_size, run);
        memcpy(bench.workspace.input.data, expected, keys->n * sizeof *expected);
        qsort(expected, keys->n, sizeof *expected, compare_u32);
        assert_null(bench.device->can->poison(bench.device, &bench.workspace.output));
        assert_null(run == 0 ? bench.device->can->first_call(bench.device, &trial, &log, &ms)
                             : bench.device->can->run_again(bench.device, &trial));
        assert_memory_equal(bench.workspace.output.data, expected, keys->n * sizeof *expected);
    }
    release(&bench);
    close_bench(&bench);
}

static void keys_against_the_sample(void **state)
{
    (void)state;
    static const struct chosen_keys cases[] = {{choose_keys, TYPE_U32, 20001, 256},
                                               {choose_keys, TYPE_F32, 20001, 256},
                                               {choose_keys, TYPE_U32, MOST_CHOSEN, 2048}};
    for (int c = 0; c < 3; c++)
        sort_chosen("sample", 1, &cases[c]);
}

/* Writes keys of few values, evenly spaced or, all but one, side by side. In all runs but the
 * second, one key that is not in the sample has another value: above all of them, between two, and
 * the highest that there is. */
static void choose_few(uint32_t *keys, uint32_t n, uint32_t sample_size, uint32_t values,
                       uint32_t step, unsigned run)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t value = (uint64_t)(i * 0x9E3779B9u) * values >> 32;
        keys[i] = value + 1 == values ? 0xF0000000u : value * step;
    }
    static const uint32_t missed[CHOSEN_RUNS] = {0xF8000000u, 0, 1u << 25, UINT32_MAX};
    uint32_t place = n / 2; /* that no key of the sample has */
    for (uint32_t k = 0; k < sample_size; k++)
        place += place_in_sample(k, n / sample_size) == place;
    if (run != 1)
        keys[place] = missed[run];
}

static void choose_few_apart(uint32_t *keys, uint32_t n, uint32_t sample_size, unsigned run)
{
    choose_few(keys, n, sample_size, 31, 1 << 26, run);
}

static void choose_few_together(uint32_t *keys, uint32_t n, uint32_t sample_size, unsigned run)
{
    choose_few(keys, n, sample_size, 6, 1, run);
}

/* msd counts keys of few values by value, until one has a value that the sample has not: then it
 * goes on in another way, and adaptive leaves those that lie together to onesweep. */
static void values_that_the_sample_misses(void **state)
{
    (void)state;
    static const char *const names[] = {"msd", "adaptive"};
    static const struct chosen_keys cases[] = {{choose_few_apart, TYPE_U32, 40001, 1024},
                                               {choose_few_together, TYPE_U32, 40001, 1024}};
    for (int name = 0; name < 2; name++)
        for (int multiprocessors = 1; multiprocessors <= 12; multiprocessors += 11)
            for (int c = 0; c < 2; c++)
                sort_chosen(names[name], multiprocessors, &cases[c]);
}

/* Keys that are evenly spread among the 2^22 from 2^30 on, except some that are not in the sample:
 * one just above, one far below, one at either end, or a fifth below and 200 above. */
static void choose_some_outside(uint32_t *keys, uint32_t n, uint32_t sample_size, unsigned run)
{
    const uint32_t below[CHOSEN_RUNS] = {0, 1, 1, n / 5}, above[CHOSEN_RUNS] = {1, 0, 1, 200};
    const uint32_t part = n / sample_size, low = 1u << 30, end = low + (1u << 22);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = low + ((uint32_t)(i * 0x9E3779B9u) >> 10);
    uint32_t place = n / 7;
    for (uint32_t o = 0; o < below[run] + above[run]; o++, place += 2) {
        place += place_in_sample(place / part, part) == place;
        keys[place] = o < below[run] ? 7 * o : run == 0 ? end : INT32_MAX - 7 * o;
    }
}

/* Their bits are in the order of u32, i32 and f32. The steps are launches of their own, or one does
 * all. */
static void keys_outside_the_sample(void **state)
{
    (void)state;
    static const enum element_type types[] = {TYPE_U32, TYPE_I32, TYPE_F32};
    for (int multiprocessors = 1; multiprocessors <= 12; multiprocessors += 11)
        for (int t = 0; t < 3; t++) {
            const struct chosen_keys keys = {choose_some_outside, types[t], 40001, 1024};
            sort_chosen("msd", multiprocessors, &keys);
        }
}

/* On a device of some multiprocessors: more keys than one block sorts, and fewer than msd sorts in
 * launches of their own for its steps. */
static void msd_in_one_launch(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {16387, 20001, 22501};
    static const enum input_shape skewed[] = {INPUT_UNIFORM, INPUT_AND_4};
    struct bench bench;
    size_t turn = 0, sorted = 0;
    const int step = getenv("LONG") != NULL ? 1 : 6;
    open_bench(&bench, "msd", 12);
    for (int shape = 0; shape < 2; shape++) /* twice as many keys per thread */
        sorted += sorts(&bench, TYPE_U32, VALUES_NONE, skewed[shape], 30001 + 15000 * shape);
    sorted += sorts(&bench, TYPE_F64, VALUES_NONE, INPUT_NORMAL, 20001);
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape += step)
        for (int type = shape % 5; type < TYPE_COUNT; type += 5, turn++)
            sorted += sorts(&bench, type, VALUES_NONE, shape, sizes[turn % 3]);
    close_bench(&bench);
    assert_true(sorted > 18u / step);
    open_bench(&bench, "adaptive", 12);
    for (int shape = 0; shape < 2; shape++)
        assert_true(sorts(&bench, TYPE_I32, VALUES_NONE, skewed[shape], 20001));
    close_bench(&bench);
}

/* Keys of 8 and 16 bits, counted by one block and by several, on devices of up to 3
 * multiprocessors. */
static void counted_keys(void **state)
{
    (void)state;
    if (getenv("LONG") == NULL)
        skip();
    static const uint64_t sizes[] = {1, 33, 1023, 8191, 16385, 32767, 70001};
    struct bench bench;
    size_t turn = 0, sorted = 0;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        open_bench(&bench, "counting", 1 + shape % 3);
        for (int type = 0; type < TYPE_COUNT; type++)
            sorted += sorts(&bench, type, VALUES_NONE, shape, sizes[turn++ % 7]);
        close_bench(&bench);
    }
    assert_true(sorted > 100);
}

/* So many equal keys for one block that their counters of 16 bits wrap: one of the halves of a word
 * at a time, and both. */
static void counters_that_wrap(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, "counting", 1);
    assert_true(sorts(&bench, TYPE_U16, VALUES_NONE, INPUT_ALTERNATING, 140003));
    assert_true(sorts(&bench, TYPE_I16, VALUES_NONE, INPUT_ZEROS, 300007));
    assert_true(sorts(&bench, TYPE_I16, VALUES_NONE, INPUT_SPECIAL, 1100003));
    close_bench(&bench);
}

/* What keys are skipped with, each for a reason of its own. Nothing is run. */
static void narrow_keys_are_skipped(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum element_type type;
        enum value_type values;
        unsigned shared_bytes;
        const char *reason;
        uint64_t n; /* 0: 100 */
    } cases[] = {
        {"onesweep", TYPE_U8, VALUES_NONE, 0, "sorts keys of 4 and 8 bytes only"},
        {"onesweep", TYPE_F16, VALUES_U32, 0, "values move with keys of 4 and 8 bytes only"},
        {"efficient-smem", TYPE_I16, VALUES_NONE, 0, "sorts keys of 4 and 8 bytes only"},
        {"counting", TYPE_BF16, VALUES_U64, 0, "values move with keys of 4 and 8 bytes only"},
        {"counting", TYPE_I32, VALUES_NONE, 0, "sorts keys of 8 and 16 bits only"},
        {"counting", TYPE_I8, VALUES_NONE, 32 << 10, NULL, 1 << 14},
        {"counting", TYPE_I8, VALUES_NONE, 32 << 10,
         "needs more shared memory than this device gives a block", (1 << 14) + 1},
        {"counting", TYPE_I16, VALUES_NONE, 64 << 10,
         "needs more shared memory than this device gives a block", 100},
        {"counting", TYPE_I16, VALUES_NONE, 99 << 10, NULL, 8192},
        {"counting", TYPE_I16, VALUES_NONE, 99 << 10,
         "needs more shared memory than this device gives a block", 8193},
        {"counting", TYPE_F16, VALUES_NONE, 163 << 10, NULL, 8193},
        {"counting", TYPE_F16, VALUES_NONE, 163 << 10, NULL, 1 << 15},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bench bench;
        emulator_set_shared_bytes(cases[c].shared_bytes);
        open_bench(&bench, cases[c].name, 1);
        const struct problem problem = {.op = OP_SORT,
                                        .type = cases[c].type,
                                        .values = cases[c].values,
                                        .n = cases[c].n > 0 ? cases[c].n : 100,
                                        .block = 64,
                                        .scan = bench.algorithm->over,
                                        .device = &bench.limits};
        const char *why = why_unsupported(bench.algorithm, &problem);
        if (cases[c].reason == NULL)
            assert_null(why);
        else
            assert_string_equal(why, cases[c].reason);
        close_bench(&bench);
    }
    emulator_set_shared_bytes(0);
}

/* Devices of compute capability 7.5 and 7.0, which let a block have less than the largest tiles
 * take. */
static void little_shared_memory(void **state)
{
    (void)state;
    static const unsigned bytes[] = {64 << 10, 96 << 10};
    static const enum element_type types[] = {TYPE_I32, TYPE_I64};
    static const uint64_t sizes[] = {4097, 8193, 1025}; /* for which tiles become larger */
    for (int b = 0, turn = 0; b < 2; b++, turn++) {
        struct bench bench;
        emulator_set_shared_bytes(bytes[b]);
        open_bench(&bench, "onesweep", 1);
        assert_int_equal(bench.limits.shared_bytes_per_block, bytes[b]);
        for (int type = 0; type < 2; type++)
            for (int values = 0; values < VALUE_TYPE_COUNT; values++, turn++)
                assert_true(sorts(&bench, types[type], values, INPUT_SIGNED, sizes[turn % 3]));
        close_bench(&bench);
        open_bench(&bench, "msd", 1);
        assert_false(sorts(&bench, TYPE_I32, VALUES_NONE, INPUT_SIGNED, 1));
        close_bench(&bench);
        open_bench(&bench, "sample", 1);
        assert_false(sorts(&bench, TYPE_I32, VALUES_NONE, INPUT_SIGNED, 8192));
        close_bench(&bench);
    }
    emulator_set_shared_bytes(0);
}

/* Devices of compute capability 8.6 and 8.9: msd sorts in one block, in one launch, and in several.
 */
static void least_shared_memory_of_msd(void **state)
{
    (void)state;
    static const enum element_type types[] = {TYPE_U32, TYPE_F32, TYPE_I64};
    struct bench bench;
    emulator_set_shared_bytes(99 << 10);
    open_bench(&bench, "msd", 1);
    for (int type = 0; type < 3; type++)
        for (uint64_t n = 1001; n < 100000; n = 9 * n + 4)
            assert_true(sorts(&bench, types[type], VALUES_NONE, INPUT_UNIFORM, n));
    close_bench(&bench);
    open_bench(&bench, "msd", 12);
    assert_true(sorts(&bench, TYPE_F32, VALUES_NONE, INPUT_NORMAL, 30001));
    close_bench(&bench);
    emulator_set_shared_bytes(0);
}

/* Keys whose range is no power of two, or exceeds one by less than a sample tells, as in a slice
 * of the keys of several devices. */
static void ranges_of_any_length(void **state)
{
    (void)state;
    static const struct {
        enum element_type type;
        uint64_t max;
        unsigned members;
    } cases[] = {
        {TYPE_U32, (1ull << 31) + 20000, 2},
        {TYPE_U32, UINT32_MAX - 9, 2},
        {TYPE_U32, 1500000000, 3},
        {TYPE_U32, 2400000000, 0},
        {TYPE_I32, (1 << 30) + 10000, 2},
        {TYPE_U64, (1ull << 63) + (1ull << 45), 4},
        {TYPE_U64, (1ull << 33) + (1ull << 15), 2},
        {TYPE_I64, 5ull << 59, 0},
        {TYPE_U64, 5000, 2}, /* so few values that bins would be narrower than they are */
    };
    static const char *const names[] = {"msd", "adaptive"};
    static const uint64_t sizes[] = {20011, 100003};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t turn = 0; turn < 2; turn++) {
            if (turn == 1 && c % 3 != 0 && getenv("LONG") == NULL)
                continue; /* adaptive runs msd's levels, and takes most of the time */
            struct bench bench;
            const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = cases[c].max, .seed = 5};
            open_bench(&bench, names[turn], 2);
            bench.limits.members = cases[c].members;
            const struct problem problem = {
                .op = OP_SORT, .type = cases[c].type, .n = sizes[turn], .device = &bench.limits};
            bench.input = make_input(&spec, &problem);
            prepare_call(&bench, &problem);
            for (unsigned run = 0; run < RUNS; run++) {
                run_and_check(&bench, run);
                bench.input = other_input(&bench.input);
            }
            release(&bench);
            close_bench(&bench);
        }
}

/* Atomics per key in a run of the prepared call: one when a level counts the key, one when a level
 * moves it, and two in its leaf. Releases what was prepared. */
static double counted_atomics(struct bench *bench)
{
    enum { MOST_LAUNCHES = 64 };
    static struct memory_counts counts[MOST_LAUNCHES];
    const struct trial trial = {.algorithm = bench->algorithm, .call = &bench->call};
    unsigned launches;
    const char *why_not;
    uint64_t atomics = 0;
    assert_null(bench->device->can->count(bench->device, &trial, counts, MOST_LAUNCHES, &launches,
                                          &why_not));
    assert_null(why_not);
    for (unsigned i = 0; i < launches; i++)
        atomics += counts[i].atomics;
    release(bench);
    return (double)atomics / (double)bench->call.problem.n;
}

static double atomics_per_key(struct bench *bench, enum element_type type, uint64_t n,
                              const struct input_spec *spec, unsigned members)
{
    const struct problem problem = {.op = OP_SORT, .type = type, .n = n, .device = &bench->limits};
    struct device *device = bench->device;
    bench->limits.members = members;
    bench->input = make_input(spec, &problem);
    prepare_call(bench, &problem);
    assert_null(device->can->fill_input(device, &bench->input, bench->workspace.input.data));
    return counted_atomics(bench);
}

/* Integers that lie outside the sample's range are moved with the others, and no level is lost. */
static void few_outside_take_no_more_levels(void **state)
{
    (void)state;
    static uint32_t keys[MOST_CHOSEN];
    const struct input_spec uniform = {.shape = INPUT_UNIFORM, .max = UINT32_MAX, .seed = 5};
    struct bench bench;
    open_bench(&bench, "msd", 2);
    const bool counts = bench.device->can->count != NULL;
    const double once = counts ? atomics_per_key(&bench, TYPE_U32, MOST_CHOSEN, &uniform, 0) : 0;
    for (unsigned run = 0; counts && run < 3; run++) {
        const struct problem problem = {
            .op = OP_SORT, .type = TYPE_U32, .n = MOST_CHOSEN, .device = &bench.limits};
        prepare_call(&bench, &problem);
        choose_some_outside(keys, MOST_CHOSEN, 1024, run);
        memcpy(bench.workspace.input.data, keys, sizeof keys);
        const double atomics = counted_atomics(&bench);
        if (atomics > once + .5)
            fail_msg("run %u: %g atomics per key, but %g of uniform ones", run, atomics, once);
    }
    close_bench(&bench);
    if (!counts)
        skip();
}

/* Where keys lie between two cuts, their range begins and ends anywhere, and the sample does not
 * see its ends. No key is counted or moved more often than where keys fill their type. */
static void slices_take_no_more_levels(void **state)
{
    (void)state;
    static const struct {
        enum element_type type;
        uint64_t full, max;
        unsigned members;
    } cases[] = {
        {TYPE_U32, UINT32_MAX, (1ull << 31) + 20000, 2},
        {TYPE_U32, UINT32_MAX, 2400000000, 0},
        {TYPE_U64, UINT64_MAX, (1ull << 63) + (1ull << 45), 4},
        {TYPE_U64, UINT64_MAX, 5ull << 59, 0},
    };
    struct bench bench;
    open_bench(&bench, "msd", 2);
    const bool counts = bench.device->can->count != NULL; /* not in a build with sanitizers */
    for (size_t c = 0; counts && c < sizeof cases / sizeof *cases; c++) {
        const struct input_spec full_spec = {.shape = INPUT_UNIFORM,
                                             .max = cases[c].full,
                                             .seed = 5},
                                slice_spec = {
                                    .shape = INPUT_UNIFORM, .max = cases[c].max, .seed = 5};
        const double full = atomics_per_key(&bench, cases[c].type, 100003, &full_spec, 0);
        const double slice =
            atomics_per_key(&bench, cases[c].type, 100003, &slice_spec, cases[c].members);
        if (slice > 1.1 * full)
            fail_msg("%s up to %llu, a slice of %u: %g atomics per key, not %g",
                     type_name(cases[c].type), (unsigned long long)cases[c].max, cases[c].members,
                     slice, full);
    }
    close_bench(&bench);
    if (!counts)
        skip();
}

/* The same where the digits of two levels are counted at once. */
static void few_outside_of_two_levels(void **state)
{
    (void)state;
    if (getenv("LONG") == NULL)
        skip();
    const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = 1 << 22, .seed = 5};
    struct bench bench;
    open_bench(&bench, "msd", 2);
    const struct problem problem = {
        .op = OP_SORT, .type = TYPE_U64, .n = 9000003, .device = &bench.limits};
    bench.input = make_input(&spec, &problem);
    prepare_call(&bench, &problem);
    run_and_check(&bench, 0);
    release(&bench);
    if (bench.device->can->count != NULL)
        assert_in_range(atomics_per_key(&bench, TYPE_U64, problem.n, &spec, 0) * 10, 50, 53);
    close_bench(&bench);
}

/* Where one level is enough for integers, it is enough for floats that are evenly spread; those
 * that are dense in the middle take two. */
static void even_floats_take_one_level(void **state)
{
    (void)state;
    const struct input_spec even = {.shape = INPUT_SIGNED, .max = 1 << 23, .seed = 5};
    const struct input_spec dense = {.shape = INPUT_NORMAL, .max = 1 << 23, .seed = 5};
    struct bench bench;
    open_bench(&bench, "msd", 2);
    const bool counts = bench.device->can->count != NULL && getenv("LONG") != NULL;
    if (counts) {
        const double one = atomics_per_key(&bench, TYPE_F64, 4300003, &even, 0);
        const double two = atomics_per_key(&bench, TYPE_F64, 4300003, &dense, 0);
        if (one > 4.3 || two < 4.7)
            fail_msg("%g atomics per key, not 4; if dense in the middle %g, not 5", one, two);
    }
    close_bench(&bench);
    if (!counts)
        skip();
}

/* Normally distributed integers are moved as often as uniform ones, wherever their range ends. */
static void normal_integers_take_one_level(void **state)
{
    (void)state;
    static const uint64_t ends[] = {UINT32_MAX, INT32_MAX, 1000000000, 1150000000};
    struct bench bench;
    open_bench(&bench, "msd", 2);
    const bool counts = bench.device->can->count != NULL;
    for (size_t e = 0; counts && e < sizeof ends / sizeof *ends; e += getenv("LONG") ? 1 : 2) {
        const struct input_spec uniform = {.shape = INPUT_UNIFORM, .max = ends[e], .seed = 5};
        const struct input_spec normal = {.shape = INPUT_NORMAL, .max = ends[e], .seed = 5};
        const double once = atomics_per_key(&bench, TYPE_U32, 300007, &uniform, 0);
        const double atomics = atomics_per_key(&bench, TYPE_U32, 300007, &normal, 0);
        if (atomics > once + .5)
            fail_msg("up to %g: %g atomics per key, but %g of uniform ones", (double)ends[e],
                     atomics, once);
    }
    close_bench(&bench);
    if (!counts)
        skip();
}

/* Keys of few values are counted, and not moved, whether each step is a launch or all are one. */
static void few_values_are_counted_once(void **state)
{
    (void)state;
    static const char *const names[] = {"msd", "adaptive"};
    static const struct {
        enum element_type type;
        enum input_shape shape;
        uint64_t max;
    } cases[] = {{TYPE_U32, INPUT_FEW, UINT32_MAX},
                 {TYPE_U64, INPUT_FEW, UINT64_MAX},
                 {TYPE_F64, INPUT_SPECIAL, 1},
                 {TYPE_I32, INPUT_ALTERNATING, INT32_MAX}};
    static const uint64_t sizes[] = {100003, 22501};
    static const int multiprocessors[] = {2, 12};
    bool counts = false;
    for (int t = 0; t < 4; t++) {
        const char *name = names[t / 2];
        struct bench bench;
        open_bench(&bench, name, multiprocessors[t % 2]);
        counts = bench.device->can->count != NULL; /* not in a build with sanitizers */
        for (size_t c = 0; counts && c < sizeof cases / sizeof *cases; c++) {
            const struct input_spec spec = {
                .shape = cases[c].shape, .max = cases[c].max, .seed = 5};
            const double atomics = atomics_per_key(&bench, cases[c].type, sizes[t % 2], &spec, 0);
            if (atomics > 1.5)
                fail_msg("%s, %s, %s, n = %d: %g atomics per key", name, type_name(cases[c].type),
                         input_shape_name(cases[c].shape), (int)sizes[t % 2], atomics);
        }
        close_bench(&bench);
    }
    if (!counts)
        skip();
}

/* ---- stable-msd: pairs whose keys are made for it ---- */

enum {
    MOST_PAIRS = 60001,
    SAMPLED = 1024, /* keys that it looks at before it counts, one of each part of the array */
    RANGES = 256,   /* into which it divides the keys if there are fewer than 49152 pairs */
    MOST_IN_LEAF = 5120,
    MOST_IN_SEQUENCE = 4
};

struct pair_case;

/* Makes the keys of a case as ranks, which are unsigned numbers in the order of the keys: their
 * lowest `width` bits, in which alone they differ. */
typedef void rank_maker(uint64_t *ranks, unsigned width, const struct pair_case *of);

enum placement { APART, VALUES_IN_PLACE, KEYS_IN_PLACE, IN_PLACE, PLACEMENT_COUNT };

struct pair_case {
    enum element_type type;
    enum value_type values;
    uint32_t n;
    unsigned width;                     /* bits in which keys differ */
    rank_maker *make[MOST_IN_SEQUENCE]; /* one call each, on the same scratch */
    uint64_t detail;                    /* for the makers */
    bool by_onesweep;                   /* the keys of the first call do not suit stable-msd */
};

static uint64_t mixed(uint64_t i)
{
    i = (i + 1) * 0x9E3779B97F4A7C15u;
    i = (i ^ i >> 30) * 0xBF58476D1CE4E5B9u;
    i = (i ^ i >> 27) * 0x94D049BB133111EBu;
    return i ^ i >> 31;
}

static bool is_sampled(uint32_t i, uint32_t n)
{
    const uint32_t part = n / SAMPLED, number = i / part;
    return i == 0 ||
           (number < SAMPLED && i % part == (uint64_t)((number + 1) * 0x9E3779B9u) * part >> 32);
}

static void fill_the_type(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    for (uint32_t i = 0; i < of->n; i++)
        ranks[i] = mixed(i) >> (64 - width);
}

/* Little more than half of a power of two. */
static void fill_half_a_range(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    const uint64_t most = (uint64_t)1 << (width - 2);
    for (uint32_t i = 0; i < of->n; i++)
        ranks[i] = mixed(i) % (most + most / 100 * of->detail);
}

static void four_values(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    for (uint32_t i = 0; i < of->n; i++)
        ranks[i] = mixed(i) % 4 << (width - 4) | 3;
}

/* The sampled keys are spread, and `detail` of the others are in range 5. */
static void fill_range_5(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    const uint64_t range = (uint64_t)1 << (width - 8);
    uint64_t left = of->detail;
    for (uint32_t i = of->n; i-- > 0;) {
        const bool is_chosen = left > 0 && !is_sampled(i, of->n);
        uint64_t number = mixed(i) >> 56;
        if (is_chosen || number == 5)
            number = is_chosen ? 5 : 6 + i % 7;
        ranks[i] = number * range + mixed(i) % range;
        left -= is_chosen;
    }
}

/* A 16th of the type, except one key: that `detail` places before the end, or the next one that is
 * not sampled. */
static void place_one_outside(uint64_t *ranks, unsigned width, uint64_t rank,
                              const struct pair_case *of)
{
    uint32_t place = of->n - 1 - (uint32_t)of->detail;
    while (is_sampled(place, of->n))
        place--;
    for (uint32_t i = 0; i < of->n; i++)
        ranks[i] = ((uint64_t)5 << (width - 4)) + (mixed(i) >> (64 - width + 4));
    ranks[place] = rank;
}

static void one_above(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    place_one_outside(ranks, width, ((uint64_t)7 << (width - 4)) + 1, of);
}

static void one_below(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    place_one_outside(ranks, width, ((uint64_t)5 << (width - 4)) - 1, of);
}

/* `detail` ranges, the first 0 and the last 255, that the keys take turns to be in, and what makes
 * keys of a range differ. The sample has as many of each range. */
static void take_turns(uint64_t *ranks, unsigned width, const struct pair_case *of,
                       uint64_t (*lower)(uint32_t i, uint64_t range))
{
    const uint32_t part = of->n / SAMPLED;
    for (uint32_t i = 0; i < of->n; i++) {
        const uint64_t number = i / part % of->detail * (RANGES - 1) / (of->detail - 1);
        const uint64_t range = (uint64_t)1 << (width - 8);
        ranks[i] = number * range + lower(i, range);
    }
}

static uint64_t three_at_either_end(uint32_t i, uint64_t range)
{
    return mixed(i) >> 63 != 0 ? mixed(i) % 3 : range - 1 - mixed(i) % 3;
}

static void two_clusters(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    take_turns(ranks, width, of, three_at_either_end);
}

static uint64_t the_lowest(uint32_t i, uint64_t range)
{
    (void)i, (void)range;
    return 0;
}

static void equal_in_each_range(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    take_turns(ranks, width, of, the_lowest);
}

/* Most keys have few values of the upper digit, so that its buckets have several tiles. */
static void few_buckets(uint64_t *ranks, unsigned width, const struct pair_case *of)
{
    for (uint32_t i = 0; i < of->n; i++) {
        const uint64_t number = i / (of->n / SAMPLED) % 30;
        ranks[i] =
            (number == 29 ? RANGES - 1 : 16 + number) << (width - 8) | mixed(i) >> (64 - width + 8);
    }
}

struct ranked {
    uint64_t rank;
    uint32_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->index > y->index) - (x->index < y->index);
}

/* The bits of the key that has a rank. */
static uint64_t key_of_rank(enum element_type type, uint64_t rank)
{
    const uint64_t sign = (uint64_t)1 << (8 * element_bytes(type) - 1);
    if (type_class(type) == TYPE_FLOAT)
        return (rank & sign) != 0 ? rank ^ sign : ~rank;
    return type_class(type) == TYPE_SIGNED ? rank ^ sign : rank;
}

static void put(void *array, size_t bytes, uint32_t i, uint64_t bits)
{
    memcpy((char *)array + i * bytes, &bits, bytes);
}

static uint64_t at(const void *array, size_t bytes, uint32_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)array + i * bytes, bytes);
    return bits;
}

static uint64_t value_of(uint32_t index, size_t bytes)
{
    return bytes == sizeof(uint32_t) ? index * 0x9E3779B9u : index * 0x9E3779B97F4A7C15u;
}

/* Makes the input and the pairs that are right for a call. */
static void make_pairs(struct bench *bench, const struct pair_case *of, rank_maker *make,
                       struct ranked *expected)
{
    static uint64_t ranks[MOST_PAIRS];
    const size_t bytes = element_bytes(of->type), value = value_bytes(of->values);
    make(ranks, of->width, of);
    for (uint32_t i = 0; i < of->n; i++) {
        if (of->width < 8 * bytes)
            ranks[i] |= 0xB3B3B3B3B3B3B3B3u >> (64 - 8 * bytes) >> of->width << of->width;
        expected[i] = (struct ranked){ranks[i], i};
        put(bench->workspace.input.data, bytes, i, key_of_rank(of->type, ranks[i]));
        put(bench->workspace.input_values.data, value, i, value_of(i, value));
    }
    qsort(expected, of->n, sizeof *expected, compare_ranked);
    assert_null(bench->device->can->poison(bench->device, &bench->workspace.output));
    assert_null(bench->device->can->poison(bench->device, &bench->workspace.output_values));
}

static void check_pairs(const struct bench *bench, const struct pair_case *of,
                        const struct ranked *expected, size_t row, int call)
{
    const size_t bytes = element_bytes(of->type), value = value_bytes(of->values);
    const struct workspace *w = &bench->workspace;
    for (uint32_t i = 0; i < of->n; i++) {
        const struct ranked want = expected[i];
        uint64_t mask = ~(uint64_t)0 >> (64 - 8 * bytes);
        if (at(bench->call.output, bytes, i) != (key_of_rank(of->type, want.rank) & mask) ||
            at(bench->call.output_values, value, i) != value_of(want.index, value))
            fail_msg("case %d, %s, n = %d, call %d: pair %d is not the one of index %d", (int)row,
                     type_name(of->type), (int)of->n, call + 1, (int)i, (int)want.index);
        if ((bench->call.output != w->input.data &&
             at(w->input.data, bytes, want.index) != (key_of_rank(of->type, want.rank) & mask)) ||
            (bench->call.output_values != w->input_values.data &&
             at(w->input_values.data, value, want.index) != value_of(want.index, value)))
            fail_msg("case %d, %s, n = %d, call %d: the input has changed at %d", (int)row,
                     type_name(of->type), (int)of->n, call + 1, (int)want.index);
    }
}

static void prepare_pairs(struct bench *bench, const struct pair_case *of, size_t row,
                          enum placement placement)
{
    open_bench(bench, "stable-msd", 1 + row % 3);
    const struct problem problem = {.op = OP_SORT,
                                    .type = of->type,
                                    .values = of->values,
                                    .stable = true,
                                    .n = of->n,
                                    .device = &bench->limits};
    prepare_call(bench, &problem);
    if (placement == KEYS_IN_PLACE || placement == IN_PLACE)
        bench->call.output = bench->workspace.input.data;
    if (placement == VALUES_IN_PLACE || placement == IN_PLACE)
        bench->call.output_values = bench->workspace.input_values.data;
}

/* Sorts the keys of one maker after the other, on the same scratch. */
static void sort_made_pairs(const struct pair_case *of, size_t row, enum placement placement)
{
    static struct ranked expected[MOST_PAIRS];
    static struct launch_log log;
    struct bench bench;
    prepare_pairs(&bench, of, row, placement);
    const struct trial trial = {.algorithm = bench.algorithm, .call = &bench.call};
    for (int call = 0; call < MOST_IN_SEQUENCE && of->make[call] != NULL; call++) {
        double ms;
        make_pairs(&bench, of, of->make[call], expected);
        const char *why = call == 0 ? bench.device->can->first_call(bench.device, &trial, &log, &ms)
                                    : bench.device->can->run_again(bench.device, &trial);
        if (why != NULL)
            fail_msg("case %d, call %d: %s", (int)row, call + 1, why);
        check_pairs(&bench, of, expected, row, call);
    }
    release(&bench);
    close_bench(&bench);
}

static const struct pair_case leaf_cases[] = {
    /* The sample is spread, but a leaf gets as many pairs as it can have, or one more. It can have
     * fewer if what is left of a key and an index do not fit a word of the key's size. */
    {TYPE_U32, VALUES_U64, 9001, 32, {fill_range_5}, 256, false},
    {TYPE_U32, VALUES_U32, 9001, 32, {fill_range_5}, 257, true},
    {TYPE_F64, VALUES_U32, 9001, 64, {fill_range_5}, 256, false},
    {TYPE_I64, VALUES_U64, 9001, 64, {fill_range_5}, 257, true},
    {TYPE_U32, VALUES_U32, 9001, 27, {fill_range_5}, MOST_IN_LEAF, false},
    {TYPE_U32, VALUES_U64, 9001, 28, {fill_range_5}, MOST_IN_LEAF, true},
    {TYPE_F64, VALUES_U64, 9001, 59, {fill_range_5}, MOST_IN_LEAF, false},
    {TYPE_I64, VALUES_U32, 9001, 40, {fill_range_5}, MOST_IN_LEAF + 1, true},
    {TYPE_F64, VALUES_U64, 20001, 50, {fill_range_5}, 18900, true},
    /* Leaves whose keys lie in few bins: so few pairs that they are merged, or more. */
    {TYPE_U32, VALUES_U32, 9001, 24, {two_clusters}, 27, false},
    {TYPE_I64, VALUES_U64, 9001, 59, {two_clusters}, 27, false},
    {TYPE_F64, VALUES_U32, 57000, 53, {two_clusters}, 27, false},
    /* Leaves of one key. */
    {TYPE_U32, VALUES_U64, 9001, 32, {equal_in_each_range}, 200, false},
    {TYPE_U32, VALUES_U32, 9001, 27, {equal_in_each_range}, 27, false},
    {TYPE_I64, VALUES_U32, 20000, 53, {equal_in_each_range}, 27, false},
    /* Buckets of several tiles. */
    {TYPE_U32, VALUES_U32, 57001, 22, {few_buckets}, 0, false},
    {TYPE_I64, VALUES_U64, 30001, 54, {few_buckets}, 0, false},
};

static const struct pair_case range_cases[] = {
    /* One key is not in the range of the others, which the sample shows. */
    {TYPE_U32, VALUES_U32, 8200, 32, {one_above}, 0, true},
    {TYPE_F64, VALUES_U32, 2050, 64, {one_below}, 0, true},
    {TYPE_I64, VALUES_U64, 9001, 64, {one_above}, 0, true},
    {TYPE_I64, VALUES_U32, 9001, 60, {one_below}, 5000, true},
    {TYPE_U32, VALUES_U64, 9001, 24, {one_below}, 4999, true},
    {TYPE_F64, VALUES_U64, 9001, 50, {one_above}, 8990, true},
    /* Keys fill little more than half of their range: digits have one more bit if there are as many
     * pairs as in the last two cases. */
    {TYPE_U32, VALUES_U32, 9001, 32, {fill_half_a_range}, 10, false},
    {TYPE_I64, VALUES_U32, 9001, 64, {fill_half_a_range}, 1, false},
    {TYPE_U32, VALUES_U64, 36000, 32, {fill_half_a_range}, 10, false},
    {TYPE_F64, VALUES_U64, 36001, 64, {fill_half_a_range}, 10, false},
};

/* All cases, or every third one in the tests of each change. */
#define SORT_CASES(cases)                                                             \
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c += getenv("LONG") ? 1 : 3) \
    sort_made_pairs(&cases[c], c, APART)

static void leaves_of_made_pairs(void **state)
{
    (void)state;
    SORT_CASES(leaf_cases);
}

static void ranges_of_made_pairs(void **state)
{
    (void)state;
    SORT_CASES(range_cases);
}

/* Keys that suit it after those that do not, for each of the reasons, and the other way round. */
static void one_scratch_for_any_pairs(void **state)
{
    (void)state;
    static const struct pair_case cases[] = {
        {TYPE_U32,
         VALUES_U32,
         9001,
         32,
         {four_values, fill_the_type, fill_range_5, fill_the_type},
         257,
         true},
        {TYPE_I64,
         VALUES_U64,
         6001,
         53,
         {fill_the_type, one_above, equal_in_each_range, four_values},
         40,
         false},
    };
    SORT_CASES(cases);
}

static void made_pairs_in_place(void **state)
{
    (void)state;
    static const struct pair_case cases[] = {
        {TYPE_U32, VALUES_U32, 9001, 32, {fill_the_type, fill_range_5}, 7000, false},
        {TYPE_F64, VALUES_U64, 6001, 64, {one_above, fill_the_type}, 0, true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (enum placement placement = VALUES_IN_PLACE; placement < PLACEMENT_COUNT; placement++)
            sort_made_pairs(&cases[c], c, placement);
}

/* The bytes per pair that a first call writes. */
static double bytes_written_per_pair(const struct pair_case *of, size_t row, bool *counts)
{
    enum { MOST_LAUNCHES = 64 };
    static struct ranked expected[MOST_PAIRS];
    static struct memory_counts launch[MOST_LAUNCHES];
    struct bench bench;
    unsigned launches = 0;
    const char *why_not = NULL;
    uint64_t bytes = 0;
    prepare_pairs(&bench, of, row, APART);
    const struct trial trial = {.algorithm = bench.algorithm, .call = &bench.call};
    make_pairs(&bench, of, of->make[0], expected);
    *counts = bench.device->can->count != NULL; /* not in a build with sanitizers */
    if (*counts)
        assert_null(bench.device->can->count(bench.device, &trial, launch, MOST_LAUNCHES, &launches,
                                             &why_not));
    for (unsigned i = 0; i < launches; i++)
        bytes += launch[i].store_bytes;
    release(&bench);
    close_bench(&bench);
    return (double)bytes / of->n;
}

/* It moves a pair three times. onesweep, to which it leaves keys that do not suit it, moves those
 * of 8 bytes once per byte in which they differ. */
static void pairs_move_three_times(void **state)
{
    (void)state;
    static const struct pair_case *const tables[] = {leaf_cases, range_cases};
    static const size_t lengths[] = {sizeof leaf_cases / sizeof *leaf_cases,
                                     sizeof range_cases / sizeof *range_cases};
    bool counts = true;
    for (int table = 0; table < 2; table++)
        for (size_t c = 0; counts && c < lengths[table]; c += getenv("LONG") ? 1 : 3) {
            const struct pair_case *of = &tables[table][c];
            if (element_bytes(of->type) == sizeof(uint32_t) || of->n != 9001)
                continue;
            const double pair = (double)(element_bytes(of->type) + value_bytes(of->values));
            const double moves = bytes_written_per_pair(of, c, &counts) / pair;
            if (counts && (of->by_onesweep ? moves < 5 : moves > 4))
                fail_msg("case %d, %s, n = %d: a pair is moved %g times", (int)c,
                         type_name(of->type), (int)of->n, moves);
        }
    if (!counts)
        skip();
}

/* With an argument: the tests whose names match it. */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_and_every_type),
        cmocka_unit_test(awkward_sizes),
        cmocka_unit_test(either_of_adaptive),
        cmocka_unit_test(keys_against_the_sample),
        cmocka_unit_test(keys_outside_the_sample),
        cmocka_unit_test(few_outside_take_no_more_levels),
        cmocka_unit_test(few_outside_of_two_levels),
        cmocka_unit_test(values_that_the_sample_misses),
        cmocka_unit_test(even_floats_take_one_level),
        cmocka_unit_test(normal_integers_take_one_level),
        cmocka_unit_test(few_values_are_counted_once),
        cmocka_unit_test(sample_takes_its_sizes),
        cmocka_unit_test(little_shared_memory),
        cmocka_unit_test(least_shared_memory_of_msd),
        cmocka_unit_test(msd_in_one_launch),
        cmocka_unit_test(ranges_of_any_length),
        cmocka_unit_test(counted_keys),
        cmocka_unit_test(counters_that_wrap),
        cmocka_unit_test(narrow_keys_are_skipped),
        cmocka_unit_test(scratch_of_pairs),
        cmocka_unit_test(most_keys_and_scratch),
        cmocka_unit_test(slices_take_no_more_levels),
        cmocka_unit_test(leaves_of_made_pairs),
        cmocka_unit_test(ranges_of_made_pairs),
        cmocka_unit_test(one_scratch_for_any_pairs),
        cmocka_unit_test(made_pairs_in_place),
        cmocka_unit_test(pairs_move_three_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
