/* series_test: that a row is earned by the work of each timed run. Each algorithm below is right
 * whenever somebody looks at its last result, and leaves out work, remembers it, or does it
 * elsewhere. The emulator's memory is the host's, so that the same functions run on both devices.
 */
#include "../../bench/device/random.h"
#include "../../bench/run/turn.h"
#include "../../bench/run/workspace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 4096, SAMPLES = 20, RUNS = 10 };

/* ---- algorithms ---- */

static void scan_from(const struct call *call, uint32_t sum, uint32_t *out)
{
    const uint32_t *in = call->input;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

static void scan(const struct call *call)
{
    scan_from(call, 0, call->output);
}

static void nothing(const struct call *call)
{
    (void)call;
}

static uint64_t hash_of_input(const struct call *call)
{
    const uint32_t *in = call->input;
    uint64_t hash = 0;
    for (uint64_t i = 0; i < call->problem.n; i++)
        hash = random_bits(hash, in[i]);
    return hash;
}

static uint64_t last_hash;

/* Leaves the output as it is if it was made of the same input. */
static void once_per_input(const struct call *call)
{
    const uint64_t hash = hash_of_input(call);
    if (hash != last_hash)
        scan(call);
    last_hash = hash;
}

/* Two elements change places in one call of a series. */
static void swaps_in_second_call(const struct call *call)
{
    uint32_t *out = call->output;
    const uint64_t middle = call->problem.n / 2;
    scan(call);
    if (call->epoch != 2)
        return;
    const uint32_t left = out[middle - 8];
    out[middle - 8] = out[middle + 8];
    out[middle + 8] = left;
}

static void last_is_wrong_in_second_call(const struct call *call)
{
    scan(call);
    if (call->epoch == 2)
        ((uint32_t *)call->output)[call->problem.n - 1]++;
}

static uint32_t answer[N];
static uint64_t known_first; /* 1 + the first element of the known input */

static void remembers_by_first_element(const struct call *call)
{
    const uint32_t *in = call->input;
    if (in[0] + 1ull == known_first) {
        memcpy(call->output, answer, sizeof answer);
        return;
    }
    scan(call);
    memcpy(answer, call->output, sizeof answer);
    known_first = in[0] + 1ull;
}

static void work_ahead(const struct call *call)
{
    scan_from(call, 0, answer);
}

static void copies_what_it_prepared(const struct call *call)
{
    memcpy(call->output, answer, sizeof answer);
}

/* ---- what they get away with ---- */

static unsigned runs, useful;

/* Works only where a part of the output is missing; useful: the work. */
static void fills_what_is_missing(const struct call *call)
{
    const uint32_t *out = call->output;
    uint64_t i = 0;
    while (i < call->problem.n && out[i] != 0x5C5C5C5C)
        i++;
    runs++;
    if (i == call->problem.n)
        return;
    scan(call);
    useful++;
}

static void work_ahead_on_this_input(const struct call *call)
{
    work_ahead(call);
    last_hash = hash_of_input(call);
}

/* Works unless prepare() has seen the same input; useful: what it saw. */
static void trusts_what_it_prepared(const struct call *call)
{
    runs++;
    if (hash_of_input(call) != last_hash) {
        scan(call);
        return;
    }
    copies_what_it_prepared(call);
    useful++;
}

/* Right if scratch is zero before the first call, as it is after each. */
static void trusts_scratch(const struct call *call)
{
    scan_from(call, *(uint32_t *)call->scratch, call->output);
    *(uint32_t *)call->scratch = 0;
}

static size_t one_word(const struct problem *problem)
{
    (void)problem;
    return sizeof(uint32_t);
}

static void reads_past(const struct call *call)
{
    (void)((const volatile uint32_t *)call->input)[call->problem.n];
    scan(call);
}

static void puts_back(const struct call *call)
{
    volatile uint32_t *in = (uint32_t *)call->input;
    in[0] ^= 1;
    in[0] ^= 1;
    scan(call);
}

/* ---- rows ---- */

struct conditions {
    const struct backend *backend;
    enum cache_state cache;
    uint64_t n;
};

static const struct conditions everywhere[] = {
    {&cpu_backend, CACHE_COLD, N},
    {&cpu_backend, CACHE_HOT, N},
    {&emulated_backend, CACHE_COLD, N},
    {&emulated_backend, CACHE_HOT, N},
};

static void take_turns(struct run *run, struct measurement *m)
{
    const struct workspace *w = &run->session->workspace;
    assert_null(allocate_workspace(run));
    m->call = (struct call){.problem = {.op = OP_SCAN,
                                        .type = TYPE_U32,
                                        .n = run->group->n,
                                        .whole_n = run->group->n,
                                        .device = &run->session->limits},
                            .input = w->input.data,
                            .output = w->output.data,
                            .scratch = w->scratch.data,
                            .scratch_bytes = w->scratch.bytes,
                            .kept = &m->kept};
    assert_null(warm_up(run, m));
    while (!m->done)
        assert_null(take_turn(run, m));
    release_workspace(run->session);
}

/* Measures a row, and returns its check and its reason, as "failed: output[5]: ...". */
static const char *row_of(const struct algorithm *algorithm, const struct conditions *conditions)
{
    static char text[300];
    static struct measurement m;
    const struct device_choice device = {.kind = conditions->backend->kind};
    const struct options options = {
        .seed = 1, .sampling = {.samples = SAMPLES, .max_time_ms = 1e9, .warmup = 1}};
    const struct input_spec spec = {.shape = INPUT_UNIFORM, .max = 49, .seed = 1};
    const struct table_row row = {.name = "x", .op = OP_SCAN};
    struct plan_entry entry = {.row = &row, .algorithm = algorithm, .printed = true};
    struct plan_group group = {.device = device,
                               .op = OP_SCAN,
                               .type = TYPE_U32,
                               .n = conditions->n,
                               .input = spec,
                               .cache = conditions->cache,
                               .entries = &entry,
                               .entry_count = 1};
    const struct plan plan = {.groups = &group, .group_count = 1};
    const struct problem problem = {.op = OP_SCAN, .type = TYPE_U32, .n = conditions->n};
    struct session session = {0};
    struct run run = {.options = &options,
                      .plan = &plan,
                      .session = &session,
                      .group = &group,
                      .input = make_input(&spec, &problem),
                      .sampling = options.sampling,
                      .ms = &m};
    m = (struct measurement){.entry = &entry};
    assert_null(open_session(&session, device, &options));
    m.task = make_task(&session, &group, &entry);
    take_turns(&run, &m);
    close_session(&session);
    free(m.time_ms);
    snprintf(text, sizeof text, "%s: %s", m.check, m.reason);
    return text;
}

/* Whatever the harness draws: several rows. */
static void expect_failures(const struct algorithm *algorithm, const struct conditions *conditions,
                            const char *part)
{
    for (int r = 0; r < RUNS; r++) {
        const char *row = row_of(algorithm, conditions);
        if (strncmp(row, "failed: ", 8) != 0 || strstr(row, part) == NULL)
            fail_msg("%s, where \"%s\" was to be found", row, part);
    }
}

static void expect_failures_everywhere(const struct algorithm *algorithm, const char *part)
{
    for (int c = 0; c < 4; c++)
        expect_failures(algorithm, &everywhere[c], part);
}

/* ---- tests ---- */

static void a_right_algorithm_passes_at_every_size(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 15, 16, 17, N};
    const struct algorithm right = {.name = "right", .run = scan};
    for (int c = 0; c < 4; c++)
        for (int s = 0; s < 7; s++) {
            struct conditions conditions = everywhere[c];
            conditions.n = sizes[s];
            assert_string_equal(row_of(&right, &conditions), "passed: ");
        }
}

static void work_that_was_done_for_the_same_data(void **state)
{
    (void)state;
    const struct algorithm idle = {.name = "idle", .run = once_per_input};
    expect_failures_everywhere(&idle, "output[");
}

static void a_few_elements_in_one_of_many_calls(void **state)
{
    (void)state;
    const struct algorithm swaps = {.name = "swaps", .run = swaps_in_second_call};
    const struct algorithm last = {.name = "last", .run = last_is_wrong_in_second_call};
    for (int c = 0; c < 4; c++)
        if (everywhere[c].cache == CACHE_COLD)
            expect_failures(&swaps, &everywhere[c], "output");
    expect_failures_everywhere(&last, "output[4095]: got ");
}

static void an_answer_that_is_remembered(void **state)
{
    (void)state;
    const struct algorithm remembers = {.name = "remembers", .run = remembers_by_first_element};
    expect_failures_everywhere(&remembers, "output[");
}

static void work_that_is_done_ahead(void **state)
{
    (void)state;
    const struct algorithm ahead = {
        .name = "ahead", .prepare = work_ahead, .run = copies_what_it_prepared};
    expect_failures_everywhere(&ahead, "output[");
}

static void an_algorithm_that_looks_for_its_result_never_finds_it(void **state)
{
    (void)state;
    const struct algorithm fills = {.name = "fills", .run = fills_what_is_missing};
    for (int c = 0; c < 4; c++) {
        runs = useful = 0;
        assert_string_equal(row_of(&fills, &everywhere[c]), "passed: ");
        /* Some runs on other data, which are not timed, find the result of those before them. */
        assert_true(useful > SAMPLES);
    }
}

static void prepare_sees_the_data_of_the_first_run_alone(void **state)
{
    (void)state;
    const struct algorithm trusts = {
        .name = "trusts", .prepare = work_ahead_on_this_input, .run = trusts_what_it_prepared};
    for (int c = 0; c < 4; c++) {
        runs = useful = 0;
        assert_string_equal(row_of(&trusts, &everywhere[c]), "passed: ");
        assert_true(runs > SAMPLES);
        assert_int_equal(useful, 1);
    }
}

static void work_that_is_done_late(void **state)
{
    (void)state;
    const struct algorithm late = {.name = "late", .run = nothing, .hand_over = scan};
    expect_failures_everywhere(&late, "output: changed by hand_over()");
}

static void scratch_that_is_zero_by_chance(void **state)
{
    (void)state;
    const struct algorithm trusts = {
        .name = "trusts", .scratch_bytes = one_word, .run = trusts_scratch};
    expect_failures_everywhere(&trusts, "output[0]: got 1549556828, wanted 0");
}

static void touches_on_the_cpu(void **state)
{
    (void)state;
    const struct algorithm reads = {.name = "reads", .run = reads_past};
    const struct algorithm writes = {.name = "writes", .run = puts_back};
#ifndef __SANITIZE_ADDRESS__ /* which ends the program at the read */
    expect_failures(&reads, &everywhere[0], "touched memory 0 bytes past the end of a buffer");
#endif
    (void)reads;
    expect_failures(&writes, &everywhere[0], "wrote to its input, at byte 0 of 16384");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_algorithm_passes_at_every_size),
        cmocka_unit_test(work_that_was_done_for_the_same_data),
        cmocka_unit_test(a_few_elements_in_one_of_many_calls),
        cmocka_unit_test(an_answer_that_is_remembered),
        cmocka_unit_test(work_that_is_done_ahead),
        cmocka_unit_test(an_algorithm_that_looks_for_its_result_never_finds_it),
        cmocka_unit_test(prepare_sees_the_data_of_the_first_run_alone),
        cmocka_unit_test(work_that_is_done_late),
        cmocka_unit_test(scratch_that_is_zero_by_chance),
        cmocka_unit_test(touches_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
