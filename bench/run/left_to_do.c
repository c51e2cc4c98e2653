/* left_to_do: skips the entries whose rows are finished. */
#include "left_to_do.h"

#include "../base/errors.h"
#include "../base/processes.h"
#include "../base/text.h"
#include "../rows/defect_kind.h"
#include "progress.h"
#include "run_rows.h"

#include <stdio.h>
#include <string.h>

/* A row that lost the device this often is not tried again. */
enum { MOST_LOSSES = 2, MOST_ENDLESS = 2 };

/* Is a row that the file lacks not tried again? One that keeps losing the device would prevent the
 * other rows from running. */
static bool left_alone(const struct row *row, unsigned losses)
{
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
            if (ahead.group->entries[e].printed && !results_had(run->results, &row).all)
                return true;
        }
    }
    return false;
}

/* The emulator ends a kernel, and the parent ends a worker. */
static bool did_not_end(const struct measurement *m)
{
    return check_is(m, "error") &&
           (strstr(m->reason, "time limit in ") != NULL || strstr(m->reason, DID_NOT_END) != NULL);
}

void note_endless_row(const struct run *run, const struct measurement *m)
{
    char *endless = run->state->endless;
    const size_t size = sizeof run->state->endless;
    if (did_not_end(m) && strlen(endless) + strlen(m->entry->name) + 2 < size)
        append_text(endless, size, "%s ", m->entry->name);
}

/* A row at which the worker before ended. The file of --resume may have it. */
static void write_last_row(const struct run *run, struct measurement *m)
{
    struct run_state *state = run->state;
    const bool wrong = state->reason_code == EXIT_WRONG_ANSWER;
    finish_row(m, wrong ? "failed" : "error", state->reason);
    note_endless_row(run, m);
    if (row_wanted(m))
        send_row(run, m);
    else
        complain("%s, to compare with: %s", m->entry->name, m->reason);
    const bool found = run->options->check.wanted; /* a defect, whatever it is */
    state->code = worse_exit_code(state->code, found ? EXIT_WRONG_ANSWER : state->reason_code);
    m->had = true;
    m->check = NULL; /* its row is written */
}

static void skip_row_there(const struct run *run, struct measurement *m, char became)
{
    const struct plan_entry *entry = m->entry;
    struct row_texts texts;
    const struct row row = make_row(run, entry, &texts);
    const struct had had = entry->printed ? results_had(run->results, &row) : (struct had){0};
    const bool has_row = became == ENTRY_DONE || became == ENTRY_LOST_DEVICE;
    m->left_alone = !has_row && entry->printed && !had.all && left_alone(&row, had.lost);
    m->left_alone = first_process(m->left_alone);
    const bool alone = became == ENTRY_LOST_DEVICE || m->left_alone;
    m->had_passed = first_process(had.all && had.passed);
    m->had_failed = first_process(had.all && had.failed);
    if (had.all)
        snprintf(m->reason, sizeof m->reason, "%s", had.reason);
    m->had = alone || became == ENTRY_DONE || first_process(had.all);
    const bool to_compare =
        copies_input(entry->algorithm) || (run->group->reference && entry->row->is_choice);
    m->done = alone || (m->had && !to_compare);
}

bool skip_rows_there(struct run *run)
{
    bool any_left = false;
    for (size_t e = 0; e < run->group->entry_count; e++) {
        struct measurement *m = &run->ms[e];
        char *became = &run->state->entries[e];
        skip_row_there(run, m, *became);
        leave_out_of_progress(m->had && *became == ENTRY_TO_DO);
        if (*became == ENTRY_ENDED_WORKER) {
            if (!m->done)
                write_last_row(run, m);
            *became = ENTRY_DONE; /* printed or not */
        }
        any_left |= row_wanted(m);
    }
    return any_left || a_team_needs(run);
}

void note_entries(struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        const bool to_do = !m->done && !m->had;
        if (check_is(m, "error") || m->lost)
            run->state->entries[e] = ENTRY_LOST_DEVICE;
        else if (run->state->entries[e] == ENTRY_TO_DO)
            run->state->entries[e] = to_do || !m->entry->printed ? ENTRY_TO_DO : ENTRY_DONE;
    }
}

bool is_endless(const struct run *run, const struct measurement *m)
{
    char name[64];
    int count = 0;
    snprintf(name, sizeof name, "%s ", m->entry->name);
    for (const char *at = run->state->endless; run->options->check.wanted && *at != '\0';
         at = strchr(at, ' ') + 1)
        count += strncmp(at, name, strlen(name)) == 0;
    return count >= MOST_ENDLESS;
}
