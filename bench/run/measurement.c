/* measurement: the state of each entry of a group, from its start to its finished row. */
#include "measurement.h"

#include "../base/errors.h"
#include "../base/interrupt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_first_of_problem(const struct run *run)
{
    return run->group == run->plan->groups || !same_problem(run->group - 1, run->group);
}

void start_measurements(struct run *run)
{
    const struct plan_group *group = run->group;
    for (int cache = 0; cache < CACHE_STATE_COUNT && is_first_of_problem(run); cache++)
        run->state->reference_ms[cache] = NAN;
    const struct problem base = problem_of(group);
    run->input = make_input(&group->input, &base);
    run->ms = allocate_or_die(NULL, group->entry_count * sizeof *run->ms);
    memset(run->ms, 0, group->entry_count * sizeof *run->ms);
    for (size_t e = 0; e < group->entry_count; e++) {
        run->ms[e].entry = &group->entries[e];
        run->ms[e].gpu = (struct gpu_state){NAN, NAN, -1};
        run->ms[e].energy_mj = NAN;
    }
}

void free_measurements(struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++) {
        free(run->ms[e].time_ms);
        free_launch_times(&run->ms[e].launch_times);
        free_launch_counts(&run->ms[e].launch_counts);
    }
    free(run->ms);
    run->ms = NULL;
}

void finish_row(struct measurement *m, const char *check, const char *reason)
{
    m->done = true;
    m->check = check;
    snprintf(m->reason, sizeof m->reason, "%s", reason != NULL ? reason : "");
    const time_t now = time(NULL);
    struct tm utc;
    strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

void fail_rows_left(struct run *run, const char *why)
{
    if (interrupted()) /* the device may have failed for that alone */
        return;
    for (size_t e = 0; e < run->group->entry_count; e++)
        if (!run->ms[e].done)
            finish_row(&run->ms[e], "error", why);
}

bool check_is(const struct measurement *m, const char *check)
{
    return m->check != NULL && strcmp(m->check, check) == 0;
}

bool all_done(const struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++)
        if (!run->ms[e].done)
            return false;
    return true;
}

bool row_wanted(const struct measurement *m)
{
    return m->entry->printed && !m->had;
}

struct statistics memcpy_statistics(const struct run *run, const struct measurement *m)
{
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *copy = &run->ms[e];
        if (copies_input(copy->entry->algorithm) && check_is(copy, "passed") &&
            copy->task.problem.threads == m->task.problem.threads)
            return copy->statistics;
    }
    return (struct statistics){0};
}

void note_reference(struct run *run)
{
    double *ms = &run->state->reference_ms[run->group->cache];
    *ms = NAN;
    for (size_t e = 0; e < run->group->entry_count; e++)
        if (run->ms[e].entry->row->is_choice && check_is(&run->ms[e], "passed"))
            *ms = run->ms[e].statistics.median;
}
