/* runner: runs the groups of a plan, in another process if the device is lost. */
#include "runner.h"

#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../names.h"
#include "../base/processes.h"
#include "group.h"
#include "progress.h"
#include "run_rows.h"

#include <string.h>

/* The number of rows of a group; with `entries`, only of those that another process has done. */
static size_t printed_rows_of(const struct plan_group *group, const char *entries)
{
    size_t count = 0;
    for (size_t e = 0; e < group->entry_count; e++)
        count += group->entries[e].printed && (entries == NULL || entries[e] != ENTRY_TO_DO);
    return count;
}

static size_t printed_rows(const struct plan *plan, size_t group_count)
{
    size_t count = 0;
    for (size_t g = 0; g < group_count; g++)
        count += printed_rows_of(&plan->groups[g], NULL);
    return count;
}

/* Is there anything left to do, from the current group on? */
static bool something_left(const struct plan *plan, const struct continuation *state)
{
    const struct plan_group *group = &plan->groups[state->group];
    for (size_t e = 0; e < group->entry_count; e++)
        if (group->entries[e].printed && state->entries[e] == ENTRY_TO_DO)
            return true;
    return state->group + 1 < plan->group_count;
}

/* The device is lost for this process, but a new process gets it back. Returns if nothing is
 * left to do or if no process can be started. */
static void go_on_without(const struct plan *plan, struct continuation *state,
                          const struct report *report)
{
    if (interrupted() || report_failed(report) || !something_left(plan, state))
        return;
    if (processes.count > 1) {
        complain("the device is lost; earlier rows are kept");
        return;
    }
    state->groups = plan->group_count;
    complain("the device is lost for this process; a new one continues with the rest");
    hand_over_report(report, state);
    go_on_in_new_process(state);
    if (!interrupted())
        complain("no other process can be started; earlier rows are kept");
}

/* The number of rows of the plan that another process has done. */
static size_t rows_of_predecessor(const struct plan *plan, const struct continuation *state)
{
    if (!state->going_on)
        return 0;
    return printed_rows(plan, state->group) +
           printed_rows_of(&plan->groups[state->group], state->entries);
}

/* Initialises the states of the group's entries, unless another process has begun it. */
static void begin_group(const struct plan_group *group, struct continuation *state)
{
    if (group->entry_count > CONTINUATION_ENTRIES)
        BUG("%zu entries in a group", group->entry_count);
    if (!state->going_on)
        memset(state->entries, ENTRY_TO_DO, group->entry_count);
    state->going_on = false;
    state->entries[group->entry_count] = '\0';
}

/* Tells the report of every row of the plan. Only the CPU is open, which tells its number of
 * threads; to open a GPU takes long. */
static void announce_rows(const struct run *common, const struct plan *plan)
{
    struct run run = *common;
    struct session cpu = {0};
    for (size_t g = 0; g < plan->group_count; g++) {
        run.group = &plan->groups[g];
        const struct device_choice device = run.group->device;
        const bool opened = backend_of(device.kind)->has_threads && device.members == 0 &&
                            open_session(&cpu, device, run.options) == NULL;
        run.session = opened ? &cpu : common->session;
        for (size_t e = 0; e < run.group->entry_count; e++) {
            struct row_texts texts;
            const struct row row = make_row(&run, &run.group->entries[e], &texts);
            if (run.group->entries[e].printed)
                announce_row(run.report, &row);
        }
    }
    close_session(&cpu);
}

/* --strict: the code of a run that ended well, except that rows may have been skipped. */
static int strict_code(const struct run *run)
{
    const size_t rows = printed_rows(run->plan, run->plan->group_count);
    if (run->missed == 0 && rows > 0)
        return EXIT_OK;
    if (rows == 0)
        complain("--strict: there was no row to measure");
    else
        complain("--strict: %zu of %zu rows did not pass", run->missed, rows);
    return EXIT_WRONG_ANSWER;
}

int run_plan(const struct options *options, const struct plan *plan, struct report *report)
{
    struct session session = {0};
    struct clocks clocks = {0};
    struct continuation state = options->continuation;
    struct run run = {
        .options = options,
        .plan = plan,
        .clocks = &clocks,
        .session = &session,
        .report = report,
        .rows_done = rows_of_predecessor(plan, &state),
        .entries = state.entries,
    };
    memcpy(run.reference_ms, state.reference_ms, sizeof run.reference_ms);
    if (options->lock_clocks)
        lock_gpus(plan, options->quiet, &clocks);
    announce_rows(&run, plan);
    start_progress(options, printed_rows(plan, plan->group_count));
    for (; state.group < plan->group_count; state.group++) {
        if (!all_processes(!interrupted() && !report_failed(report)))
            break;
        run.group = &plan->groups[state.group];
        begin_group(run.group, &state);
        state.code = worse_exit_code(state.code, run_group(&run));
        if (run.lost)
            break;
    }
    unlock_gpus(&clocks); /* before a new process locks them */
    if (run.lost) {
        state.code = worse_exit_code(state.code, EXIT_ERROR);
        memcpy(state.reference_ms, run.reference_ms, sizeof run.reference_ms);
        go_on_without(plan, &state, report);
    }
    close_session(&session);
    if (interrupted())
        return EXIT_INTERRUPTED;
    return options->strict && state.code == EXIT_OK && !report_failed(report) ? strict_code(&run)
                                                                              : state.code;
}
