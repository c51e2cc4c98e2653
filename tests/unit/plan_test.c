/* plan_test: which algorithms run on which devices, for various command lines and machines.
 * Links tests/unit/stub_algorithms.c instead of bench/table.c. */
#include "../../bench/base/errors.h"
#include "../../bench/base/processes.h"
#include "../../bench/cli/parse_options.h"
#include "../../bench/run/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_WORDS = 32, TEXT_BYTES = 4096 };

static const struct machine no_gpu = {.gpu_count = 0, .why_none = "no GPU found"};
#ifdef STUB_CUDA
static const struct machine two_gpus = {.gpu_count = 2};
#endif

static char errors[TEXT_BYTES]; /* stderr of the last plan() */

/* Runs make_plan for a command line of words separated by spaces. */
static int plan_for(const char *text, const struct machine *machine, struct plan *plan)
{
    static char line[512];
    char *argv[MOST_WORDS + 2] = {"scanbench"};
    int argc = 1;
    strcpy(line, text);
    for (char *word = strtok(line, " "); word && argc <= MOST_WORDS; word = strtok(NULL, " "))
        argv[argc++] = word;
    struct options options;
    /* The other processes are not there to compare flags with. */
    const struct processes planned_as = processes;
    processes = (struct processes){.count = 1, .hosts = 1, .on_this_host = 1};
    assert_int_equal(parse_options(argc, argv, &options), EXIT_OK);
    processes = planned_as;

    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    const int code = make_plan(&options, machine, plan);
    tell_of_plan(&options, plan);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    errors[fread(errors, 1, sizeof errors - 1, file)] = '\0';
    fclose(file);
    free_options(&options);
    return code;
}

/* Formats a plan as "cpu 1000: serial parallel (memcpy); emulator 1000: naive/64". Entries in
 * parentheses are measured but not printed. After a slash is the block size. */
static void describe(const struct plan *plan, char text[TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t g = 0; g < plan->group_count; g++) {
        const struct plan_group *group = &plan->groups[g];
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s", g ? "; " : "",
                                 device_kind_name(group->device.kind));
        if (group->device.kind == DEVICE_GPU)
            used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%d", group->device.index);
        used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                 " %llu:", (unsigned long long)group->n);
        for (size_t e = 0; e < group->entry_count; e++) {
            const struct plan_entry *entry = &group->entries[e];
            used += (size_t)snprintf(text + used, TEXT_BYTES - used,
                                     entry->printed ? " %s" : " (%s)", entry->name);
            if (entry->block > 0)
                used += (size_t)snprintf(text + used, TEXT_BYTES - used, "/%u", entry->block);
        }
    }
}

static void expect_plan(const char *line, const struct machine *machine, const char *wanted)
{
    struct plan plan;
    char text[TEXT_BYTES];
    if (plan_for(line, machine, &plan) != EXIT_OK)
        fail_msg("%s: %s", line, errors);
    describe(&plan, text);
    assert_string_equal(text, wanted);
    free_plan(&plan);
}

static void expect_refused(const char *line, const struct machine *machine, const char *part)
{
    struct plan plan;
    assert_int_equal(plan_for(line, machine, &plan), EXIT_UNUSABLE);
    assert_int_equal(plan.group_count, 0);
    if (strstr(errors, part) == NULL)
        fail_msg("%s: no \"%s\" in: %s", line, part, errors);
    assert_ptr_equal(strchr(errors, '\n'), errors + strlen(errors) - 1); /* one line */
}

static void each_algorithm_has_a_home(void **state)
{
    (void)state;
    expect_plan(
        "--n=1000", &no_gpu,
        "cpu 1000: serial parallel memcpy memcpy; emulator 1000: naive efficient efficient-smem "
        "memcpy");
    expect_plan("--n=1000 --algo=serial", &no_gpu, "cpu 1000: serial (memcpy)");
    expect_plan("--n=1000 --algo=naive", &no_gpu, "emulator 1000: naive (memcpy)");
}

/* What takes milliseconds on a GPU takes minutes in the emulator. */
static void the_emulator_has_a_size_of_its_own(void **state)
{
    (void)state;
    expect_plan("--algo=serial,naive", &no_gpu,
                "cpu 1048576: serial (memcpy); emulator 4096: naive (memcpy)");
    expect_plan("--algo=serial,naive --pot --npot", &no_gpu,
                "cpu 1048576: serial (memcpy); emulator 4096: naive (memcpy); "
                "cpu 655360: serial (memcpy); emulator 2560: naive (memcpy)");
    expect_plan("--algo=naive --device=emulator --n=2^20", &no_gpu,
                "emulator 1048576: naive (memcpy)");
}

static void memcpy_is_measured_where_others_are(void **state)
{
    (void)state;
    expect_plan("--n=1000 --algo=serial,memcpy", &no_gpu, "cpu 1000: serial memcpy");
    expect_plan("--n=1000 --algo=naive,memcpy", &no_gpu, "emulator 1000: naive memcpy");
    expect_plan("--n=1000 --algo=memcpy --device=cpu", &no_gpu, "cpu 1000: memcpy");
    expect_plan("--n=1000 --algo=memcpy", &no_gpu, "emulator 1000: memcpy");
}

static void devices_that_are_named(void **state)
{
    (void)state;
    expect_plan("--n=1000 --device=cpu", &no_gpu, "cpu 1000: serial parallel memcpy memcpy");
    expect_plan("--n=1000 --device=emulator,cpu --algo=naive,serial", &no_gpu,
                "emulator 1000: naive (memcpy); cpu 1000: serial (memcpy)");
    expect_plan("--n=2^22 --device=emulator --algo=naive", &no_gpu,
                "emulator 4194304: naive (memcpy)");
}

static void every_combination_once(void **state)
{
    (void)state;
    expect_plan("--n=10,20 --algo=naive --block=32,64", &no_gpu,
                "emulator 10: naive/32 naive/64 (memcpy); emulator 20: naive/32 naive/64 (memcpy)");
    struct plan plan;
    assert_int_equal(plan_for("--n=10,20,30 --algo=serial --type=i32,f64 --cache=both "
                              "--kind=inclusive,exclusive",
                              &no_gpu, &plan),
                     EXIT_OK);
    assert_int_equal(plan.group_count, 3 * 2 * 2 * 2);
    for (size_t a = 0; a < plan.group_count; a++)
        for (size_t b = 0; b < a; b++) {
            const struct plan_group *x = &plan.groups[a], *y = &plan.groups[b];
            assert_false(x->n == y->n && x->type == y->type && x->kind == y->kind &&
                         x->cache == y->cache);
        }
    free_plan(&plan);
}

/* memcpy runs with as many threads as each algorithm it is compared with. */
static void memcpy_is_measured_with_their_threads(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 4};
    struct plan plan;
    assert_int_equal(
        plan_for("--n=10 --device=cpu --algo=serial,parallel --threads=2,4", &no_gpu, &plan),
        EXIT_OK);
    size_t found = 0;
    for (size_t e = 0; e < plan.groups[0].entry_count; e++) {
        const struct plan_entry *entry = &plan.groups[0].entries[e];
        if (strcmp(entry->row->name, "memcpy") != 0)
            continue;
        assert_false(entry->printed);
        assert_true(found < 3 && entry->threads == threads[found % 3]);
        found++;
    }
    assert_int_equal(found, 3);
    free_plan(&plan);
}

static void threads_belong_to_algorithms_that_use_them(void **state)
{
    (void)state;
    struct plan plan;
    assert_int_equal(plan_for("--n=10 --device=cpu --threads=1,2,4", &no_gpu, &plan), EXIT_OK);
    assert_int_equal(plan.group_count, 1);
    unsigned parallel = 0, serial = 0;
    for (size_t e = 0; e < plan.groups[0].entry_count; e++) {
        const struct plan_entry *entry = &plan.groups[0].entries[e];
        parallel += strcmp(entry->row->name, "parallel") == 0;
        if (strcmp(entry->row->name, "serial") == 0) {
            serial++;
            assert_int_equal(entry->threads, 1);
        }
    }
    assert_int_equal(parallel, 3);
    assert_int_equal(serial, 1);
    free_plan(&plan);
}

static void operations_are_kept_apart(void **state)
{
    (void)state;
    expect_plan("--n=10 --op=compact", &no_gpu,
                "cpu 10: serial serial-scan; emulator 10: naive efficient efficient-smem");
    expect_plan("--n=10 --op=compact,scan --algo=serial", &no_gpu,
                "cpu 10: serial (memcpy); cpu 10: serial");
}

static void the_emulator_unasked_only_up_to_a_size(void **state)
{
    (void)state;
    expect_plan("--n=2^20 --algo=naive", &no_gpu, "emulator 1048576: naive (memcpy)");
    assert_non_null(strstr(errors, "emulator"));
    expect_refused("--n=2^20+1 --algo=naive", &no_gpu, "--device=emulator");
    expect_refused("--n=1000,2^21 --algo=naive,serial", &no_gpu, "--n=2097152");
}

static void what_was_not_named_is_left_out(void **state)
{
    (void)state;
    expect_plan("--n=2^21", &no_gpu, "cpu 2097152: serial parallel memcpy memcpy");
    assert_non_null(strstr(errors, "--device=emulator"));
    expect_plan("--n=2^21 --quiet", &no_gpu, "cpu 2097152: serial parallel memcpy memcpy");
    assert_string_equal(errors, "");
}

static void what_takes_no_such_problem_is_left_out_unless_it_is_named(void **state)
{
    (void)state;
    expect_plan("--n=10 --device=cpu --operator=max", &no_gpu, "cpu 10: serial memcpy");
    expect_plan("--n=10 --device=cpu --operator=sum,max --algo=own", &no_gpu,
                "cpu 10: serial parallel (memcpy) (memcpy); cpu 10: serial (memcpy)");
    expect_plan("--n=10 --device=cpu --operator=max --algo=cpu,par*", &no_gpu,
                "cpu 10: serial parallel memcpy memcpy");
    /* Where nothing takes it, rows say so. */
    expect_plan("--n=10 --device=emulator --operator=max --algo=own --block=64", &no_gpu,
                "emulator 10: naive/64 efficient/64 efficient-smem/64 (memcpy)");
}

static void one_note_about_the_emulator(void **state)
{
    (void)state;
    expect_plan("--n=10,20,30 --algo=naive --type=i32,u32 --quiet", &no_gpu,
                "emulator 10: naive (memcpy); emulator 20: naive (memcpy); "
                "emulator 30: naive (memcpy); emulator 10: naive (memcpy); "
                "emulator 20: naive (memcpy); emulator 30: naive (memcpy)");
    assert_string_equal(errors, "");
    expect_plan("--n=10,20 --algo=naive", &no_gpu,
                "emulator 10: naive (memcpy); emulator 20: naive (memcpy)");
    assert_ptr_equal(strchr(errors, '\n'), errors + strlen(errors) - 1);
    /* No note if it was requested, or if nothing runs. */
    expect_plan("--n=10 --algo=thrust", &no_gpu, "emulator 10: thrust (memcpy)");
    assert_string_equal(errors, "");
    expect_plan("--n=10 --algo=naive --device=emulator", &no_gpu, "emulator 10: naive (memcpy)");
    assert_string_equal(errors, "");
}

static void a_gpu_that_is_not_there(void **state)
{
    (void)state;
    expect_refused("--n=10 --algo=naive --device=gpu", &no_gpu, "--device=emulator");
    expect_refused("--n=10 --algo=naive,serial --device=cpu,gpu3", &no_gpu, "--device=gpu3");
}

#ifdef STUB_CUDA
static void with_gpus_their_algorithms_run_on_the_first(void **state)
{
    (void)state;
    expect_plan(
        "--n=1000", &two_gpus,
        "cpu 1000: serial parallel memcpy memcpy; gpu0 1000: naive efficient efficient-smem thrust "
        "memcpy");
    expect_plan("--n=2^22 --algo=naive", &two_gpus, "gpu0 4194304: naive (memcpy)");
    assert_string_equal(errors, "");
    expect_plan("--n=10 --algo=naive --device=1,gpu0,emulator", &two_gpus,
                "gpu1 10: naive (memcpy); gpu0 10: naive (memcpy); emulator 10: naive (memcpy)");
    expect_refused("--n=10 --algo=naive --device=gpu2", &two_gpus, "there are 2");
}
#endif

/* Plans as one of several processes. */
static int plan_as(struct processes which, const char *line, const struct machine *machine)
{
    struct plan plan;
    processes = which;
    const int code = plan_for(line, machine, &plan);
    processes = (struct processes){.count = 1, .hosts = 1, .on_this_host = 1};
    if (code == EXIT_OK)
        free_plan(&plan);
    return code;
}

#ifdef STUB_CUDA
/* All processes of a host see it, so that the first one can say so. */
static void processes_with_too_few_gpus(void **state)
{
    (void)state;
    for (unsigned number = 0; number < 3; number++) {
        const struct processes three = {3, number, 1, 3, number}, two = {2, number, 1, 2, number};
        assert_int_equal(plan_as(three, "--n=10 --algo=memcpy --device=gpu", &two_gpus),
                         EXIT_UNUSABLE);
        assert_non_null(strstr(errors, "mpirun: asks for 3 GPUs, and there are 2"));
        assert_int_equal(plan_as(three, "--n=10 --algo=memcpy --device=gpu --gpus=all", &two_gpus),
                         EXIT_UNUSABLE);
        assert_non_null(strstr(errors, "--gpus: asks for 3 GPUs, and there are 2"));
        if (number == 2)
            continue;
        assert_int_equal(plan_as(two, "--n=10 --algo=memcpy --device=gpu1", &two_gpus),
                         EXIT_UNUSABLE);
        assert_non_null(strstr(errors, "asks for 2 GPUs from gpu1 on"));
        assert_int_equal(plan_as(two, "--n=10 --algo=memcpy --device=gpu", &two_gpus), EXIT_OK);
        assert_int_equal(plan_as(two, "--n=10 --algo=memcpy --device=gpu --gpus=all", &two_gpus),
                         EXIT_OK);
    }
}
#endif

static void more_devices_than_a_team_can_have(void **state)
{
    (void)state;
    const struct processes many = {65, 0, 65, 1, 0}, two = {2, 0, 1, 2, 0};
    assert_int_equal(plan_as(many, "--n=10 --algo=memcpy --device=cpu", &no_gpu), EXIT_USAGE);
    assert_non_null(strstr(errors, "mpirun: 65 devices cannot share an array, 64 at most"));
    assert_int_equal(plan_as(two, "--n=10 --algo=memcpy --device=emulator --gpus=33", &no_gpu),
                     EXIT_USAGE);
    assert_non_null(strstr(errors, "--gpus: 66 devices cannot share an array"));
}

/* An algorithm requested by name gets a row that says why it cannot run here. */
static void what_only_a_gpu_can_run(void **state)
{
    (void)state;
    struct plan plan;
    assert_int_equal(plan_for("--n=10 --algo=thrust", &no_gpu, &plan), EXIT_OK);
    assert_int_equal(plan.group_count, 1);
    assert_int_equal(plan.groups[0].device.kind, DEVICE_EMULATOR);
    assert_string_equal(plan.groups[0].entries[0].row->name, "thrust");
    assert_null(plan.groups[0].entries[0].algorithm);
    assert_true(plan.groups[0].entries[0].printed);
    free_plan(&plan);
}

/* What works over slices has an entry for each engine that is chosen and can work there. */
static void engines_are_an_axis(void **state)
{
    (void)state;
    struct plan plan;
    expect_plan("--n=10 --gpus=2 --device=emulator", &no_gpu, "emulator 10: peer mpi memcpy");
    expect_plan("--n=10 --gpus=2 --algo=slices", &no_gpu, "emulator 10: peer nccl mpi (memcpy)");
    expect_plan("--n=10 --gpus=2 --engine=mpi,peer --algo=all", &no_gpu,
                "emulator 10: peer mpi memcpy");
    expect_plan("--n=10 --gpus=2 --engine=mpi", &no_gpu, "emulator 10: mpi memcpy");
    /* Its name was once that of the algorithm. */
    expect_plan("--n=10 --gpus=2 --algo=mpi,memcpy", &no_gpu, "emulator 10: mpi memcpy");
    expect_plan("--n=10 --gpus=2 --algo=p*", &no_gpu, "emulator 10: peer (memcpy)");
    /* One that is named and cannot work has a row that says so. */
    assert_int_equal(plan_for("--n=10 --gpus=2 --algo=nccl", &no_gpu, &plan), EXIT_OK);
    assert_int_equal(plan.group_count, 1);
    assert_string_equal(plan.groups[0].entries[0].name, "nccl");
    assert_null(plan.groups[0].entries[0].algorithm);
    free_plan(&plan);
#ifdef STUB_CUDA
    expect_plan("--n=10 --gpus=2", &two_gpus, "gpu0 10: peer nccl mpi memcpy");
    expect_plan("--n=10 --gpus=2 --engine=nccl --algo=slices", &two_gpus, "gpu0 10: nccl (memcpy)");
#endif
}

static size_t count_groups(const char *line)
{
    struct plan plan;
    assert_int_equal(plan_for(line, &no_gpu, &plan), EXIT_OK);
    const size_t count = plan.group_count;
    free_plan(&plan);
    return count;
}

static void operators_and_segments_are_axes(void **state)
{
    (void)state;
    struct plan plan;
    assert_int_equal(count_groups("--n=1,2 --algo=serial --operator=sum,max,recurrence"), 6);
    assert_int_equal(count_groups("--n=1 --algo=serial --operator=xor,sum --type=i32,f32"), 3);
    assert_int_equal(count_groups("--n=1,2 --algo=serial --segments=none,rows:7,keys:7"), 6);
    assert_int_equal(count_groups("--n=1 --algo=serial --segments=keys:8,keys:2^3"), 1);
    /* A compaction has no segments. */
    assert_int_equal(count_groups("--n=1 --algo=serial --op=scan,compact --segments=rows:7,keys:7"),
                     3);

    assert_int_equal(plan_for("--n=100 --algo=serial --segments=offsets:7:skewed", &no_gpu, &plan),
                     EXIT_OK);
    const struct problem problem = problem_of(&plan.groups[0]);
    assert_int_equal(problem.segments, SEGMENTS_OFFSETS);
    assert_int_equal(problem.segment_length, 7);
    assert_int_equal(problem.segment_count, 15);
    assert_int_equal(plan.groups[0].input.segments.lengths, LENGTHS_SKEWED);
    assert_string_equal(plan.groups[0].input.segments_text, "offsets:7:skewed");
    free_plan(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_algorithm_has_a_home),
        cmocka_unit_test(the_emulator_has_a_size_of_its_own),
        cmocka_unit_test(memcpy_is_measured_where_others_are),
        cmocka_unit_test(devices_that_are_named),
        cmocka_unit_test(every_combination_once),
        cmocka_unit_test(memcpy_is_measured_with_their_threads),
        cmocka_unit_test(threads_belong_to_algorithms_that_use_them),
        cmocka_unit_test(operations_are_kept_apart),
        cmocka_unit_test(the_emulator_unasked_only_up_to_a_size),
        cmocka_unit_test(what_was_not_named_is_left_out),
        cmocka_unit_test(what_takes_no_such_problem_is_left_out_unless_it_is_named),
        cmocka_unit_test(one_note_about_the_emulator),
        cmocka_unit_test(a_gpu_that_is_not_there),
        cmocka_unit_test(more_devices_than_a_team_can_have),
#ifdef STUB_CUDA
        cmocka_unit_test(with_gpus_their_algorithms_run_on_the_first),
        cmocka_unit_test(processes_with_too_few_gpus),
#endif
        cmocka_unit_test(what_only_a_gpu_can_run),
        cmocka_unit_test(engines_are_an_axis),
        cmocka_unit_test(operators_and_segments_are_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
