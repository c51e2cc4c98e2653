/* verdict_format: what is wrong with each algorithm, for people: each defect once. */
#include "format.h"

#include "defects.h"

#include <inttypes.h>
#include <string.h>

/* ---- how to see a defect again ---- */

/* In quotes if a shell would take it apart. */
static void write_word(const char *value, FILE *out)
{
    const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-=./,:+^%@";
    if (value[strspn(value, plain)] == '\0') {
        fputs(value, out);
        return;
    }
    fputc('\'', out);
    for (; *value != '\0'; value++)
        fputs(*value == '\'' ? "'\\''" : (char[]){*value, '\0'}, out);
    fputc('\'', out);
}

static void write_flag(const char *name, const char *value, FILE *out)
{
    fprintf(out, " --%s", name);
    if (value == NULL)
        return;
    fputc('=', out);
    write_word(value, out);
}

/* Do the algorithm's rows differ in it? */
static bool differs(const struct subject *subject, size_t member)
{
    const char *first = seen_text(&subject->rows[0], member);
    for (size_t r = 1; r < subject->row_count; r++)
        if (strcmp(seen_text(&subject->rows[r], member), first) != 0)
            return true;
    return false;
}

enum { MOST_OWN_FLAGS = 8, NUMBER_BYTES = 24 };

/* The flags of one row, instead of those that chose more. */
struct row_flags {
    struct given_flag flags[MOST_OWN_FLAGS];
    size_t count;
    char n[NUMBER_BYTES];
};

static void add_flag(struct row_flags *of_row, bool wanted, const char *name, const char *value)
{
    if (wanted)
        of_row->flags[of_row->count++] = (struct given_flag){.name = name, .value = value};
}

static void find_row_flags(const struct written_rows *rows, const struct subject *subject,
                           const struct seen_row *row, struct row_flags *of_row)
{
    of_row->count = 0;
    snprintf(of_row->n, NUMBER_BYTES, "%" PRId64, row->n);
    add_flag(of_row, true, "n", of_row->n);
    add_flag(of_row, true, "input", row->input);
    add_flag(of_row, true, "max", row->max);
    /* What belongs to one operation is refused without it. */
    add_flag(of_row, rows->verdicts->count > 1 || row->keep[0] != '\0', "op", subject->op);
    add_flag(of_row, differs(subject, offsetof(struct seen_row, type)), "type", row->type);
    add_flag(of_row, differs(subject, offsetof(struct seen_row, kind)), "kind", row->kind);
    add_flag(of_row, differs(subject, offsetof(struct seen_row, keep)), "keep", row->keep);
    add_flag(of_row, row->block[0] != '\0', "block", row->block);
}

/* --pot and --npot would make another n of that of the row. */
static bool is_replaced(const struct row_flags *of_row, const char *name)
{
    for (size_t f = 0; f < of_row->count; f++)
        if (strcmp(of_row->flags[f].name, name) == 0)
            return true;
    return strcmp(name, "pot") == 0 || strcmp(name, "npot") == 0;
}

/* The flags that were given, except for those that are replaced and the files that are written. */
static void write_command(const struct written_rows *rows, const struct subject *subject,
                          const struct seen_row *row, FILE *out)
{
    struct row_flags of_row;
    find_row_flags(rows, subject, row, &of_row);
    fputs("     again: ", out);
    write_word(rows->program, out);
    for (size_t f = 0; f < rows->flag_count; f++)
        if (!rows->flags[f].writes_file && !is_replaced(&of_row, rows->flags[f].name))
            write_flag(rows->flags[f].name, rows->flags[f].value, out);
    for (size_t f = 0; f < of_row.count; f++)
        write_flag(of_row.flags[f].name, of_row.flags[f].value, out);
    fputc('\n', out);
}

/* ---- verdicts ---- */

static void write_defect(const struct written_rows *rows, const struct subject *subject, int index,
                         FILE *out)
{
    const struct defect *defect = &subject->defects[index];
    const struct defect_kind *kind = defect->explanation.kind;
    const struct seen_row *first = &subject->rows[defect->first];
    char pattern[PATTERN_BYTES];
    find_pattern(subject, index, pattern);
    fprintf(out, "  %d. %s\n     %s\n", index + 1, kind->title, first->what);
    fprintf(out,
            "     first at n = %" PRId64 "; at %zu of %zu sizes, in %zu of %zu configurations\n",
            first->n, count_sizes(subject, row_shows, index),
            count_sizes(subject, row_was_run, NO_DEFECT), defect->rows,
            subject->row_count - subject->skipped);
    if (pattern[0] != '\0')
        fprintf(out, "     seen %s\n", pattern);
    if (kind->meaning != NULL)
        fprintf(out, "     %s\n", kind->meaning);
    write_command(rows, subject, first, out);
}

/* Is it known of every row that passed that it launched nothing, although there was something to
 * do? */
static bool launches_nothing(const struct subject *subject)
{
    size_t known = 0;
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        if (!row->passed || row->n <= 1)
            continue;
        if (row->launches != 0)
            return false;
        known++;
    }
    return known > 0;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void write_subject(const struct written_rows *rows, const struct subject *subject, FILE *out)
{
    const size_t run = subject->row_count - subject->skipped;
    const size_t sizes = count_sizes(subject, row_passed, NO_DEFECT);
    fprintf(out, "%s %s: ", subject->op, subject->algo);
    if (rows->verdicts->interrupted)
        fprintf(out, "interrupted after %zu configuration%s, ", run, plural(run));
    if (rows->verdicts->interrupted && subject->defect_count == 0)
        fputs("no defect so far\n", out);
    else if (run == 0)
        fprintf(out, "not checked: %s\n", subject->why_skipped);
    else if (subject->defect_count == 0)
        fprintf(out, "passed: %zu configuration%s at %zu size%s\n", run, plural(run), sizes,
                plural(sizes));
    else
        fprintf(out, "%zu defect%s; %zu of %zu configurations passed\n", subject->defect_count,
                plural(subject->defect_count), subject->passed, run);
    for (size_t d = 0; d < subject->defect_count; d++)
        write_defect(rows, subject, (int)d, out);
    if (launches_nothing(subject))
        fputs("  note: no kernel was launched\n", out);
    if (run > 0 && subject->skipped > 0)
        fprintf(out, "  note: %zu configuration%s skipped: %s\n", subject->skipped,
                plural(subject->skipped), subject->why_skipped);
}

void end_verdicts(const struct written_rows *rows, FILE *out)
{
    for (size_t s = 0; s < rows->verdicts->count; s++)
        write_subject(rows, &rows->verdicts->subjects[s], out);
}
