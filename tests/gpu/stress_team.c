/* stress_team: the part of stress that works on several devices, by `peer`. */
#include "stress_team.h"

#include "../../bench/choice.h"
#include "../../bench/device/random.h"
#include "../../bench/device/team.h"
#include "../../bench/operations.h"
#include "../../bench/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs of a problem, one after the other without a wait of the host: members may be one ahead. */
enum { RUNS = 3 };

static const enum operation OPERATIONS[] = {OP_SCAN, OP_COMPACT, OP_SORT};
static const enum element_type TYPES[] = {TYPE_I32, TYPE_U32, TYPE_I64};
static const enum input_shape SHAPES[] = {INPUT_UNIFORM, INPUT_NORMAL, INPUT_SIGNED, INPUT_SORTED,
                                          INPUT_ONES};

enum {
    OPERATIONS_HERE = sizeof OPERATIONS / sizeof *OPERATIONS,
    TYPES_HERE = sizeof TYPES / sizeof *TYPES,
    SHAPES_HERE = sizeof SHAPES / sizeof *SHAPES,
};

struct tally {
    uint64_t results, wrong, largest;
};

/* A team, and the problem that it works on. */
struct bench {
    struct device *device;
    struct device_info info;
    struct device_limits limits;
    struct workspace workspace;
    struct problem problem;
    const struct algorithm *algorithm;
    struct tally tally[OPERATION_COUNT];
};

static void must(const char *why)
{
    if (why == NULL)
        return;
    fprintf(stderr, "stress: %s\n", why);
    exit(1);
}

static void open_bench(struct bench *bench, const struct team_settings *settings)
{
    struct workspace *w = &bench->workspace;
    must(open_team(settings->backend, 0, settings->gpus, settings->seed, &bench->info,
                   &bench->limits, &bench->device));
    bench->limits.kind = settings->backend->kind;
    bench->limits.name = bench->info.name;
    if (settings->multiprocessors > 0 && settings->multiprocessors < bench->limits.multiprocessors)
        bench->limits.multiprocessors = settings->multiprocessors;
    const struct backend *can = bench->device->can;
    must(can->allocate_slices(bench->device, settings->max_n, sizeof(uint64_t), &w->input));
    must(can->allocate_slices(bench->device, settings->max_n, sizeof(uint64_t), &w->output));
    must(can->allocate(bench->device, 2 * sizeof(uint64_t), &w->count));
}

static void close_bench(struct bench *bench)
{
    struct workspace *w = &bench->workspace;
    struct buffer *const buffers[] = {&w->input, &w->output, &w->scratch, &w->count};
    for (int b = 0; b < 4; b++)
        bench->device->can->release(bench->device, buffers[b]);
    bench->device->can->close(bench->device);
}

/* The same number of sizes between any two powers of two. */
static uint64_t draw_size(const struct team_settings *settings, uint64_t *drawn)
{
    unsigned bits = 0;
    while (settings->max_n >> bits > 1)
        bits++;
    const uint64_t power = (uint64_t)1 << random_bits(settings->seed, (*drawn)++) % (bits + 1);
    const uint64_t n = power + random_bits(settings->seed, (*drawn)++) % power;
    return n < settings->max_n ? n : settings->max_n;
}

static void draw_problem(struct bench *bench, const struct team_settings *settings, uint64_t *drawn)
{
    const uint64_t pick = random_bits(settings->seed, (*drawn)++);
    const enum operation op = OPERATIONS[pick % OPERATIONS_HERE];
    struct problem *problem = &bench->problem;
    *problem = (struct problem){
        .op = op,
        .type = TYPES[(pick >> 8) % TYPES_HERE],
        .kind = pick >> 16 & 1 ? KIND_INCLUSIVE : KIND_EXCLUSIVE,
        .n = draw_size(settings, drawn),
        .device = &bench->limits,
    };
    problem->whole_n = problem->n;
    bench->algorithm = table_row_named(op, "slices")->by[ENGINE_PEER][settings->backend->kind];
    struct problem slice = *problem;
    slice.n = longest_slice(problem->n, bench->limits.members);
    const struct resolved resolved = resolve_choice(&slice, table_algorithm);
    problem->local = resolved.algorithm;
    problem->block = resolved.block;
    problem->algorithm = bench->algorithm;
    must(why_unsupported(bench->algorithm, problem));
}

/* As much scratch as the largest problem so far has needed. */
static size_t reserve_scratch(struct bench *bench)
{
    struct buffer *scratch = &bench->workspace.scratch;
    struct problem slice = bench->problem;
    slice.n = longest_slice(slice.n, bench->limits.members);
    const size_t bytes = next_place(bench->algorithm->scratch_bytes(&slice)) +
                         bench->algorithm->engine->scratch_bytes(&slice);
    if (scratch->data == NULL || bytes > scratch->bytes) {
        bench->device->can->release(bench->device, scratch);
        must(bench->device->can->allocate(bench->device, bytes + bytes / 2, scratch));
    }
    return bytes;
}

/* Runs the problem on fresh data, and checks every element. */
static bool run_and_check(struct bench *bench, uint64_t seed)
{
    const struct problem *problem = &bench->problem;
    const struct workspace *w = &bench->workspace;
    const struct backend *can = bench->device->can;
    const struct input_spec spec = {
        .shape = problem->op == OP_SORT ? SHAPES[seed % SHAPES_HERE] : INPUT_UNIFORM,
        .max = seed >> 8 & 1 ? 49 : 0x7FFFFFFF,
        .keep = (double)(seed >> 16 & 3) / 3,
        .seed = seed,
    };
    const struct input input = make_input(&spec, problem);
    const size_t scratch_bytes = reserve_scratch(bench);
    struct call call = {.problem = *problem,
                        .input = w->input.data,
                        .output = w->output.data,
                        .count = w->count.data,
                        .scratch = w->scratch.data,
                        .scratch_bytes = scratch_bytes};
    const struct trial trial = {.algorithm = bench->algorithm, .call = &call};
    struct verdict verdict;
    must(can->fill_input(bench->device, &input, w->input.data));
    must(can->poison(bench->device, &w->output));
    must(can->poison(bench->device, &w->count));
    must(can->run_many(bench->device, &trial, RUNS));
    must(verify(bench->device, problem, RESULT_OF_OPERATION, &input, w, &verdict));
    if (!verdict.passed)
        printf("WRONG  %s peer: %s, %s, n = %" PRIu64 ": %s\n", operation_name(problem->op),
               type_name(problem->type),
               problem->kind == KIND_INCLUSIVE ? "inclusive" : "exclusive", problem->n,
               verdict.reason);
    return verdict.passed;
}

uint64_t stress_team(const struct team_settings *settings)
{
    static struct bench bench;
    uint64_t drawn = 0, wrong = 0;
    open_bench(&bench, settings);
    for (uint64_t repeat = 0; repeat < settings->repeats; repeat++) {
        draw_problem(&bench, settings, &drawn);
        struct tally *tally = &bench.tally[bench.problem.op];
        const bool passed = run_and_check(&bench, random_bits(~settings->seed, repeat));
        tally->results++;
        tally->wrong += !passed;
        wrong += !passed;
        if (bench.problem.n > tally->largest)
            tally->largest = bench.problem.n;
    }
    for (int o = 0; o < OPERATIONS_HERE; o++) {
        const struct tally *tally = &bench.tally[OPERATIONS[o]];
        printf("%-8s peer on %u devices  %8" PRIu64 " results, %" PRIu64 " wrong, n up to %" PRIu64
               "\n",
               operation_name(OPERATIONS[o]), settings->gpus, tally->results, tally->wrong,
               tally->largest);
    }
    close_bench(&bench);
    return wrong;
}
