/* runner: runs the groups of a plan. */
#include "runner.h"

#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../names.h"
#include "../base/processes.h"
#include "group.h"
#include "progress.h"
#include "run_rows.h"

#include <string.h>

/* The number of rows of a group; with `entries`, only of those that another worker has done. */
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
static bool something_left(const struct plan *plan, const struct run_state *state)
{
    const struct plan_group *group = &plan->groups[state->group];
    for (size_t e = 0; e < group->entry_count; e++)
        if (group->entries[e].printed && state->entries[e] == ENTRY_TO_DO)
            return true;
    return state->group + 1 < plan->group_count;
}

/* The number of rows of the plan that other workers have done. */
static size_t rows_done_before(const struct plan *plan, const struct run_state *state)
{
    if (state->group >= plan->group_count)
        return 0;
    return printed_rows(plan, state->group) +
           (state->entries[0] != '\0' ? printed_rows_of(&plan->groups[state->group], state->entries)
                                      : 0);
}

/* Initialises the states of the group's entries, unless another worker has begun it. */
static void begin_group(const struct plan_group *group, struct run_state *state)
{
    if (group->entry_count > MOST_ENTRIES)
        BUG("%zu entries in a group", group->entry_count);
    if (state->entries[0] == '\0')
        memset(state->entries, ENTRY_TO_DO, group->entry_count);
    state->entries[group->entry_count] = '\0';
    state->running = state->suspect = NO_ENTRY;
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
                results_announce(run.results, &row);
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
        complain("--strict: %zu of %zu rows did not pass%s%s", run->missed, rows,
                 run->missed == 1 ? ": " : "; first ", run->first_missed);
    return EXIT_WRONG_ANSWER;
}

/* Runs the groups that are left, until the device is lost or the run interrupted. */
static void run_groups(struct run *run)
{
    struct run_state *state = run->state;
    for (; state->group < run->plan->group_count; state->group++, state->entries[0] = '\0') {
        if (!all_processes(!interrupted() && !results_failed(run->results)))
            break;
        run->group = &run->plan->groups[state->group];
        begin_group(run->group, state);
        const int code = run_group(run);
        state->code = worse_exit_code(state->code, code);
        if (run->lost)
            break;
    }
}

int run_plan(const struct options *options, const struct plan *plan, struct results *results,
             struct run_state *state)
{
    struct session session = {0};
    struct clocks clocks = {0};
    struct run run = {
        .options = options,
        .plan = plan,
        .clocks = &clocks,
        .session = &session,
        .results = results,
        .state = state,
        .rows_done = rows_done_before(plan, state),
    };
    const bool begins = state->group == 0 && state->entries[0] == '\0';
    if (options->lock_clocks)
        lock_gpus(plan, options->quiet, &clocks);
    if (begins)
        announce_rows(&run, plan);
    start_progress(options, printed_rows(plan, plan->group_count), run.rows_done);
    run_groups(&run);
    unlock_gpus(&clocks); /* before a new worker locks them */
    if (run.lost)
        state->code = worse_exit_code(state->code, EXIT_ERROR);
    state->lost =
        run.lost && !interrupted() && !results_failed(results) && something_left(plan, state);
    close_session(&session);
    if (interrupted())
        return EXIT_INTERRUPTED;
    return options->strict && state->code == EXIT_OK && !results_failed(results) ? strict_code(&run)
                                                                                 : state->code;
}
