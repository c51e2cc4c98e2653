/* row_file: opens a CSV file to add rows to, and repairs its last line. */
#include "row_file.h"

#include "../base/decimal.h"
#include "../base/errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_name_of_run(const struct row_file *row_file, const char *name)
{
    for (size_t c = 0; c < row_file->name_count; c++)
        if (strcmp(row_file->names[c], name) == 0)
            return true;
    return false;
}

/* How the file's columns differ from those of the run; false: they are the same. */
static bool columns_differ(const struct row_file *row_file, char *how, size_t size)
{
    const struct csv *csv = &row_file->had;
    bool same = csv->column_count == row_file->name_count;
    for (size_t c = 0; c < row_file->name_count; c++) {
        if (csv_column(csv, row_file->names[c]) == NO_COLUMN) {
            snprintf(how, size, "it has no column \"%s\"", row_file->names[c]);
            return true;
        }
        same = same && strcmp(csv_name(csv, c), row_file->names[c]) == 0;
    }
    for (size_t c = 0; c < csv->column_count; c++)
        if (!is_name_of_run(row_file, csv_name(csv, c))) {
            char name[SHORT_TEXT_BYTES];
            snprintf(how, size, "this run has no column \"%s\"", shorten(csv_name(csv, c), name));
            return true;
        }
    snprintf(how, size, "they are in another order");
    return !same;
}

static int refuse(const struct row_file *row_file, int code, const char *why)
{
    complain("%s=%s: %s", row_file->flag, row_file->path, why);
    return code;
}

static void tell(const struct row_file *row_file, const char *what)
{
    if (!row_file->quiet)
        complain("%s=%s: %s", row_file->flag, row_file->path, what);
}

/* ---- a last row without a line break ---- */

/* gb_s and time_ms have six digits; a digit missing from `bytes` is a factor of ten. */
#define ROUNDING 1e-4

/* Rows with `bytes` have gb_s, which was computed from it, and vice versa. */
static bool bytes_are_whole(const struct csv *csv, size_t row, const char *text)
{
    const int rate = csv_column(csv, "gb_s"), time = csv_column(csv, "time_ms");
    double bytes, gb_s, ms;
    if (rate == NO_COLUMN || time == NO_COLUMN)
        return false;
    if (csv_cell(csv, row, rate)[0] == '\0')
        return text[0] == '\0';
    return is_decimal(text, &bytes) && is_decimal(csv_cell(csv, row, rate), &gb_s) &&
           is_decimal(csv_cell(csv, row, time), &ms) &&
           fabs(bytes - gb_s * ms * 1e6) <= ROUNDING * bytes;
}

/* A row reaches the file in one write together with its line break, so a row that lacks only
 * the line break has usually been through an editor. But a copy of a file may end anywhere, and
 * a row cut in its last field can still have all its fields: 409 for 4096. So the last row
 * counts as complete only if its last field cannot be mistaken for a prefix. That holds for
 * `values`, the last column unless --columns says otherwise; for `scratch` and `check`, of whose
 * words, too, none is a prefix of another; and for `bytes`. */
static bool last_row_is_whole(const struct csv *csv)
{
    static const struct {
        const char *column, *word;
    } ends[] = {{"check", "passed"}, {"check", "failed"}, {"check", "skipped"},
                {"check", "error"},  {"scratch", "kept"}, {"scratch", "fresh"},
                {"values", "none"},  {"values", "u32"},   {"values", "u64"}};
    const size_t row = csv->row_count - 1, last = csv->column_count - 1;
    const char *text = csv_cell(csv, row, (int)last), *name = csv_name(csv, last);
    if (strcmp(name, "bytes") == 0)
        return bytes_are_whole(csv, row, text);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name, ends[i].column) == 0 && strcmp(text, ends[i].word) == 0)
            return true;
    return false;
}

static int writing_failed(const struct row_file *row_file)
{
    return refuse(row_file, EXIT_ERROR, row_file->writer.problem);
}

/* Cuts off everything after the last complete line. */
static int cut_torn_line(struct row_file *row_file)
{
    struct csv *csv = &row_file->had;
    if (!cut_file(&row_file->writer, (off_t)csv->whole_bytes))
        return writing_failed(row_file);
    tell(row_file, "its last line was torn and has been cut off");
    csv->row_count -= !csv->torn; /* it was read as complete */
    return EXIT_OK;
}

static int mend_end(struct row_file *row_file)
{
    const struct csv *csv = &row_file->had;
    if (!csv->torn && csv->row_count > 0 && last_row_is_whole(csv)) {
        if (!write_text(&row_file->writer, "\n", 1))
            return writing_failed(row_file);
        tell(row_file, "its last line had no line break and has been given one");
        return EXIT_OK;
    }
    if (row_file->opening == FILE_APPEND)
        return refuse(row_file, EXIT_USAGE,
                      "its last line is torn; --resume cuts it off and continues");
    return cut_torn_line(row_file);
}

/* ---- opening ---- */

static bool may_be_replaced(const struct row_file *row_file)
{
    char start[80];
    const size_t length = row_file->replaces != NULL ? strlen(row_file->replaces) : 0;
    if (length > sizeof start)
        BUG("a start of %zu bytes", length);
    return length > 0 && pread(row_file->writer.file, start, length, 0) == (ssize_t)length &&
           memcmp(start, row_file->replaces, length) == 0;
}

/* Checks a file that is not empty. */
static int look_at_file(struct row_file *row_file)
{
    char why[CSV_REASON_BYTES], how[CSV_REASON_BYTES];
    if (may_be_replaced(row_file))
        return EXIT_OK;
    if (row_file->opening == FILE_NEW)
        return refuse(row_file, EXIT_USAGE,
                      row_file->names == NULL
                          ? "the file exists and is not empty; name another or remove it"
                          : "the file exists and is not empty; name another, remove it, or add "
                            "--append or --resume");
    const int code = read_open_csv_file(row_file->writer.file, &row_file->had, why);
    if (code != EXIT_OK)
        return refuse(row_file, code, why);
    if (row_file->had.whole_bytes == 0)
        return refuse(row_file, EXIT_USAGE, "its header is incomplete; remove the file");
    if (columns_differ(row_file, how, sizeof how)) {
        complain("%s=%s: its columns are not those of this run: %s; name another file, or pass its "
                 "columns with --columns",
                 row_file->flag, row_file->path, how);
        return EXIT_USAGE;
    }
    return (size_t)row_file->writer.bytes == row_file->had.whole_bytes ? EXIT_OK
                                                                       : mend_end(row_file);
}

/* The flag that named the same file before; NULL: none. */
static const char *flag_of_same_file(const struct row_file *row_file)
{
    for (size_t o = 0; o < row_file->other_count && row_file->writer.regular; o++)
        if (same_file(&row_file->writer, &row_file->others[o]))
            return row_file->others[o].flag;
    return NULL;
}

static int refuse_same_file(const struct row_file *row_file, const char *other)
{
    char why[96];
    snprintf(why, sizeof why, "it is also the file of %s, and needs to be one of its own", other);
    return refuse(row_file, EXIT_USAGE, why);
}

int open_row_file(struct row_file *row_file)
{
    int code = open_row_writer(&row_file->writer, row_file->flag, row_file->path);
    if (code != EXIT_OK)
        return code;
    row_file->is_new = row_file->writer.bytes == 0;
    const char *other = flag_of_same_file(row_file);
    if (other != NULL)
        code = refuse_same_file(row_file, other);
    else if (!row_file->is_new)
        code = look_at_file(row_file);
    if (code != EXIT_OK) {
        free_csv(&row_file->had);
        discard_row_writer(&row_file->writer);
    }
    return code;
}
