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
#include "bench/rows/columns.h"
#include "bench/rows/report.h"
#include "bench/run/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_version(void)
{
    char build[BUILD_BYTES];
    format_build(build);
    printf("scanbench %s\n", build);
}

/* A process that continues another's run must find the same devices and plan. */
static bool can_go_on(const struct continuation *before, const struct machine *machine,
                      const struct plan *plan)
{
    return !before->going_on ||
           (machine->gpu_count == before->gpus && plan->group_count == before->groups);
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

/* Runs the plan. If `code` is not EXIT_OK there is no plan, and the run that another process
 * began is only closed. */
static int run_and_report(const struct options *options, const struct plan *plan, int code)
{
    const bool runs = code == EXIT_OK;
    int report_code;
    catch_interrupts(); /* before the headers, since writing them may already fail or block */
    struct report *report = open_report(&options->output, &report_code);
    if (!all_processes(report != NULL)) {
        if (report != NULL)
            close_report(report);
        return worse_exit_code(code, report_code);
    }
    if (runs && !options->continuation.going_on)
        tell_of_plan(options, plan);
    if (runs)
        code = run_plan(options, plan, report);
    report_code = close_report(report);
    if (report_code != EXIT_OK && code == EXIT_OK)
        code = report_code;
    if (code == EXIT_INTERRUPTED)
        tell_how_to_go_on(&options->output);
    if (runs)
        tell_of_missing_libraries(options);
    return code;
}

static int measure(struct options *options)
{
    const struct machine machine = look_at_machine();
    struct continuation *before = &options->continuation;
    struct plan plan = {0};
    int code = make_common_plan(options, &machine, &plan);
    if (code != EXIT_OK && !before->going_on) {
        free_plan(&plan);
        return code;
    }
    if (options->action == ACTION_DRY_RUN) {
        tell_of_plan(options, &plan);
        code = print_plan(options, &plan, stdout);
    } else if (code != EXIT_OK || !can_go_on(before, &machine, &plan)) {
        complain("the device did not come back; earlier rows are kept");
        code = worse_exit_code(before->code, run_and_report(options, &plan, EXIT_ERROR));
    } else {
        before->gpus = machine.gpu_count;
        code = run_and_report(options, &plan, EXIT_OK);
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
    output->path = output->samples_path = output->baseline_path = NULL;
    output->opening = FILE_NEW;
}

/* What a run that is started anew for its next rows knows of those before. */
static void continue_output(struct options *options, char **argv)
{
    struct output_spec *output = &options->output;
    options->continuation = read_continuation(argv);
    if (options->continuation.going_on && output->opening != FILE_RESUME)
        output->opening = FILE_GO_ON;
    output->going_on = options->continuation.going_on;
    output->rows_before = options->continuation.rows;
    output->noisy_before = options->continuation.noisy;
    output->devices_before = options->continuation.devices;
}

int main(int argc, char **argv)
{
    if (!open_standard_descriptors())
        return EXIT_ERROR;
    struct options options;
    json_set_alloc_funcs(allocate_json, free);
    int code = join_processes();
    if (code != EXIT_OK)
        return code;
    code = parse_options(argc, argv, &options);
    if (code != EXIT_OK)
        return leave_processes(code);
    if (processes.number > 0)
        write_nowhere(&options);
    continue_output(&options, argv);
    switch (options.action) {
    case ACTION_RUN:
    case ACTION_DRY_RUN:
        code = measure(&options);
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
