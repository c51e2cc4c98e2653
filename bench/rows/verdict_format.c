/* verdict_format: what is wrong with each algorithm, for people: each defect once. */
#include "format.h"

#include "defects.h"

#include <inttypes.h>
#include <string.h>

/* ---- how to see a defect again ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* In quotes if a shell would take it apart. */
static void write_word(const char *word, FILE *out)
{
    const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-=./,:+^%@";
    if (word[strspn(word, plain)] == '\0') {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word != '\0'; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

/* The command line as it was, without the files that it writes. */
static void write_arguments(char **arguments, FILE *out)
{
    for (; arguments != NULL && *arguments != NULL; arguments++) {
        const bool names_file =
            begins_with(*arguments, "--junit") || begins_with(*arguments, "--trace") ||
            begins_with(*arguments, "--output") || begins_with(*arguments, "-o");
        const bool apart = strchr(*arguments, '=') == NULL &&
                           !(begins_with(*arguments, "-o") && (*arguments)[2] != '\0');
        if (!names_file)
            write_word(*arguments, out);
        else if (apart && arguments[1] != NULL)
            arguments++;
    }
}

/* Do the algorithm's rows differ in it? */
static bool differs(const struct subject *subject, size_t offset)
{
    const char *first = *(char **)((char *)&subject->rows[0] + offset);
    for (size_t r = 1; r < subject->row_count; r++)
        if (strcmp(*(char **)((char *)&subject->rows[r] + offset), first) != 0)
            return true;
    return false;
}

/* Flags that are given later replace earlier ones. */
static void write_command(const struct written_rows *rows, const struct subject *subject,
                          const struct seen_row *row, FILE *out)
{
    fputs("     again: scanbench", out);
    write_arguments(rows->arguments, out);
    fprintf(out, " --n=%" PRId64 " --input=%s --max=%s", row->n, row->input, row->max);
    if (rows->verdicts->count > 1)
        fprintf(out, " --op=%s", subject->op);
    if (differs(subject, offsetof(struct seen_row, type)))
        fprintf(out, " --type=%s", row->type);
    if (differs(subject, offsetof(struct seen_row, kind)))
        fprintf(out, " --kind=%s", row->kind);
    if (differs(subject, offsetof(struct seen_row, keep)))
        fprintf(out, " --keep=%s", row->keep);
    if (row->block > 0)
        fprintf(out, " --block=%" PRId64, row->block);
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
    if (run == 0)
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
