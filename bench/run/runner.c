#include "runner.h"

#include "../errors.h"
#include "../interrupt.h"
#include "group.h"
#include "progress.h"
#include "run_rows.h"

#include <string.h>

static size_t printed_rows(const struct plan *plan)
{
    size_t count = 0;
    for (size_t g = 0; g < plan->group_count; g++)
        for (size_t e = 0; e < plan->groups[g].entry_count; e++)
            count += plan->groups[g].entries[e].printed;
    return count;
}

/* Is anything left to do, from the group at hand on? */
static bool any_left(const struct plan *plan, const struct continuation *state)
{
    const struct plan_group *group = &plan->groups[state->group];
    for (size_t e = 0; e < group->entry_count; e++)
        if (group->entries[e].printed && state->entries[e] == ENTRY_TO_DO)
            return true;
    return state->group + 1 < plan->group_count;
}

/* The device is lost for this process; another gets it back. Returns if there is nothing
 * left to do, or no other process to be had. */
static void go_on_without(const struct plan *plan, struct continuation *state,
                          const struct report *report)
{
    if (interrupted() || report_failed(report) || !any_left(plan, state))
        return;
    state->rows = report_rows(report);
    complain("the device is lost for this process; another goes on with the rest");
    go_on_in_new_process(state);
    complain("no other process can be started; the rows before are kept");
}

/* What became of the group's entries, if another process has not begun it. */
static void begin_group(const struct plan_group *group, struct continuation *state)
{
    if (group->entry_count > CONTINUATION_ENTRIES)
        BUG("%zu entries in a group", group->entry_count);
    if (!state->going_on)
        memset(state->entries, ENTRY_TO_DO, group->entry_count);
    state->going_on = false;
    state->entries[group->entry_count] = '\0';
}

int run_plan(const struct options *options, const struct plan *plan, struct report *report)
{
    struct session session = {0};
    struct continuation state = options->continuation;
    struct group_run run = {
        .options = options,
        .session = &session,
        .report = report,
        .rows_done = state.rows,
        .entries = state.entries,
    };
    start_progress(options, printed_rows(plan));
    for (; state.group < plan->group_count; state.group++) {
        if (interrupted() || report_failed(report))
            break;
        run.group = &plan->groups[state.group];
        begin_group(run.group, &state);
        state.code = worse(state.code, run_group(&run));
        if (run.lost)
            break;
    }
    if (run.lost) {
        state.code = worse(state.code, EXIT_ERROR);
        go_on_without(plan, &state, report);
    }
    close_session(&session);
    return interrupted() ? EXIT_INTERRUPTED : state.code;
}
