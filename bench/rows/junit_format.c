/* junit_format: verdicts as JUnit XML, which graders and CI services read: a test case for each
 * algorithm and class of sizes. */
#include "format.h"

#include "defects.h"

#include "../base/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- XML ---- */

/* Characters that XML 1.0 does not allow become question marks, and so do bytes above ASCII, since
 * nothing says that they are UTF-8. */
static void write_escaped(const char *text, FILE *out)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("&<>\"'\n", *c) != NULL)
            fprintf(out, "&#%d;", *c);
        else
            fputc((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e ? '?' : *c, out);
    }
}

static void write_attribute(const char *name, const char *value, FILE *out)
{
    fprintf(out, " %s=\"", name);
    write_escaped(value, out);
    fputc('"', out);
}

/* ---- classes of sizes ---- */

enum { WARP = 32, LARGEST_BLOCK = 1024 };

static const struct {
    const char *name;
    int64_t least, most;
    bool powers, others; /* whether it has powers of two, and whether other sizes */
} classes[] = {
    {"no element", 0, 0, true, true},
    {"one element", 1, 1, true, true},
    {"2 to 32 elements", 2, WARP, true, true},
    {"33 to 1024 elements", WARP + 1, LARGEST_BLOCK, true, true},
    {"above 1024: powers of two", LARGEST_BLOCK + 1, INT64_MAX, true, false},
    {"above 1024: other sizes", LARGEST_BLOCK + 1, INT64_MAX, false, true},
};
enum { CLASSES = sizeof classes / sizeof *classes };

static bool is_in_class(int class, int64_t n)
{
    const bool power = is_power_of_two((uint64_t)n);
    return n >= classes[class].least && n <= classes[class].most &&
           (power ? classes[class].powers : classes[class].others);
}

/* The rows of an algorithm in one class. */
struct class_rows {
    size_t run, failed, skipped; /* failed: a wrong result, or too slow */
    int defect;                  /* the first that shows; NO_DEFECT: none */
    bool error;                  /* no defect showed before the run was interrupted */
    double slower_pct;           /* of the slowest row; NAN: none is too slow */
};

static struct class_rows look_at_class(const struct verdicts *verdicts,
                                       const struct subject *subject, int class)
{
    struct class_rows rows = {.defect = NO_DEFECT, .slower_pct = NAN};
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        if (!is_in_class(class, row->n))
            continue;
        rows.skipped += row->skipped;
        rows.run += !row->skipped;
        rows.failed += row->defect != NO_DEFECT || !isnan(row->slower_pct);
        rows.slower_pct = fmax(rows.slower_pct, row->slower_pct);
        if (row->defect != NO_DEFECT && (rows.defect == NO_DEFECT || row->defect < rows.defect))
            rows.defect = row->defect;
    }
    rows.error = verdicts->interrupted && rows.failed == 0;
    return rows;
}

/* ---- test cases ---- */

static void write_slow_rows(const struct subject *subject, int class, FILE *out)
{
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        if (isnan(row->slower_pct) || !is_in_class(class, row->n))
            continue;
        write_escaped(row->what, out);
        fputs("&#10;", out);
    }
}

/* Each defect of the class, with its first row there, and each row that is too slow. */
static void write_failure(const struct subject *subject, int class, const struct class_rows *rows,
                          FILE *out)
{
    char slower[64];
    snprintf(slower, sizeof slower, "%.0f %% slower than the baseline", rows->slower_pct);
    fputs("      <failure", out);
    write_attribute(
        "message",
        rows->defect != NO_DEFECT ? subject->defects[rows->defect].explanation.kind->title : slower,
        out);
    fputs(">", out);
    for (size_t d = 0; d < subject->defect_count; d++)
        for (size_t r = 0; r < subject->row_count; r++) {
            const struct seen_row *row = &subject->rows[r];
            if (row->defect != (int)d || !is_in_class(class, row->n))
                continue;
            char pattern[PATTERN_BYTES], text[2 * PATTERN_BYTES + EXPLANATION_BYTES];
            find_pattern(subject, (int)d, pattern);
            snprintf(text, sizeof text, "%s: n = %" PRId64 ", --input=%s, --max=%s: %s%s%s\n",
                     subject->defects[d].explanation.kind->title, row->n, row->input, row->max,
                     row->what, pattern[0] != '\0' ? "; seen " : "", pattern);
            write_escaped(text, out);
            break;
        }
    write_slow_rows(subject, class, out);
    fputs("</failure>\n", out);
}

static void write_case(const struct verdicts *verdicts, const struct subject *subject, int class,
                       FILE *out)
{
    const struct class_rows rows = look_at_class(verdicts, subject, class);
    char name[128];
    if (rows.run + rows.skipped == 0 && !rows.error)
        return;
    snprintf(name, sizeof name, "%s.%s", subject->op, subject->algo);
    fputs("    <testcase", out);
    write_attribute("classname", name, out);
    write_attribute("name", classes[class].name, out);
    if (rows.failed == 0 && rows.run > 0 && !rows.error) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    if (rows.failed > 0) {
        write_failure(subject, class, &rows, out);
    } else if (rows.error) {
        fputs("      <error message=\"interrupted\"/>\n", out);
    } else {
        fputs("      <skipped", out);
        write_attribute("message", subject->why_skipped, out);
        fputs("/>\n", out);
    }
    fputs("    </testcase>\n", out);
}

static void write_suite(const struct verdicts *verdicts, const struct subject *subject, FILE *out)
{
    size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    char name[128];
    for (int class = 0; class < CLASSES; class ++) {
        const struct class_rows rows = look_at_class(verdicts, subject, class);
        tests += rows.run + rows.skipped > 0 || rows.error;
        failures += rows.failed > 0;
        errors += rows.error;
        skipped += rows.run == 0 && rows.skipped > 0 && !rows.error;
    }
    snprintf(name, sizeof name, "%s %s", subject->op, subject->algo);
    fputs("  <testsuite", out);
    write_attribute("name", name, out);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", tests,
            failures, errors, skipped);
    for (int class = 0; class < CLASSES; class ++)
        write_case(verdicts, subject, class, out);
    fputs("  </testsuite>\n", out);
}

const char junit_head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"scanbench\">";

void write_junit(const struct written_rows *rows, FILE *out)
{
    fprintf(out, "%s\n", junit_head);
    for (size_t s = 0; s < rows->verdicts->count; s++)
        write_suite(rows->verdicts, &rows->verdicts->subjects[s], out);
    fputs("</testsuites>\n", out);
}
