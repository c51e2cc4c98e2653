/* report: writes rows as CSV, JSON, Markdown and the table for people. */
#include "report.h"

#include "baseline.h"
#include "columns.h"
#include "../errors.h"
#include "../nearest.h"
#include "resume.h"
#include "row_file.h"
#include "row_match.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_BYTES = 512 };

struct report {
    struct row_writer file;    /* CSV, JSON or Markdown */
    struct row_writer table;   /* the table for people */
    struct row_writer samples; /* --samples-file */
    const char *path;          /* --output; NULL: none */
    enum format format;        /* of `file` */
    const struct column **chosen;
    size_t chosen_count;
    size_t row_count;
    bool going_on;             /* another process began the file and wrote its header */
    bool headed;               /* the header of the file is written */
    bool samples_headed;       /* the header of the samples file is written */
    struct resume resume;      /* --resume: the rows in the file */
    off_t resumed_bytes;       /* --resume: length of the file at the start */
    struct baseline *baseline; /* NULL: none */
};

static bool is_open(const struct row_writer *writer)
{
    return writer->file != NO_FILE;
}

/* ---- text that is written in one piece ---- */

struct text {
    char *bytes;
    size_t count;
    FILE *file; /* stream that builds the text in memory */
};

static void begin_text(struct text *text)
{
    text->file = open_memstream(&text->bytes, &text->count);
    if (text->file == NULL)
        out_of_memory();
}

/* Writes the text and frees it. */
static bool end_text(struct text *text, struct row_writer *writer)
{
    if (fclose(text->file) != 0)
        out_of_memory();
    const bool written = write_text(writer, text->bytes, text->count);
    free(text->bytes);
    return written;
}

/* ---- CSV: RFC 4180, with LF line ends ---- */

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

static void write_csv_header(const struct report *report, FILE *out)
{
    for (size_t c = 0; c < report->chosen_count; c++)
        fprintf(out, "%s%s", c > 0 ? "," : "", report->chosen[c]->name);
    fputc('\n', out);
}

static void write_csv_row(const struct report *report, const struct row *row, FILE *out)
{
    for (size_t c = 0; c < report->chosen_count; c++) {
        char text[FIELD_BYTES];
        column_text(report->chosen[c], row, text, sizeof text);
        if (c > 0)
            fputc(',', out);
        write_csv_field(out, text);
    }
    fputc('\n', out);
}

/* ---- JSON: one array, one object per row, empty fields null ---- */

static json_t *json_field(const struct column *column, const struct row *row)
{
    if (column_empty(column, row))
        return json_null();
    char text[FIELD_BYTES];
    column_text(column, row, text, sizeof text);
    switch (column->kind) {
    case FIELD_NUMBER:
        return json_real(strtod(text, NULL));
    case FIELD_COUNT:
        return json_integer(strtoll(text, NULL, 10));
    default:
        return json_string(text);
    }
}

static void write_json_row(const struct report *report, const struct row *row, FILE *out)
{
    json_t *object = json_object();
    for (size_t c = 0; c < report->chosen_count; c++)
        json_object_set_new(object, report->chosen[c]->name, json_field(report->chosen[c], row));
    fputs(report->row_count == 0 ? "" : ",", out);
    if (json_dumpf(object, out, JSON_REAL_PRECISION(6)) != 0)
        out_of_memory();
    fputc('\n', out);
    json_decref(object);
}

/* ---- Markdown: the table's columns, unless --columns names others ---- */

static void write_markdown_header(const struct report *report, FILE *out)
{
    for (size_t c = 0; c < report->chosen_count; c++)
        fprintf(out, "| %s ", report->chosen[c]->name);
    fputs("|\n", out);
    for (size_t c = 0; c < report->chosen_count; c++)
        fputs(report->chosen[c]->kind == FIELD_TEXT ? "|---" : "|---:", out);
    fputs("|\n", out);
}

static void write_markdown_row(const struct report *report, const struct row *row, FILE *out)
{
    for (size_t c = 0; c < report->chosen_count; c++) {
        char text[FIELD_BYTES];
        column_text(report->chosen[c], row, text, sizeof text);
        fputs("| ", out);
        for (const char *at = text; *at != '\0'; at++)
            fprintf(out, strchr("|\\`*_<", *at) != NULL ? "\\%c" : "%c", *at);
        fputc(' ', out);
    }
    fputs("|\n", out);
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

/* A launch is indented under the row of its run. */
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
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (strncmp(columns[c].name, name, length) == 0 && columns[c].name[length] == '\0')
            return &columns[c];
    return NULL;
}

static bool unknown_column(const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *names[COLUMN_COUNT];
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        names[c] = columns[c].name;
    if (length == 0)
        complain("--columns: an empty name; write a list such as algo,n,time_ms");
    else
        complain("--columns=%s: no such column; did you mean \"%s\"? (--list-columns shows all)",
                 word, nearest_match(word, names, COLUMN_COUNT));
    return false;
}

/* Chooses the columns of --columns=LIST in its order, or all. */
static bool choose_columns(const char *list, struct report *report)
{
    size_t wanted = list == NULL ? COLUMN_COUNT : 1;
    for (const char *p = list; p != NULL && *p != '\0'; p++)
        wanted += *p == ',';
    report->chosen = allocate_or_die(NULL, wanted * sizeof(struct column *));
    for (size_t c = 0; list == NULL && c < COLUMN_COUNT; c++)
        report->chosen[report->chosen_count++] = &columns[c];
    while (list != NULL) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (length == 0 || column == NULL)
            return unknown_column(list, length);
        for (size_t c = 0; c < report->chosen_count; c++)
            if (report->chosen[c] == column) {
                complain("--columns: \"%s\" is listed twice; name each column once", column->name);
                return false;
            }
        report->chosen[report->chosen_count++] = column;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}

/* --resume needs the columns that tell rows apart. */
static bool can_resume(const struct output_spec *spec, struct report *report, int *code)
{
    if (spec->opening != FILE_RESUME)
        return true;
    const struct csv *had = &report->resume.rows;
    const char *missing = missing_match_column(had, SAME_DATA, spec);
    if (missing == NULL && csv_column(had, "check") == NO_COLUMN)
        missing = "check";
    if (had->column_count == 0 || missing == NULL)
        return true;
    complain("--resume: without the column %s the rows of --output=%s cannot be told apart; add it "
             "to --columns",
             missing, report->path);
    *code = EXIT_USAGE;
    return false;
}

/* Opens the file of --output. Only a CSV file may be continued. */
static bool open_output(const struct output_spec *spec, struct report *report, int *code)
{
    const char **names = allocate_or_die(NULL, report->chosen_count * sizeof *names);
    for (size_t c = 0; c < report->chosen_count; c++)
        names[c] = report->chosen[c]->name;
    struct row_file row_file = {
        .flag = "--output",
        .path = report->path,
        .opening = spec->opening,
        .names = names,
        .name_count = report->chosen_count,
        .quiet = spec->quiet,
    };
    *code = open_row_file(&row_file);
    free(names);
    if (*code != EXIT_OK)
        return false;
    report->file = row_file.writer;
    report->headed = report->going_on || !row_file.is_new;
    if (spec->opening == FILE_RESUME)
        start_resume(&report->resume, &row_file.had, spec->launches);
    else
        free_csv(&row_file.had);
    report->resumed_bytes = report->file.bytes;
    return can_resume(spec, report, code);
}

/* The columns of --samples-file: those that identify a row, followed by these. */
static const char *const sample_columns[] = {
    "op",    "algo",    "kernel", "launch",      "type",  "kind",   "n",
    "block", "threads", "device", "device_name", "cache", "input",  "max",
    "keep",  "seed",    "host",   "date",        "label", "sample", "time_ms"};
enum { SAMPLE_COLUMN_COUNT = sizeof sample_columns / sizeof *sample_columns };

static bool open_samples(const struct output_spec *spec, struct report *report, int *code)
{
    if (spec->samples_path == NULL)
        return true;
    struct row_file row_file = {
        .flag = "--samples-file",
        .path = spec->samples_path,
        .opening = spec->opening,
        .names = sample_columns,
        .name_count = SAMPLE_COLUMN_COUNT,
        .other = &report->file,
        .quiet = spec->quiet,
    };
    *code = open_row_file(&row_file);
    if (*code != EXIT_OK)
        return false;
    report->samples = row_file.writer;
    report->samples_headed = report->going_on || !row_file.is_new;
    if (spec->opening == FILE_RESUME) {
        const off_t kept = find_sample_sets(&report->resume, &row_file.had, report->samples.bytes);
        if (kept < report->samples.bytes)
            cut_file(&report->samples, kept);
    }
    free_csv(&row_file.had);
    return true;
}

/* With --output the file gets CSV, JSON or Markdown; a table, if requested, goes to stdout. */
static bool choose_formats(const struct output_spec *spec, struct report *report, int *code)
{
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    const bool other = spec->format == FORMAT_JSON || spec->format == FORMAT_MARKDOWN;
    report->format = other ? spec->format : FORMAT_CSV;
    if (spec->format == FORMAT_TABLE || (spec->format == FORMAT_AUTO && terminal && !spec->quiet))
        report->table = stdout_writer();
    if (report->path != NULL)
        return open_output(spec, report, code);
    if (!is_open(&report->table))
        report->file = stdout_writer();
    return true;
}

static const char *columns_wanted(const struct output_spec *spec)
{
    if (spec->columns == NULL && spec->format == FORMAT_MARKDOWN)
        return spec->launches ? "op,algo,kernel,device,type,n,block,cache,time_ms,share_pct,gb_s,"
                                "memcpy_pct,check"
                              : "op,algo,device,type,n,block,cache,time_ms,gb_s,memcpy_pct,check";
    return spec->columns;
}

/* ---- writing ---- */

static void write_header(const struct report *report, FILE *out)
{
    if (report->format == FORMAT_CSV)
        write_csv_header(report, out);
    else if (report->format == FORMAT_JSON)
        fputs("[\n", out);
    else
        write_markdown_header(report, out);
}

static void write_samples_header(FILE *out)
{
    for (int c = 0; c < SAMPLE_COLUMN_COUNT; c++)
        fprintf(out, "%s%s", c > 0 ? "," : "", sample_columns[c]);
    fputc('\n', out);
}

static void write_headers(struct report *report)
{
    struct text text;
    if (is_open(&report->file) && !report->headed) {
        begin_text(&text);
        write_header(report, text.file);
        end_text(&text, &report->file);
    }
    if (is_open(&report->table) && !report->going_on) {
        begin_text(&text);
        write_table_header(text.file);
        end_text(&text, &report->table);
    }
    if (is_open(&report->samples) && !report->samples_headed) {
        begin_text(&text);
        write_samples_header(text.file);
        end_text(&text, &report->samples);
    }
    report->resumed_bytes = report->file.bytes;
}

static void discard(struct report *report)
{
    free_resume(&report->resume);
    free(report->chosen);
    free(report);
}

struct report *open_report(const struct output_spec *spec, int *code)
{
    struct report *report = allocate_or_die(NULL, sizeof *report);
    *report = (struct report){.path = spec->path,
                              .going_on = spec->going_on,
                              .headed = spec->going_on,
                              .row_count = spec->rows_before};
    report->file.file = report->table.file = report->samples.file = NO_FILE;
    *code = EXIT_USAGE;
    if (!choose_columns(columns_wanted(spec), report) ||
        (spec->baseline_path != NULL && (report->baseline = open_baseline(spec, code)) == NULL) ||
        !choose_formats(spec, report, code) || !open_samples(spec, report, code)) {
        close_baseline(report->baseline);
        discard_row_writer(&report->file);
        discard_row_writer(&report->samples);
        discard(report);
        return NULL;
    }
    *code = EXIT_OK;
    write_headers(report);
    return report;
}

/* The first writer that failed; NULL: none. */
static const struct row_writer *failed_writer(const struct report *report)
{
    if (report->file.problem[0] != '\0')
        return &report->file;
    if (report->samples.problem[0] != '\0')
        return &report->samples;
    return report->table.problem[0] != '\0' ? &report->table : NULL;
}

void keep_report_open(const struct report *report)
{
    keep_open_for_successor(&report->file);
    keep_open_for_successor(&report->samples);
}

size_t report_rows(const struct report *report)
{
    return report->row_count;
}

bool report_failed(const struct report *report)
{
    return failed_writer(report) != NULL;
}

bool report_has_row(const struct report *report, const struct row *row)
{
    return resume_has_all(&report->resume, row);
}

unsigned report_lost_count(const struct report *report, const struct row *row)
{
    return resume_lost_count(&report->resume, row);
}

/* Writes one line per sample. */
static bool write_samples(struct report *report, const struct row *row, const double *time_ms,
                          size_t count)
{
    struct text start, text;
    begin_text(&start);
    for (int c = 0; c < SAMPLE_COLUMN_COUNT - 2; c++) {
        char field[FIELD_BYTES];
        column_text(find_column(sample_columns[c], strlen(sample_columns[c])), row, field,
                    sizeof field);
        write_csv_field(start.file, field);
        fputc(',', start.file);
    }
    if (fclose(start.file) != 0)
        out_of_memory();
    begin_text(&text);
    for (size_t i = 0; i < count; i++)
        fprintf(text.file, "%s%zu,%.6g\n", start.bytes, i + 1, time_ms[i]);
    free(start.bytes);
    return end_text(&text, &report->samples);
}

static bool write_row(struct report *report, const struct row *row)
{
    struct text text;
    begin_text(&text);
    if (report->format == FORMAT_CSV)
        write_csv_row(report, row, text.file);
    else if (report->format == FORMAT_JSON)
        write_json_row(report, row, text.file);
    else
        write_markdown_row(report, row, text.file);
    return end_text(&text, &report->file);
}

/* A row measured again only for its samples replaces the file's last row, if that is the same
 * row. */
static bool make_room(struct report *report, const struct row *row)
{
    const off_t from = resume_last_without_samples(&report->resume, row);
    return from < 0 || report->file.bytes != report->resumed_bytes || cut_file(&report->file, from);
}

/* Samples are written before their row: if the run is killed, every row in the file has all of
 * its samples. */
static bool write_to_files(struct report *report, const struct row *row, const double *time_ms,
                           size_t count)
{
    return (!is_open(&report->samples) || count == 0 ||
            write_samples(report, row, time_ms, count)) &&
           make_room(report, row) && write_row(report, row);
}

bool report_row(struct report *report, const struct row *measured, const double *time_ms,
                size_t count)
{
    if (report_failed(report))
        return false;
    struct row row = *measured;
    if (report->baseline != NULL)
        compare_with_baseline(report->baseline, &row);
    /* With --kernels, a row may have been measured again only for its launches. */
    if (is_open(&report->file) && !resume_has_row(&report->resume, &row) &&
        !write_to_files(report, &row, time_ms, count))
        return false;
    report->row_count++;
    if (!is_open(&report->table))
        return true;
    struct text text;
    begin_text(&text);
    write_table_row(text.file, &row);
    return end_text(&text, &report->table);
}

int close_report(struct report *report)
{
    if (is_open(&report->file) && report->format == FORMAT_JSON && !report_failed(report))
        write_text(&report->file, "]\n", 2);
    close_row_writer(&report->file);
    close_row_writer(&report->table);
    close_row_writer(&report->samples);
    const struct row_writer *failed = failed_writer(report);
    const bool cut_short = failed != NULL && failed->cut_short;
    if (failed != NULL && !cut_short)
        complain("%s: %s", failed->path, failed->problem);
    const int compared = close_baseline(report->baseline);
    discard(report);
    return cut_short ? EXIT_INTERRUPTED : failed != NULL ? EXIT_ERROR : compared;
}
