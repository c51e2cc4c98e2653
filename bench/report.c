#include "report.h"

#include "baseline.h"
#include "columns.h"
#include "exit_code.h"
#include "interrupt.h"
#include "row_file.h"
#include "row_match.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_BYTES = 512 };

struct report {
    FILE *file;  /* CSV, JSON or Markdown; NULL: none */
    FILE *table; /* the table for people; NULL: none */
    const char *path;
    enum format format; /* of `file` */
    const struct column **chosen;
    size_t chosen_count;
    size_t row_count;
    bool headed;             /* the file has its header already */
    struct csv had;          /* --resume: the rows that the file has */
    struct row_matcher done; /* finds them */
    FILE *samples;           /* NULL: none */
    const char *samples_path;
    struct baseline *baseline; /* NULL: none */
    int write_error;           /* errno of the first write that failed */
    const char *failed;        /* where that was */
};

static const char *name_of_file(const struct report *report, const FILE *file)
{
    if (file == report->samples)
        return report->samples_path;
    return file != stdout && report->path != NULL ? report->path : "stdout";
}

/* Only the first is told. */
static void note_write_error(struct report *report, const char *name)
{
    if (report->write_error != 0)
        return;
    report->write_error = errno ? errno : EIO;
    report->failed = name;
}

/* ---- CSV, RFC 4180 but for LF ---- */

static void write_csv_field(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void write_csv_header(struct report *report)
{
    for (size_t c = 0; c < report->chosen_count; c++)
        fprintf(report->file, "%s%s", c > 0 ? "," : "", report->chosen[c]->name);
    fputc('\n', report->file);
}

static void write_csv_row(struct report *report, const struct row *row)
{
    for (size_t c = 0; c < report->chosen_count; c++) {
        char text[FIELD_BYTES];
        column_text(report->chosen[c], row, text, sizeof text);
        if (c > 0)
            fputc(',', report->file);
        write_csv_field(report->file, text);
    }
    fputc('\n', report->file);
}

/* ---- JSON: one array, an object a row, empty fields null ---- */

static json_t *json_field(const struct column *column, const struct row *row)
{
    if (column_empty(column, row))
        return json_null();
    char text[FIELD_BYTES];
    column_text(column, row, text, sizeof text);
    switch (column->kind) {
    case COLUMN_NUMBER:
        return json_real(strtod(text, NULL));
    case COLUMN_COUNT:
        return json_integer(strtoll(text, NULL, 10));
    default:
        return json_string(text);
    }
}

static void write_json_row(struct report *report, const struct row *row)
{
    json_t *object = json_object();
    for (size_t c = 0; c < report->chosen_count; c++)
        json_object_set_new(object, report->chosen[c]->name, json_field(report->chosen[c], row));
    fputs(report->row_count == 0 ? "" : ",", report->file);
    if (json_dumpf(object, report->file, JSON_REAL_PRECISION(6)) != 0)
        note_write_error(report, name_of_file(report, report->file));
    fputc('\n', report->file);
    json_decref(object);
}

/* ---- Markdown: the columns of the table, unless others are asked for ---- */

static void write_markdown_header(struct report *report)
{
    for (size_t c = 0; c < report->chosen_count; c++)
        fprintf(report->file, "| %s ", report->chosen[c]->name);
    fputs("|\n", report->file);
    for (size_t c = 0; c < report->chosen_count; c++)
        fputs(report->chosen[c]->kind == COLUMN_TEXT ? "|---" : "|---:", report->file);
    fputs("|\n", report->file);
}

static void write_markdown_row(struct report *report, const struct row *row)
{
    for (size_t c = 0; c < report->chosen_count; c++) {
        char text[FIELD_BYTES];
        column_text(report->chosen[c], row, text, sizeof text);
        fputs("| ", report->file);
        for (const char *at = text; *at != '\0'; at++)
            fprintf(report->file, strchr("|\\`*_<", *at) != NULL ? "\\%c" : "%c", *at);
        fputc(' ', report->file);
    }
    fputs("|\n", report->file);
}

/* ---- the table for people ---- */

static void format_time(double ms, char *text, size_t size)
{
    if (!isfinite(ms))
        snprintf(text, size, "-");
    else if (ms < 1)
        snprintf(text, size, "%.2f us", ms * 1e3);
    else if (ms < 1000)
        snprintf(text, size, "%.3f ms", ms);
    else
        snprintf(text, size, "%.3f s", ms / 1e3);
}

static void format_number(double value, const char *unit, char *text, size_t size)
{
    if (isfinite(value))
        snprintf(text, size, "%.1f%s", value, unit);
    else
        snprintf(text, size, "-");
}

static void format_n(int64_t n, char *text, size_t size)
{
    int log2_n = 0;
    while (log2_n < 62 && ((int64_t)1 << log2_n) < n)
        log2_n++;
    if (n >= 1024 && n == (int64_t)1 << log2_n)
        snprintf(text, size, "2^%d", log2_n);
    else
        snprintf(text, size, "%lld", (long long)n);
}

static void write_table_header(FILE *out)
{
    fprintf(out, "%-8s %-22s %-9s %-4s %10s %6s %5s %12s %10s %9s  %s\n", "op", "algorithm",
            "device", "type", "n", "block", "cache", "time", "GB/s", "% memcpy", "check");
}

/* A launch stands indented under the whole it belongs to. */
static void write_table_launch(FILE *out, const struct row *row)
{
    char kernel[72], time[24], gb_s[24], share[24], occupancy[24];
    snprintf(kernel, sizeof kernel, "  %lld %s", (long long)row->launch, row->kernel);
    format_time(row->time_ms, time, sizeof time);
    format_number(row->gb_s, "", gb_s, sizeof gb_s);
    format_number(row->share_pct, " %", share, sizeof share);
    format_number(row->occupancy_pct, " %", occupancy, sizeof occupancy);
    fprintf(out, "%-8s %-48s %6lld %5s %12s %10s  %s of it; grid %lld, occupancy %s\n", "", kernel,
            (long long)row->launch_block, "", time, gb_s, share, (long long)row->grid, occupancy);
}

static void write_table_row(FILE *out, const struct row *row)
{
    if (row->kernel != NULL) {
        write_table_launch(out, row);
        return;
    }
    char n[24], block[24] = "-", time[24], gb_s[24], memcpy_pct[24];
    format_n(row->n, n, sizeof n);
    if (row->block > 0)
        snprintf(block, sizeof block, "%lld", (long long)row->block);
    format_time(row->time_ms, time, sizeof time);
    format_number(row->gb_s, "", gb_s, sizeof gb_s);
    format_number(row->memcpy_pct, " %", memcpy_pct, sizeof memcpy_pct);
    fprintf(out, "%-8s %-22s %-9s %-4s %10s %6s %5s %12s %10s %9s  %s%s%s", row->op, row->algo,
            row->device, row->type, n, block, row->cache, time, gb_s, memcpy_pct, row->check,
            row->reason && row->reason[0] ? ": " : "", row->reason ? row->reason : "");
    if (isfinite(row->baseline_ratio))
        fprintf(out, "; %+.1f %% time%s%s", 100 * (row->baseline_ratio - 1),
                strcmp(row->change, "none") == 0 ? "" : ": ",
                strcmp(row->change, "none") == 0 ? "" : row->change);
    if (isfinite(row->copies_ms)) {
        format_time(row->copies_ms, time, sizeof time);
        fprintf(out, "; with copies %s", time);
    }
    fputc('\n', out);
}

/* ---- opening ---- */

static const struct column *find_column(const char *name, size_t length)
{
    for (size_t c = 0; c < column_count; c++)
        if (strncmp(columns[c].name, name, length) == 0 && columns[c].name[length] == '\0')
            return &columns[c];
    return NULL;
}

static bool unknown_column(const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *names[128];
    for (size_t c = 0; c < column_count; c++)
        names[c] = columns[c].name;
    if (length == 0)
        complain("--columns: an empty name; a list like algo,n,time_ms is wanted");
    else
        complain("--columns=%s: no such column; did you mean \"%s\"? (--list-columns shows all)",
                 word, nearest_match(word, names, column_count));
    return false;
}

/* The columns of --columns=LIST in its order, or all. */
static bool choose_columns(const char *list, struct report *report)
{
    size_t wanted = list == NULL ? column_count : 1;
    for (const char *p = list; p != NULL && *p != '\0'; p++)
        wanted += *p == ',';
    report->chosen = allocate_or_die(NULL, wanted * sizeof(struct column *));
    for (size_t c = 0; list == NULL && c < column_count; c++)
        report->chosen[report->chosen_count++] = &columns[c];
    while (list != NULL) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (length == 0 || column == NULL)
            return unknown_column(list, length);
        for (size_t c = 0; c < report->chosen_count; c++)
            if (report->chosen[c] == column) {
                complain("--columns: \"%s\" is there twice; each name may stand once",
                         column->name);
                return false;
            }
        report->chosen[report->chosen_count++] = column;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}

/* Rows can be told apart only by columns that are there. */
static bool can_resume(const struct options *options, struct report *report, int *code)
{
    if (options->opening != FILE_RESUME)
        return true;
    report->done = make_row_matcher(&report->had, SAME_BUILD);
    const char *missing = missing_match_column(&report->had, SAME_BUILD, options->copies);
    if (missing == NULL && csv_column(&report->had, "check") == NO_COLUMN)
        missing = "check";
    if (report->had.column_count == 0 || missing == NULL)
        return true;
    complain("--resume: without the column %s it cannot be told which rows --output=%s has; add it "
             "to --columns",
             missing, report->path);
    *code = EXIT_USAGE;
    return false;
}

/* The file of --output: CSV may go on, anything else must be new. */
static bool open_output(const struct options *options, struct report *report, int *code)
{
    const char **names = allocate_or_die(NULL, report->chosen_count * sizeof *names);
    for (size_t c = 0; c < report->chosen_count; c++)
        names[c] = report->chosen[c]->name;
    struct row_file row_file = {
        .flag = "--output",
        .path = report->path,
        .opening = options->opening,
        .names = names,
        .name_count = report->chosen_count,
        .whole_launches = options->kernels,
    };
    *code = open_row_file(&row_file);
    free(names);
    report->file = row_file.file;
    report->headed = !row_file.is_new;
    report->had = row_file.had;
    return *code == EXIT_OK && can_resume(options, report, code);
}

/* The columns of --samples-file: what tells one row from the others, and then: */
static const char *const sample_columns[] = {
    "op",    "algo",    "kernel", "launch",      "type",  "kind",   "n",
    "block", "threads", "device", "device_name", "cache", "input",  "max",
    "keep",  "seed",    "host",   "date",        "label", "sample", "time_ms"};
enum { SAMPLE_COLUMN_COUNT = sizeof sample_columns / sizeof *sample_columns };

static bool open_samples(const struct options *options, struct report *report, int *code)
{
    if (options->samples_file == NULL)
        return true;
    struct row_file row_file = {
        .flag = "--samples-file",
        .path = options->samples_file,
        .opening = options->opening,
        .names = sample_columns,
        .name_count = SAMPLE_COLUMN_COUNT,
    };
    *code = open_row_file(&row_file);
    report->samples = row_file.file;
    report->samples_path = options->samples_file;
    free_csv(&row_file.had);
    if (*code != EXIT_OK)
        return false;
    for (int c = 0; row_file.is_new && c < SAMPLE_COLUMN_COUNT; c++)
        fprintf(report->samples, "%s%s", c > 0 ? "," : "", sample_columns[c]);
    if (row_file.is_new)
        fputc('\n', report->samples);
    return true;
}

/* With --output the file gets CSV, JSON or Markdown, and a table asked for goes to stdout. */
static bool choose_formats(const struct options *options, struct report *report, int *code)
{
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    const bool other = options->format == FORMAT_JSON || options->format == FORMAT_MARKDOWN;
    report->format = other ? options->format : FORMAT_CSV;
    if (options->format == FORMAT_TABLE ||
        (options->format == FORMAT_AUTO && terminal && !options->quiet))
        report->table = stdout;
    if (report->path != NULL)
        return open_output(options, report, code);
    if (report->table == NULL)
        report->file = stdout;
    return true;
}

static const char *columns_wanted(const struct options *options)
{
    if (options->columns == NULL && options->format == FORMAT_MARKDOWN)
        return options->kernels ? "op,algo,kernel,device,type,n,block,cache,time_ms,share_pct,gb_s,"
                                  "memcpy_pct,check"
                                : "op,algo,device,type,n,block,cache,time_ms,gb_s,memcpy_pct,check";
    return options->columns;
}

/* ---- writing ---- */

static void write_header(struct report *report)
{
    if (report->format == FORMAT_CSV)
        write_csv_header(report);
    else if (report->format == FORMAT_JSON)
        fputs("[\n", report->file);
    else
        write_markdown_header(report);
}

/* Everything is on its way to the disk when a row is done. */
static bool flush(struct report *report, FILE *file)
{
    if (file == NULL)
        return true;
    errno = 0;
    if (fflush(file) != 0 || ferror(file))
        note_write_error(report, name_of_file(report, file));
    return report->write_error == 0;
}

static void close_file(struct report *report, FILE *file)
{
    if (file == NULL || file == stdout)
        return;
    const char *name = name_of_file(report, file);
    errno = 0;
    if (fclose(file) != 0)
        note_write_error(report, name);
}

static void discard(struct report *report)
{
    free_csv(&report->had);
    free(report->chosen);
    free(report);
}

struct report *open_report(const struct options *options, int *code)
{
    struct report *report = allocate_or_die(NULL, sizeof *report);
    *report = (struct report){.path = options->output};
    *code = EXIT_USAGE;
    if (!choose_columns(columns_wanted(options), report) ||
        (options->baseline != NULL && (report->baseline = open_baseline(options, code)) == NULL) ||
        !choose_formats(options, report, code) || !open_samples(options, report, code)) {
        close_baseline(report->baseline);
        close_file(report, report->file);
        close_file(report, report->samples);
        discard(report);
        return NULL;
    }
    *code = EXIT_OK;
    if (report->file != NULL && !report->headed)
        write_header(report);
    if (report->table != NULL)
        write_table_header(report->table);
    flush(report, report->file);
    flush(report, report->table);
    flush(report, report->samples);
    return report;
}

bool report_failed(const struct report *report)
{
    return report->write_error != 0;
}

bool report_has_row(const struct report *report, const struct row *row)
{
    if (report->done.csv == NULL)
        return false;
    const long found = find_matching_row(&report->done, row);
    if (found == NO_ROW)
        return false;
    const int check = csv_column(&report->had, "check");
    return strcmp(csv_cell(&report->had, (size_t)found, check), "error") != 0;
}

void report_samples(struct report *report, const struct row *row, const double *time_ms,
                    size_t count)
{
    if (report->samples == NULL || report_failed(report))
        return;
    char *start = NULL;
    size_t bytes;
    FILE *line = open_memstream(&start, &bytes);
    if (line == NULL)
        out_of_memory();
    for (int c = 0; c < SAMPLE_COLUMN_COUNT - 2; c++) {
        char text[FIELD_BYTES];
        column_text(find_column(sample_columns[c], strlen(sample_columns[c])), row, text,
                    sizeof text);
        write_csv_field(line, text);
        fputc(',', line);
    }
    if (fclose(line) != 0)
        out_of_memory();
    for (size_t i = 0; i < count; i++)
        fprintf(report->samples, "%s%zu,%.6g\n", start, i + 1, time_ms[i]);
    free(start);
    flush(report, report->samples);
}

bool report_row(struct report *report, const struct row *measured)
{
    if (report_failed(report))
        return false;
    struct row compared = *measured;
    const struct row *row = &compared;
    if (report->baseline != NULL)
        compare_with_baseline(report->baseline, &compared);
    if (report->file != NULL && report->format == FORMAT_CSV)
        write_csv_row(report, row);
    if (report->file != NULL && report->format == FORMAT_JSON)
        write_json_row(report, row);
    if (report->file != NULL && report->format == FORMAT_MARKDOWN)
        write_markdown_row(report, row);
    if (report->table != NULL)
        write_table_row(report->table, row);
    report->row_count++;
    const bool file_written = flush(report, report->file);
    return flush(report, report->table) && file_written;
}

/* Did a signal end the wait for a reader that does not read? No more can be written. */
static bool cut_short(const struct report *report)
{
    return report->write_error == EINTR && interrupted();
}

int close_report(struct report *report)
{
    if (report->file != NULL && report->format == FORMAT_JSON && !cut_short(report))
        fputs("]\n", report->file);
    flush(report, report->file);
    flush(report, report->table);
    close_file(report, report->file);
    close_file(report, report->samples);
    const int error = report->write_error;
    const bool interruption = cut_short(report);
    if (error != 0 && !interruption)
        complain("%s: cannot write: %s; the rows before are kept", report->failed, strerror(error));
    const int compared = close_baseline(report->baseline);
    discard(report);
    return interruption ? EXIT_INTERRUPTED : error != 0 ? EXIT_ERROR : compared;
}
