/* defects: gathers rows, and merges those that show the same defect. */
#include "defects.h"

#include "../base/errors.h"
#include "baseline.h"
#include "columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct verdicts *new_verdicts(void)
{
    struct verdicts *verdicts = allocate_or_die(NULL, sizeof *verdicts);
    *verdicts = (struct verdicts){0};
    return verdicts;
}

static void free_row(struct seen_row *row)
{
    free(row->type);
    free(row->kind);
    free(row->input);
    free(row->max);
    free(row->keep);
    free(row->block);
    free(row->what);
}

void free_verdicts(struct verdicts *verdicts)
{
    if (verdicts == NULL)
        return;
    for (size_t s = 0; s < verdicts->count; s++) {
        struct subject *subject = &verdicts->subjects[s];
        for (size_t r = 0; r < subject->row_count; r++)
            free_row(&subject->rows[r]);
        free(subject->rows);
        free(subject->defects);
        free(subject->op);
        free(subject->algo);
        free(subject->device);
        free(subject->why_skipped);
    }
    free(verdicts->subjects);
    free(verdicts);
}

/* ---- adding rows ---- */

static struct subject *subject_of(struct verdicts *verdicts, const struct row *row)
{
    for (size_t s = 0; s < verdicts->count; s++) {
        struct subject *subject = &verdicts->subjects[s];
        if (strcmp(subject->op, row->op) == 0 && strcmp(subject->algo, row->algo) == 0 &&
            strcmp(subject->device, row->device) == 0)
            return subject;
    }
    verdicts->subjects =
        allocate_or_die(verdicts->subjects, (verdicts->count + 1) * sizeof *verdicts->subjects);
    struct subject *subject = &verdicts->subjects[verdicts->count++];
    *subject = (struct subject){.op = copy_text(row->op),
                                .algo = copy_text(row->algo),
                                .device = copy_text(row->device),
                                .why_skipped = copy_text("")};
    return subject;
}

static bool shows_above_one(const struct subject *subject, size_t defect)
{
    for (size_t r = 0; r < subject->row_count; r++)
        if (subject->rows[r].defect == (int)defect && subject->rows[r].n > 1)
            return true;
    return false;
}

/* Are the two one defect, of which one element seemed to say more than is true? */
static bool seems_more_at_one(const struct subject *subject, size_t defect,
                              const struct explanation *explanation, int64_t n)
{
    const struct explanation *known = &subject->defects[defect].explanation;
    return (is_other_scan(known) && is_any_wrong_result(explanation) &&
            !shows_above_one(subject, defect)) ||
           (is_any_wrong_result(known) && is_other_scan(explanation) && n <= 1);
}

/* Finds the defect that the row shows, which may be new. */
static int defect_of(struct subject *subject, const struct explanation *explanation, int64_t n)
{
    for (size_t d = 0; d < subject->defect_count; d++)
        if (strcmp(subject->defects[d].explanation.key, explanation->key) == 0)
            return (int)d;
    for (size_t d = 0; d < subject->defect_count; d++)
        if (seems_more_at_one(subject, d, explanation, n)) {
            if (is_any_wrong_result(explanation))
                subject->defects[d].explanation = *explanation;
            return (int)d;
        }
    APPEND(subject->defects, subject->defect_count, (struct defect){.explanation = *explanation});
    return (int)subject->defect_count - 1;
}

static void note_defect(struct subject *subject, struct seen_row *seen, const struct row *row)
{
    struct explanation explanation;
    explain_reason(row, &explanation);
    seen->defect = defect_of(subject, &explanation, seen->n);
    seen->later = explanation.later;
    seen->what = copy_text(explanation.what);
    struct defect *defect = &subject->defects[seen->defect];
    if (defect->rows++ == 0 || seen->n < subject->rows[defect->first].n)
        defect->first = subject->row_count;
}

static void note_slow_row(struct seen_row *seen, const struct row *row)
{
    char what[2 * FIELD_BYTES];
    seen->slower_pct = 100 * (row->baseline_ratio - 1);
    describe_slowdown(row, what, sizeof what);
    seen->what = copy_text(what);
}

void add_to_verdicts(struct verdicts *verdicts, const struct row *row, bool too_slow)
{
    if (row->kernel != NULL)
        return;
    char block[24] = "";
    if (row->block > 0)
        snprintf(block, sizeof block, "%" PRId64, row->block);
    struct subject *subject = subject_of(verdicts, row);
    struct seen_row seen = {.type = copy_text(row->type),
                            .kind = copy_text(row->kind),
                            .input = copy_text(row->input),
                            .max = copy_text(row->max),
                            .keep = copy_text(row->keep),
                            .block = copy_text(block),
                            .n = row->n,
                            .launches = row->launches,
                            .passed = strcmp(row->check, "passed") == 0,
                            .skipped = strcmp(row->check, "skipped") == 0,
                            .slower_pct = NAN,
                            .defect = NO_DEFECT};
    subject->passed += seen.passed;
    subject->skipped += seen.skipped;
    if (seen.skipped) {
        free(subject->why_skipped);
        subject->why_skipped = copy_text(row->reason);
    } else if (!seen.passed) {
        note_defect(subject, &seen, row);
    } else if (too_slow) {
        note_slow_row(&seen, row);
    }
    APPEND(subject->rows, subject->row_count, seen);
}

/* ---- counting sizes ---- */

bool row_passed(const struct seen_row *row, int ignored)
{
    (void)ignored;
    return row->passed;
}

bool row_shows(const struct seen_row *row, int defect)
{
    return row->defect == defect;
}

bool row_was_run(const struct seen_row *row, int ignored)
{
    (void)ignored;
    return !row->skipped;
}

size_t count_sizes(const struct subject *subject, of_rows *which, int defect)
{
    size_t count = 0;
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        bool is_new = which(row, defect);
        for (size_t q = 0; q < r && is_new; q++)
            is_new = subject->rows[q].n != row->n || !which(&subject->rows[q], defect);
        count += is_new;
    }
    return count;
}
