/* scanbench: main. Parse, plan, run, report. */
#include "bench/base/build.h"
#include "bench/run/common_plan.h"
#include "bench/run/device_info.h"
#include "bench/run/dry_run.h"
#include "bench/base/errors.h"
#include "bench/base/interrupt.h"
#include "bench/base/processes.h"
#include "bench/cli/list.h"
#include "bench/cli/manual.h"
#include "bench/cli/option_rules.h"
#include "bench/cli/parse_options.h"
#include "bench/run/plan.h"
#include "bench/rows/chosen_columns.h"
#include "bench/rows/columns.h"
#include "bench/rows/report.h"
#include "bench/run/runner.h"
#include "bench/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_version(void)
{
    char build[BUILD_BYTES];
    format_build(build);
    printf("scanbench %s\n", build);
}

/* After a run without --algo: what else there would be. */
static void tell_of_missing_libraries(const struct options *options)
{
    char text[512];
    if (options->quiet || options->algo_word_count > 0 || interrupted())
        return;
    list_missing(options->operations, has_teams(options), text, sizeof text);
    if (text[0] != '\0')
        complain("not in this build: %s", text);
}

/* A new worker must find the devices and the plan of the first. */
static bool is_first_plan(const struct run_state *state, const struct machine *machine,
                          const struct plan *plan)
{
    return state->groups == 0 ||
           (machine->gpu_count == state->gpus && plan->group_count == state->groups);
}

/* Runs the plan, or what other workers left of it. */
static int run_rows(const struct options *options, const struct plan *plan, struct results *results,
                    struct run_state *state)
{
    const bool begins = state->groups == 0;
    state->groups = plan->group_count;
    catch_interrupts(); /* before the headers, since writing them may already fail or block */
    const int code = results_open(results);
    if (code != EXIT_OK)
        return code;
    if (begins)
        tell_of_plan(options, plan);
    return run_plan(options, plan, results, state);
}

/* Makes the plan, and runs it. */
static int plan_and_run(const struct options *options, struct results *results,
                        struct run_state *state)
{
    const struct machine machine = look_at_machine();
    struct plan plan = {0};
    int code = make_common_plan(options, &machine, &plan);
    if (state->groups > 0 && (code != EXIT_OK || !is_first_plan(state, &machine, &plan))) {
        complain("the device did not come back; earlier rows are kept");
        code = worse_exit_code(state->code, EXIT_ERROR);
    } else if (code == EXIT_OK) {
        state->gpus = machine.gpu_count;
        code = run_rows(options, &plan, results, state);
    }
    free_plan(&plan);
    return code;
}

/* The worker's task. The files of the user's are loaded by it, and devices opened. */
static int work(void *context, struct results *results, struct run_state *state)
{
    static const double LOADING_MS = 600e3; /* compiling them is part of it */
    const struct command_line *line = context;
    mark_output(results, "while files of --algo were loaded");
    set_limit(state, LOADING_MS);
    int code = complete_options(line);
    mark_output(results, "");
    set_limit(state, 0);
    if (code == EXIT_OK) {
        code = plan_and_run(line->options, results, state);
    } else if (state->groups > 0) {
        complain("the files of --algo did not load again; earlier rows are kept");
        code = worse_exit_code(state->code, EXIT_ERROR);
    }
    free_options(line->options);
    return code;
}

/* Several processes: each is its own worker, for they could not join the others again. */
static int run_in_this_process(const struct options *options, struct report **report)
{
    struct run_state state = first_state();
    struct results results = {.spec = &options->output, .state = &state, .channel = -1};
    int code = plan_and_run(options, &results, &state);
    if (state.lost)
        complain("the device is lost; earlier rows are kept");
    *report = results.report;
    return code;
}

static int measure(struct command_line *line)
{
    const struct options *options = line->options;
    struct report *report;
    int code = processes.count > 1 ? run_in_this_process(options, &report)
                                   : run_in_worker(work, line, &options->output, &report);
    if (report == NULL)
        return code;
    code = worse_exit_code(code, close_report(report));
    if (code == EXIT_INTERRUPTED)
        tell_how_to_go_on(&options->output);
    tell_of_missing_libraries(options);
    return code;
}

static int show_plan(const struct options *options)
{
    const struct machine machine = look_at_machine();
    struct plan plan = {0};
    struct chosen_columns columns = {0};
    const bool known = choose_columns(&options->output, &columns); /* as the run would say */
    free(columns.column);
    if (!known)
        return EXIT_USAGE;
    int code = make_common_plan(options, &machine, &plan);
    if (code == EXIT_OK) {
        tell_of_plan(options, &plan);
        code = print_plan(options, &plan, stdout);
    }
    free_plan(&plan);
    return code;
}

/* A full disk or closed pipe is an error for any output, not only rows. */
static int finish_stdout(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    complain("stdout: cannot write: %s", strerror(errno ? errno : EIO));
    return EXIT_ERROR;
}

static void *allocate_json(size_t bytes)
{
    return allocate_or_die(NULL, bytes);
}

/* open() returns the lowest closed descriptor, so with stdout or stderr closed, their output
 * would go into --output's file. Writes to such a stdout, which takes results, must fail; those
 * to stderr may be lost. */
static bool open_standard_descriptors(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int d = 0; d < 3; d++)
        if (fcntl(d, F_GETFD) == -1 && open("/dev/null", modes[d]) != d)
            return false;
    return true;
}

/* If there are several processes, the first one alone has files and notes; the others' stdout
 * leads nowhere. */
static void write_nowhere(struct options *options)
{
    struct output_spec *output = &options->output;
    options->quiet = output->quiet = true;
    output->path = output->samples_path = output->junit_path = output->baseline_path = NULL;
    output->opening = FILE_NEW;
}

/* Several processes read their flags together. A run's algorithms are found by its worker, since
 * that may load files of the user's and open devices. */
static int read_line(int argc, char **argv, struct command_line *line)
{
    if (processes.count > 1)
        return parse_options(argc, argv, line->options);
    int code = read_options(argc, argv, line);
    if (code == EXIT_OK && line->options->action != ACTION_RUN &&
        (code = complete_options(line)) != EXIT_OK)
        free_options(line->options);
    return code;
}

int main(int argc, char **argv)
{
    if (!open_standard_descriptors())
        return EXIT_ERROR;
    struct options options;
    struct command_line line = {.options = &options};
    json_set_alloc_funcs(allocate_json, free);
    int code = join_processes();
    if (code != EXIT_OK)
        return code;
    code = read_line(argc, argv, &line);
    if (code != EXIT_OK)
        return leave_processes(code);
    if (processes.number > 0)
        write_nowhere(&options);
    if (options.action != ACTION_RUN && options.action != ACTION_MANUAL) /* which start others */
        signal(SIGPIPE, SIG_IGN); /* finish_stdout() says so, as for a full disk */
    switch (options.action) {
    case ACTION_RUN:
        code = measure(&line);
        break;
    case ACTION_DRY_RUN:
        code = show_plan(&options);
        break;
    case ACTION_LIST:
        print_list(&options, stdout);
        break;
    case ACTION_LIST_COLUMNS:
        print_columns(stdout);
        break;
    case ACTION_DEVICE_INFO:
        code = print_devices(&options, stdout);
        break;
    case ACTION_MANUAL:
        show_manual();
        break;
    case ACTION_GENERATE:
        generate(options.generated, stdout);
        break;
    case ACTION_VERSION:
        print_version();
        break;
    case ACTION_HELP:
        print_help(stdout);
        break;
    }
    free_options(&options);
    return leave_processes(code == EXIT_OK ? finish_stdout() : code);
}
