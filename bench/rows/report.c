/* report: writes rows to their files and to the table for people. */
#include "report.h"

#include "../base/decimal.h"
#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../base/terminal.h"
#include "../base/text.h"
#include "baseline.h"
#include "defects.h"
#include "format.h"
#include "resume.h"
#include "row_file.h"
#include "samples_file.h"
#include "text_table.h"
#include "trace_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is written, each by its own writer, in the order in which failures are told. JUNIT and
 * TRACE, which are written at the end, are neighbours; TABLE is last. */
enum written {
    ROWS,    /* CSV, JSON, JSON Lines or Markdown */
    SAMPLES, /* --samples-file */
    JUNIT,   /* --junit */
    TRACE,   /* --trace */
    TABLE,   /* the table for people */
    WRITTEN_COUNT,
};

struct report {
    const struct output_spec *spec;
    struct written_rows rows;
    const struct row_format *format; /* of ROWS */
    struct row_writer writer[WRITTEN_COUNT];
    struct text traces;             /* the runs so far, after commas; no text without --trace */
    size_t trace_count;             /* how many they are */
    struct resume resume;           /* --resume: the rows in the file */
    off_t resumed_bytes;            /* --resume: length of the file at the start */
    bool told_of_uncounted;         /* --resume --counts: of rows that are kept without counts */
    char first_reason[FIELD_BYTES]; /* of the first row; "": none */
    struct baseline *baseline;      /* NULL: none */
    struct text_table *text_table;  /* laid out for TABLE; NULL: no table */
};

static bool is_open(const struct row_writer *writer)
{
    return writer->file != NO_FILE;
}

/* ---- opening ---- */

/* --resume needs the columns that tell rows apart, and --fail-slower their times. */
static int can_resume(const struct report *report)
{
    static const char *const times[] = {"time_ms", "noise_pct"};
    const struct output_spec *spec = report->spec;
    const struct csv *had = &report->resume.rows;
    const char *missing = missing_match_column(had, SAME_DATA, spec), *verb = "told apart";
    if (missing == NULL && csv_column(had, "check") == NO_COLUMN)
        missing = "check";
    for (size_t t = 0; t < 2 && missing == NULL && report->baseline != NULL; t++)
        if (isfinite(spec->fail_slower_pct) && csv_column(had, times[t]) == NO_COLUMN) {
            missing = times[t];
            verb = "compared";
        }
    if (had->column_count == 0 || missing == NULL)
        return EXIT_OK;
    complain("--resume: without the column %s the rows of --output=%s cannot be %s; add it to "
             "--columns",
             missing, spec->path, verb);
    return EXIT_USAGE;
}

/* Opens the file of --output. Only a CSV file may be continued. */
static int open_output(struct report *report, bool *is_new)
{
    const struct output_spec *spec = report->spec;
    const struct chosen_columns *columns = &report->rows.columns;
    const char **names = allocate_or_die(NULL, columns->count * sizeof *names);
    for (size_t c = 0; c < columns->count; c++)
        names[c] = columns->column[c]->name;
    struct row_file row_file = {
        .flag = "--output",
        .path = spec->path,
        .opening = spec->opening,
        .names = is_csv(spec->format) ? names : NULL,
        .name_count = columns->count,
        .quiet = spec->quiet,
    };
    const int code = open_row_file(&row_file);
    free(names);
    if (code != EXIT_OK)
        return code;
    report->writer[ROWS] = row_file.writer;
    *is_new = row_file.is_new;
    if (spec->opening != FILE_RESUME) {
        free_csv(&row_file.had);
        return EXIT_OK;
    }
    start_resume(&report->resume, &row_file.had, spec->launches, spec->counts == COUNTS_BY_LINE);
    return can_resume(report);
}

/* It is written at the end, but whether it can be is known before the run. */
static int open_for_end(struct report *report, enum written written, const char *flag,
                        const char *path, const char *replaces)
{
    struct row_file row_file = {.flag = flag,
                                .path = path,
                                .opening = FILE_NEW,
                                .replaces = replaces,
                                .others = report->writer,
                                .other_count = WRITTEN_COUNT,
                                .quiet = report->spec->quiet};
    if (path == NULL)
        return EXIT_OK;
    const int code = open_row_file(&row_file);
    if (code == EXIT_OK)
        report->writer[written] = row_file.writer;
    free_csv(&row_file.had);
    return code;
}

static void open_table(struct report *report)
{
    const bool all = report->spec->columns == NULL;
    const struct chosen_columns *columns = &report->rows.columns;
    report->writer[TABLE] = stdout_writer();
    report->text_table =
        new_text_table(report->spec, all ? NULL : columns->column, all ? 0 : columns->count,
                       terminal_width(STDOUT_FILENO), terminal_has_colour(STDOUT_FILENO));
}

static void begin_file(struct report *report)
{
    if (report->format->begin == NULL)
        return;
    struct text text;
    open_text(&text);
    report->format->begin(&report->rows, text.out);
    write_and_free(&report->writer[ROWS], &text);
}

/* With --output the file gets CSV or another format; a table, if requested, goes to stdout. The
 * header is written when nothing else can fail. */
static int open_files(struct report *report)
{
    const struct output_spec *spec = report->spec;
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    bool is_new = true;
    int code = choose_columns(spec, &report->rows.columns) ? EXIT_OK : EXIT_USAGE;
    if (code == EXIT_OK && spec->baseline_path != NULL)
        report->baseline = open_baseline(spec, &code);
    if (code != EXIT_OK)
        return code;
    if (spec->format == FORMAT_TABLE || (spec->format == FORMAT_AUTO && terminal && !spec->quiet))
        open_table(report);
    if (spec->path != NULL)
        code = open_output(report, &is_new);
    else if (!is_open(&report->writer[TABLE]))
        report->writer[ROWS] = stdout_writer();
    if (code == EXIT_OK)
        code = open_for_end(report, JUNIT, "--junit", spec->junit_path, junit_head);
    if (code == EXIT_OK)
        code = open_for_end(report, TRACE, "--trace", spec->trace_path, TRACE_PAGE_HEAD);
    if (code == EXIT_OK) /* after what may fail, since it gets its header */
        code = open_samples(spec, report->writer, WRITTEN_COUNT, &report->resume,
                            &report->writer[SAMPLES]);
    for (enum written w = JUNIT; w <= TRACE && code == EXIT_OK; w++)
        if (report->writer[w].bytes > 0)
            cut_file(&report->writer[w], 0); /* else a run that is killed would leave the old one */
    if (code == EXIT_OK && is_open(&report->writer[ROWS]) && is_new)
        begin_file(report);
    report->resumed_bytes = report->writer[ROWS].bytes;
    return code;
}

static void discard(struct report *report)
{
    free_text_table(report->text_table);
    json_decref(report->rows.devices);
    free_verdicts(report->rows.verdicts);
    free_resume(&report->resume);
    free(report->rows.columns.column);
    if (report->spec->trace_path != NULL) {
        close_text(&report->traces);
        free(report->traces.bytes);
    }
    free(report);
}

struct report *open_report(const struct output_spec *spec, int *code)
{
    struct report *report = allocate_or_die(NULL, sizeof *report);
    *report = (struct report){.spec = spec,
                              .rows = {.devices = json_array(),
                                       .program = spec->program,
                                       .arguments = spec->arguments,
                                       .flags = spec->flags,
                                       .flag_count = spec->flag_count},
                              .format = &row_formats[spec->format]};
    if (spec->format == FORMAT_VERDICTS || spec->junit_path != NULL)
        report->rows.verdicts = new_verdicts();
    for (int w = 0; w < WRITTEN_COUNT; w++)
        report->writer[w].file = NO_FILE;
    if (spec->trace_path != NULL)
        open_text(&report->traces);
    *code = open_files(report);
    if (*code == EXIT_OK)
        return report;
    free_baseline(report->baseline);
    for (int w = 0; w < TABLE; w++) /* which is stdout */
        discard_row_writer(&report->writer[w]);
    discard(report);
    return NULL;
}

/* ---- writing ---- */

/* The first writer that failed; NULL: none. */
static const struct row_writer *failed_writer(const struct report *report)
{
    for (int w = 0; w < WRITTEN_COUNT; w++)
        if (report->writer[w].problem[0] != '\0')
            return &report->writer[w];
    return NULL;
}

bool report_failed(const struct report *report)
{
    return failed_writer(report) != NULL;
}

/* A row of the file counts for --fail-slower as if it had been measured now. Of the emulator no
 * times count. */
static void compare_kept_row(struct report *report, const struct row *row)
{
    struct row kept = *row;
    if (report->baseline == NULL || row->simulated ||
        !is_decimal(resume_cell(&report->resume, row, "time_ms"), &kept.time_ms) ||
        !is_decimal(resume_cell(&report->resume, row, "noise_pct"), &kept.noise_pct))
        return;
    compare_with_baseline(report->baseline, &kept);
}

/* A row is kept as it is, also if --counts would fill more of it. */
static void tell_of_uncounted(struct report *report, const struct row *row)
{
    const struct resume *resume = &report->resume;
    if (report->spec->counts == COUNTS_NOTHING || report->spec->quiet ||
        report->told_of_uncounted || strtoul(resume_cell(resume, row, "launches"), NULL, 10) == 0 ||
        resume_cell(resume, row, "global_load_sectors")[0] != '\0')
        return;
    complain("--resume: rows without counts are kept without, such as %s %s, n = %lld; remove them "
             "to count them",
             row->op, row->algo, (long long)row->n);
    report->told_of_uncounted = true;
}

/* Once for each row, however many workers come to it. */
static void meet_kept_row(struct report *report, const struct row *row, const struct had *had)
{
    if (had->failed)
        complain("%s %s, n = %lld: failed before, %s (remove its row to run it again)", row->op,
                 row->algo, (long long)row->n, had->reason);
    if (had->passed)
        tell_of_uncounted(report, row);
    compare_kept_row(report, row);
}

struct had report_had(struct report *report, const struct row *row)
{
    const char *check = resume_cell(&report->resume, row, "check");
    struct had had = {.all = resume_has_all(&report->resume, row),
                      .lost = resume_lost_count(&report->resume, row)};
    if (!had.all)
        return had;
    had.passed = strcmp(check, "passed") == 0;
    had.failed = strcmp(check, "failed") == 0;
    snprintf(had.reason, sizeof had.reason, "%s", resume_cell(&report->resume, row, "reason"));
    if (resume_meets(&report->resume, row))
        meet_kept_row(report, row, &had);
    return had;
}

static bool write_row(struct report *report, const struct row *row)
{
    struct text text;
    if (report->format->row == NULL)
        return true;
    open_text(&text);
    report->format->row(&report->rows, row, text.out);
    return write_and_free(&report->writer[ROWS], &text);
}

/* A row measured again only for its samples replaces the file's last row, if that is the same
 * row. */
static bool drop_last_row(struct report *report, const struct row *row)
{
    const off_t from = resume_last_without_samples(&report->resume, row);
    return from < 0 || report->writer[ROWS].bytes != report->resumed_bytes ||
           cut_file(&report->writer[ROWS], from);
}

/* Samples are written before their row: if the run is killed, every row in the file has all of
 * its samples. */
static bool write_to_files(struct report *report, const struct row *row, const double *time_ms,
                           size_t count)
{
    return (!is_open(&report->writer[SAMPLES]) || count == 0 ||
            write_samples(&report->writer[SAMPLES], row, time_ms, count)) &&
           drop_last_row(report, row) && write_row(report, row);
}

bool report_row(struct report *report, const struct row *measured, const double *time_ms,
                size_t count)
{
    if (report_failed(report))
        return false;
    struct row row = *measured;
    const bool too_slow = report->baseline != NULL && compare_with_baseline(report->baseline, &row);
    /* A row may have been measured again only for its launches or its lines. */
    if (is_open(&report->writer[ROWS]) && !resume_has_row(&report->resume, &row) &&
        !write_to_files(report, &row, time_ms, count))
        return false;
    if (report->rows.verdicts != NULL)
        add_to_verdicts(report->rows.verdicts, &row, too_slow);
    if (report->rows.count++ == 0)
        snprintf(report->first_reason, sizeof report->first_reason, "%s",
                 row.reason != NULL ? row.reason : "");
    report->rows.measured += row.check == NULL || strcmp(row.check, "skipped") != 0;
    report->rows.noisy += row.steady != NULL && strcmp(row.steady, "no") == 0;
    if (report->text_table != NULL)
        add_to_table(report->text_table, &row);
    return true;
}

void report_trace(struct report *report, const char *trace, size_t count)
{
    if (report->spec->trace_path == NULL)
        return;
    fputs(report->trace_count++ > 0 ? "," : "", report->traces.out);
    fwrite(trace, 1, count, report->traces.out);
}

void announce_row(struct report *report, const struct row *row)
{
    if (report->text_table != NULL)
        announce_to_table(report->text_table, row);
}

bool end_group_of_rows(struct report *report)
{
    if (report->text_table == NULL || report_failed(report))
        return !report_failed(report);
    struct text text;
    open_text(&text);
    flush_table(report->text_table, text.out);
    return write_and_free(&report->writer[TABLE], &text);
}

/* ---- closing ---- */

static void tell_of_noise(const struct report *report)
{
    if (report->rows.noisy > 0 && !report->spec->quiet)
        complain("%zu of %zu rows exceed%s --max-noise%s; try a longer --max-time",
                 report->rows.noisy, report->rows.count, report->rows.noisy == 1 ? "s" : "",
                 report->text_table != NULL ? ", marked !" : "");
}

/* A table shows why its rows are skipped; who only sees a file's name would take it for rows. */
static void tell_of_nothing(const struct report *report)
{
    if (report->rows.count > 0 && report->rows.measured == 0 && report->text_table == NULL &&
        !report->spec->quiet)
        complain("no row was measured, each was skipped%s: %s",
                 report->rows.count > 1 ? ", the first with the reason" : "", report->first_reason);
}

/* Writes what comes after all rows, to a file that may not be open. */
static void write_end(const struct report *report,
                      void (*end)(const struct written_rows *rows, FILE *out),
                      struct row_writer *writer)
{
    struct text text;
    if (!is_open(writer) || report_failed(report))
        return;
    open_text(&text);
    end(&report->rows, text.out);
    write_and_free(writer, &text);
}

static void write_traces(struct report *report)
{
    struct text page;
    if (!is_open(&report->writer[TRACE]) || report_failed(report))
        return;
    fflush(report->traces.out);
    open_text(&page);
    write_trace_page(report->traces.bytes, report->traces.count, page.out);
    if (write_and_free(&report->writer[TRACE], &page) && !report->spec->quiet)
        complain("%s: %zu run%s%s", report->spec->trace_path, report->trace_count,
                 report->trace_count == 1 ? "" : "s",
                 report->trace_count == 0 ? ", since none came to its end"
                                          : "; open it in a browser");
}

int close_report(struct report *report)
{
    end_group_of_rows(report);
    if (report->rows.verdicts != NULL)
        report->rows.verdicts->interrupted = interrupted();
    if (report->format->end != NULL)
        write_end(report, report->format->end, &report->writer[ROWS]);
    write_end(report, write_junit, &report->writer[JUNIT]);
    write_traces(report);
    tell_of_noise(report);
    tell_of_nothing(report);
    for (int w = 0; w < WRITTEN_COUNT; w++)
        close_row_writer(&report->writer[w]);
    const struct row_writer *failed = failed_writer(report);
    const bool cut_short = failed != NULL && failed->cut_short;
    if (failed != NULL && !cut_short)
        complain("%s: %s", failed->path, failed->problem);
    const int compared = close_baseline(report->baseline);
    discard(report);
    return cut_short ? EXIT_INTERRUPTED : failed != NULL ? EXIT_ERROR : compared;
}

void tell_how_to_go_on(const struct output_spec *output)
{
    const bool junit = output->junit_path != NULL, trace = output->trace_path != NULL;
    if (!is_csv(output->format))
        complain("interrupted; with --format=csv --output=FILE, a run can be resumed");
    else if (output->path == NULL)
        complain("interrupted; with --output=FILE, a run can be resumed");
    else
        complain("interrupted; finished rows are in %s; to go on, %s%s%s%s", output->path,
                 output->opening == FILE_RESUME   ? "run it again"
                 : output->opening == FILE_APPEND ? "give --resume instead of --append"
                                                  : "add --resume",
                 junit || trace ? " and leave out " : "", junit ? "--junit" : "",
                 trace ? (junit ? " and --trace" : "--trace") : "");
}
