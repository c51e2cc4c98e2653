/* left_to_do: skips the entries whose rows are finished. */
#include "left_to_do.h"

#include "../base/errors.h"
#include "../base/processes.h"
#include "progress.h"
#include "run_rows.h"

#include <stdio.h>

/* A row that lost the device this often is not tried again. */
enum { MOST_LOSSES = 2 };

/* Is a row that the file lacks not tried again? One that keeps losing the device would prevent the
 * other rows from running. */
static bool left_alone(const struct report *report, const struct row *row)
{
    const unsigned losses = resume_lost_count(report_resume(report), row);
    if (losses < MOST_LOSSES)
        return false;
    char times[24] = "twice";
    if (losses > 2)
        snprintf(times, sizeof times, "%u times", losses);
    complain(
        "%s %s, n = %lld: lost the device %s before; not tried again (remove its rows to run it "
        "again)",
        row->op, row->algo, (long long)row->n, times);
    return true;
}

/* Has a team, whose time is compared with that of the group's `auto`, rows left? */
static bool a_team_needs(const struct run *run)
{
    struct run ahead = *run;
    for (size_t g = 0; g < run->plan->group_count && run->group->reference; g++) {
        ahead.group = &run->plan->groups[g];
        if (ahead.group->reference || ahead.group->cache != run->group->cache ||
            !same_problem(ahead.group, run->group))
            continue;
        for (size_t e = 0; e < ahead.group->entry_count; e++) {
            struct row_texts texts;
            const struct row row = make_row(&ahead, &ahead.group->entries[e], &texts);
            if (ahead.group->entries[e].printed &&
                !resume_has_all(report_resume(run->report), &row))
                return true;
        }
    }
    return false;
}

static void skip_row_there(const struct run *run, struct measurement *m, char became)
{
    const struct plan_entry *entry = m->entry;
    struct row_texts texts;
    const struct row row = make_row(run, entry, &texts);
    const bool has_row = entry->printed && resume_has_all(report_resume(run->report), &row);
    m->left_alone =
        became == ENTRY_TO_DO && entry->printed && !has_row && left_alone(run->report, &row);
    m->left_alone = first_process(m->left_alone);
    const bool alone = became == ENTRY_LOST_DEVICE || m->left_alone;
    m->had_passed = first_process(has_row && resume_passed(report_resume(run->report), &row));
    m->had = alone || became == ENTRY_DONE || first_process(has_row);
    const bool to_compare =
        copies_input(entry->algorithm) || (run->group->reference && entry->row->is_choice);
    m->done = alone || (m->had && !to_compare);
}

bool skip_rows_there(struct run *run)
{
    bool any_left = false;
    for (size_t e = 0; e < run->group->entry_count; e++) {
        struct measurement *m = &run->ms[e];
        skip_row_there(run, m, run->entries[e]);
        any_left |= row_wanted(m);
        leave_out_of_progress(m->had && run->entries[e] == ENTRY_TO_DO);
    }
    return any_left || a_team_needs(run);
}

void note_entries(struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        const bool to_do = !m->done && !m->had;
        if (check_is(m, "error") || m->lost)
            run->entries[e] = ENTRY_LOST_DEVICE;
        else if (run->entries[e] == ENTRY_TO_DO)
            run->entries[e] = to_do || !m->entry->printed ? ENTRY_TO_DO : ENTRY_DONE;
    }
}
