/* report: writes rows as CSV, JSON, Markdown and the table for people. */
#include "report.h"

#include "baseline.h"
#include "columns.h"
#include "../base/decimal.h"
#include "../base/errors.h"
#include "../base/nearest.h"
#include "../base/sizes.h"
#include "resume.h"
#include "row_file.h"
#include "row_match.h"
#include "text_table.h"
#include "../base/terminal.h"
#include "version.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELD_BYTES = 512 };

struct report {
    struct row_writer file;    /* CSV, JSON, JSON Lines or Markdown */
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
    const struct output_spec *spec;
    struct text_table *text_table; /* laid out for `table`; NULL: no table */
    json_t *devices;               /* JSON: those that had rows */
    size_t noisy;                  /* rows whose noise stayed above --max-noise */
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

/* ---- JSON: an object with all rows and their context; JSON Lines: one row per line ---- */

/* Raised when a reader of an earlier version would misread the object. */
enum { JSON_SCHEMA_VERSION = 1 };

enum { JSON_DIGITS = 6, MOST_DIGITS = 17 };

/* Writes the number that the user typed, such as 2^31-1 or 0.75, with all of its digits. Returns
 * false if it is none. */
static bool write_json_typed(const char *text, FILE *out)
{
    char digits[32];
    uint64_t count;
    double number;
    if (parse_count(text, &count) == NULL) {
        fprintf(out, "%" PRIu64, count);
        return true;
    }
    if (!is_decimal(text, &number))
        return false;
    for (int p = JSON_DIGITS; p <= MOST_DIGITS; p++) {
        snprintf(digits, sizeof digits, "%.*g", p, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    fputs(digits, out);
    return true;
}

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

/* Writes the value and releases it. */
static void write_json(json_t *value, FILE *out)
{
    if (json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(JSON_DIGITS)) != 0)
        out_of_memory();
    json_decref(value);
}

static void write_json_row(const struct report *report, const struct row *row, FILE *out)
{
    for (size_t c = 0; c < report->chosen_count; c++) {
        const struct column *column = report->chosen[c];
        char text[FIELD_BYTES];
        column_text(column, row, text, sizeof text);
        fprintf(out, "%s\"%s\": ", c == 0 ? "{" : ", ", column->name);
        if (column->kind != FIELD_TYPED || !write_json_typed(text, out))
            write_json(json_field(column, row), out);
    }
    fputs("}\n", out);
}

static void note_json_device(struct report *report, const struct row *row)
{
    static const char *const facts[] = {"device", "device_name", "driver", "cuda"};
    json_t *device = json_object();
    for (size_t f = 0; f < sizeof facts / sizeof *facts; f++)
        json_object_set_new(device, facts[f],
                            json_field(find_column(facts[f], strlen(facts[f])), row));
    for (size_t d = 0; d < json_array_size(report->devices); d++)
        if (json_equal(json_array_get(report->devices, d), device)) {
            json_decref(device);
            return;
        }
    json_array_append_new(report->devices, device);
}

/* What rows have in common. It comes last, because the devices are known only then. */
static json_t *json_context(const struct report *report)
{
    char host[128] = "";
    json_t *arguments = json_array();
    for (char **argument = report->spec->arguments; argument != NULL && *argument; argument++)
        json_array_append_new(arguments, json_string(*argument));
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:O}", "version", SCANBENCH_VERSION, "commit",
                     SCANBENCH_COMMIT, "compiler", SCANBENCH_COMPILER, "host", host, "arguments",
                     arguments, "devices", report->devices);
}

static void write_json_end(const struct report *report, FILE *out)
{
    fputs("], \"context\": ", out);
    write_json(json_context(report), out);
    fputs("}\n", out);
}

/* ---- Markdown: the table's columns, unless --columns names others ---- */

static void write_markdown_header(const struct report *report, FILE *out)
{
    for (size_t c = 0; c < report->chosen_count; c++)
        fprintf(out, "| %s ", report->chosen[c]->name);
    fputs("|\n", out);
    for (size_t c = 0; c < report->chosen_count; c++)
        fputs(is_text(report->chosen[c]) ? "|---" : "|---:", out);
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

/* ---- opening ---- */

/* The columns that a person wants. */
static const char *basic_columns(const struct output_spec *spec)
{
    return spec->launches ? "op,algo,kernel,device,type,n,block,threads,cache,time_ms,noise_pct,"
                            "share_pct,gb_s,memcpy_pct,check"
                          : "op,algo,device,type,n,block,threads,cache,time_ms,noise_pct,gb_s,"
                            "memcpy_pct,check";
}

static bool unknown_column(const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *names[COLUMN_COUNT + 1] = {BASIC_COLUMNS};
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        names[c + 1] = columns[c].name;
    if (length == 0)
        complain("--columns: an empty name; write a list such as algo,n,time_ms");
    else
        complain("--columns=%s: no such column; did you mean \"%s\"? (--list-columns shows all)",
                 word, nearest_match(word, names, COLUMN_COUNT + 1));
    return false;
}

static bool is_chosen(const struct report *report, const struct column *column)
{
    for (size_t c = 0; c < report->chosen_count; c++)
        if (report->chosen[c] == column)
            return true;
    return false;
}

static void choose_basic(struct report *report)
{
    for (const char *list = basic_columns(report->spec); list != NULL;) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (!is_chosen(report, column))
            report->chosen[report->chosen_count++] = column;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
}

/* Chooses the columns of --columns=LIST in its order, or all. */
static bool choose_columns(const char *list, struct report *report)
{
    report->chosen = allocate_or_die(NULL, COLUMN_COUNT * sizeof(struct column *));
    for (size_t c = 0; list == NULL && c < COLUMN_COUNT; c++)
        report->chosen[report->chosen_count++] = &columns[c];
    while (list != NULL) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (length == strlen(BASIC_COLUMNS) && strncmp(list, BASIC_COLUMNS, length) == 0) {
            choose_basic(report);
        } else if (length == 0 || column == NULL) {
            return unknown_column(list, length);
        } else if (is_chosen(report, column)) {
            complain("--columns: \"%s\" is listed twice; name each column once", column->name);
            return false;
        } else {
            report->chosen[report->chosen_count++] = column;
        }
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
    "op",     "algo",        "kernel",  "launch", "type",   "kind", "n",     "block",  "threads",
    "device", "device_name", "cache",   "input",  "max",    "keep", "seed",  "host",   "date",
    "label",  "simd",        "scratch", "clocks", "values", "gpus", "ranks", "sample", "time_ms"};
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

static void open_table(const struct output_spec *spec, struct report *report)
{
    const bool all = spec->columns == NULL;
    report->table = stdout_writer();
    report->text_table =
        new_text_table(spec, all ? NULL : report->chosen, all ? 0 : report->chosen_count,
                       terminal_width(STDOUT_FILENO), terminal_has_colour(STDOUT_FILENO));
}

/* With --output the file gets CSV or another format; a table, if requested, goes to stdout. */
static bool choose_formats(const struct output_spec *spec, struct report *report, int *code)
{
    const bool terminal = isatty(STDOUT_FILENO) == 1;
    report->format = is_csv(spec->format) ? FORMAT_CSV : spec->format;
    if (spec->format == FORMAT_TABLE || (spec->format == FORMAT_AUTO && terminal && !spec->quiet))
        open_table(spec, report);
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
        fprintf(out, "{\"schema_version\": %d, \"rows\": [\n", JSON_SCHEMA_VERSION);
    else if (report->format == FORMAT_MARKDOWN)
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
    if (is_open(&report->samples) && !report->samples_headed) {
        begin_text(&text);
        write_samples_header(text.file);
        end_text(&text, &report->samples);
    }
    report->resumed_bytes = report->file.bytes;
}

static void discard(struct report *report)
{
    free_text_table(report->text_table);
    json_decref(report->devices);
    free_resume(&report->resume);
    free(report->chosen);
    free(report);
}

/* The devices that had rows in an earlier process of this run. */
static json_t *devices_before(const struct output_spec *spec)
{
    json_t *devices = spec->going_on ? json_loads(spec->devices_before, 0, NULL) : NULL;
    return devices != NULL ? devices : json_array();
}

struct report *open_report(const struct output_spec *spec, int *code)
{
    struct report *report = allocate_or_die(NULL, sizeof *report);
    *report = (struct report){.spec = spec,
                              .devices = devices_before(spec),
                              .path = spec->path,
                              .going_on = spec->going_on,
                              .headed = spec->going_on,
                              .row_count = spec->rows_before,
                              .noisy = spec->noisy_before};
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

void hand_over_report(const struct report *report, struct continuation *continuation)
{
    char *devices = continuation->devices;
    const size_t bytes =
        json_dumpb(report->devices, devices, sizeof continuation->devices - 1, JSON_COMPACT);
    devices[bytes < sizeof continuation->devices ? bytes : 0] = '\0';
    continuation->rows = report->row_count;
    continuation->noisy = report->noisy;
    keep_open_for_successor(&report->file);
    keep_open_for_successor(&report->samples);
}

bool report_failed(const struct report *report)
{
    return failed_writer(report) != NULL;
}

bool report_has_row(const struct report *report, const struct row *row)
{
    return resume_has_all(&report->resume, row);
}

bool report_row_passed(const struct report *report, const struct row *row)
{
    return resume_passed(&report->resume, row);
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
    else if (report->format == FORMAT_MARKDOWN)
        write_markdown_row(report, row, text.file);
    if (report->format == FORMAT_JSON) {
        note_json_device(report, row);
        fputs(report->row_count == 0 ? "" : ",", text.file);
    }
    if (report->format == FORMAT_JSON || report->format == FORMAT_JSONL)
        write_json_row(report, row, text.file);
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
    report->noisy += row.steady != NULL && strcmp(row.steady, "no") == 0;
    if (report->text_table != NULL)
        add_to_table(report->text_table, &row);
    return true;
}

void announce_row(struct report *report, const struct row *row)
{
    if (report->text_table != NULL)
        announce_to_table(report->text_table, row);
}

bool end_group_of_rows(struct report *report)
{
    struct text text;
    if (report->text_table == NULL || report_failed(report))
        return !report_failed(report);
    begin_text(&text);
    flush_table(report->text_table, text.file);
    return end_text(&text, &report->table);
}

static void tell_of_noise(const struct report *report)
{
    if (report->noisy > 0 && !report->spec->quiet)
        complain("%zu of %zu rows exceed%s --max-noise%s; try a longer --max-time", report->noisy,
                 report->row_count, report->noisy == 1 ? "s" : "",
                 report->text_table != NULL ? ", marked !" : "");
}

int close_report(struct report *report)
{
    end_group_of_rows(report);
    if (is_open(&report->file) && report->format == FORMAT_JSON && !report_failed(report)) {
        struct text text;
        begin_text(&text);
        write_json_end(report, text.file);
        end_text(&text, &report->file);
    }
    tell_of_noise(report);
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

void tell_how_to_go_on(const struct output_spec *output)
{
    if (output->path == NULL || !is_csv(output->format))
        complain("interrupted; with --output=FILE, a run can be resumed");
    else
        complain("interrupted; finished rows are in %s; to go on, %s", output->path,
                 output->opening == FILE_RESUME ? "run it again" : "add --resume");
}
