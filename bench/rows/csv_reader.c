/* csv_reader: parses CSV in place into an array of cells. */
#include "csv_reader.h"

#include "../base/errors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of the reader. Fields are unquoted in place, since they only get shorter. */
struct reader {
    struct csv *csv;
    char *at;
    char *end;
    char *record; /* where the record begins that is being read */
    size_t line;
    bool line_ended; /* the last record ended with a line break */
    size_t cell_count, cell_capacity;
    size_t row_capacity;
    const char *problem; /* NULL: none yet */
};

/* Returns 0, or errno. */
static int read_whole_file(int file, char **text, size_t *length)
{
    size_t capacity = 65536;
    ssize_t now;
    *text = allocate_or_die(NULL, capacity + 1);
    *length = 0;
    lseek(file, 0, SEEK_SET); /* fails on a pipe, which is at its start anyway */
    do {
        if (*length == capacity) {
            capacity *= 2;
            *text = allocate_or_die(*text, capacity + 1);
        }
        now = read(file, *text + *length, capacity - *length);
        *length += now > 0 ? (size_t)now : 0;
    } while (now > 0 || (now < 0 && errno == EINTR));
    (*text)[*length] = '\0';
    return now < 0 ? errno : 0;
}

/* Returns false if the cell is too far from the start of its record. */
static bool add_cell(struct reader *reader, const char *cell)
{
    const size_t offset = (size_t)(cell - reader->record);
    if (offset > UINT32_MAX) {
        reader->problem = "a row is longer than 4 GiB";
        return false;
    }
    if (reader->cell_count == reader->cell_capacity) {
        reader->cell_capacity = 2 * reader->cell_capacity + 256;
        reader->csv->cells =
            allocate_or_die(reader->csv->cells, reader->cell_capacity * sizeof *reader->csv->cells);
    }
    reader->csv->cells[reader->cell_count++] = (uint32_t)offset;
    return true;
}

static bool at_line_end(const struct reader *reader)
{
    const char *at = reader->at;
    return at == reader->end || *at == '\n' ||
           (*at == '\r' && (at + 1 == reader->end || at[1] == '\n'));
}

/* Skips a line break; at the end of the file there is none to skip. */
static void skip_line_end(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at == '\r')
        reader->at++;
    reader->line_ended = reader->at < reader->end;
    reader->at += reader->line_ended;
    reader->line++;
}

/* Reads a quoted field. Leaves `at` after the closing quote and `to` after the unquoted text.
 * Returns false if the file ends inside the quotes. */
static bool read_quoted(struct reader *reader, char **to)
{
    for (reader->at++; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"' && (reader->at + 1 == reader->end || reader->at[1] != '"')) {
            reader->at++;
            return true;
        }
        reader->at += *reader->at == '"';
        reader->line += *reader->at == '\n';
        *(*to)++ = *reader->at;
    }
    return false;
}

enum field_end { FIELD_MORE, FIELD_LAST, FIELD_TORN, FIELD_WRONG };

static enum field_end read_field(struct reader *reader)
{
    char *to = reader->at;
    if (!add_cell(reader, to))
        return FIELD_WRONG;
    if (reader->at < reader->end && *reader->at == '"') {
        if (!read_quoted(reader, &to))
            return FIELD_TORN;
        if (!at_line_end(reader) && *reader->at != ',') {
            reader->problem = "there is text after a closing quote";
            return FIELD_WRONG;
        }
    } else {
        while (!at_line_end(reader) && *reader->at != ',')
            reader->at++;
        to = reader->at;
    }
    const bool more = !at_line_end(reader);
    if (more)
        reader->at++;
    else
        skip_line_end(reader);
    *to = '\0'; /* overwrites the comma, line break or closing quote */
    return more ? FIELD_MORE : FIELD_LAST;
}

/* Reads a record. Discards it if the file ends inside it. */
static enum field_end read_record(struct reader *reader)
{
    const size_t first_cell = reader->cell_count, wanted = reader->csv->column_count;
    enum field_end end = FIELD_MORE;
    reader->record = first_cell > 0 ? reader->at : reader->csv->text; /* the header's start is 0 */
    while (end == FIELD_MORE)
        end = read_field(reader);
    const size_t count = reader->cell_count - first_cell;
    if (end == FIELD_LAST && wanted > 0 && count != wanted) {
        if (reader->line_ended || count > wanted) {
            reader->problem = "its number of fields differs from the header's";
            return FIELD_WRONG;
        }
        end = FIELD_TORN;
    }
    if (end == FIELD_TORN)
        reader->cell_count = first_cell;
    return end;
}

static void add_row(struct reader *reader, size_t start)
{
    struct csv *csv = reader->csv;
    if (csv->row_count == reader->row_capacity) {
        reader->row_capacity = 2 * reader->row_capacity + 64;
        csv->row_starts =
            allocate_or_die(csv->row_starts, reader->row_capacity * sizeof *csv->row_starts);
    }
    csv->row_starts[csv->row_count++] = start;
}

/* A spreadsheet can leave columns without a name, of which there may be several. */
static const char *problem_of_header(const struct csv *csv)
{
    for (size_t a = 0; a < csv->column_count; a++)
        for (size_t b = 0; b < a; b++)
            if (csv_name(csv, a)[0] != '\0' && strcmp(csv_name(csv, a), csv_name(csv, b)) == 0)
                return "two columns have the same name";
    return NULL;
}

/* Reads header and rows, or sets reader->problem. */
static void read_records(struct reader *reader)
{
    struct csv *csv = reader->csv;
    while (reader->at < reader->end) {
        const size_t start = (size_t)(reader->at - csv->text);
        if (at_line_end(reader)) { /* a blank line */
            skip_line_end(reader);
            if (csv->whole_bytes > 0 && reader->line_ended)
                csv->whole_bytes = (size_t)(reader->at - csv->text);
            continue;
        }
        const size_t line = reader->line;
        const enum field_end end = read_record(reader);
        if (csv->column_count == 0 && end == FIELD_LAST) {
            csv->column_count = reader->cell_count;
            reader->problem = problem_of_header(csv);
        } else if (end == FIELD_LAST) {
            add_row(reader, start);
        }
        if (reader->problem != NULL) {
            reader->line = line;
            return;
        }
        if (reader->line_ended && end == FIELD_LAST)
            csv->whole_bytes = (size_t)(reader->at - csv->text);
        csv->torn |= end == FIELD_TORN;
        if (end == FIELD_TORN)
            break;
    }
    csv->ends_with_break = reader->line_ended && !csv->torn;
}

int read_open_csv_file(int file, struct csv *csv, char why[CSV_REASON_BYTES])
{
    size_t length;
    *csv = (struct csv){0};
    const int error = read_whole_file(file, &csv->text, &length);
    if (error != 0) {
        snprintf(why, CSV_REASON_BYTES, "%s", strerror(error));
        free_csv(csv);
        return EXIT_ERROR;
    }
    struct reader reader = {.csv = csv, .line = 1};
    reader.at = csv->text;
    reader.end = csv->text + length;
    if (length >= 3 && memcmp(csv->text, "\xEF\xBB\xBF", 3) == 0)
        reader.at += 3;
    if (memchr(csv->text, '\0', length) != NULL)
        reader.problem = "it contains a zero byte, so it is not text";
    else
        read_records(&reader);
    if (reader.problem == NULL)
        return EXIT_OK;
    snprintf(why, CSV_REASON_BYTES, "line %zu: %s", reader.line, reader.problem);
    free_csv(csv);
    return EXIT_USAGE;
}

int read_csv_file(const char *path, struct csv *csv, char why[CSV_REASON_BYTES])
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        *csv = (struct csv){0};
        snprintf(why, CSV_REASON_BYTES, "%s", strerror(errno));
        return EXIT_ERROR;
    }
    const int code = read_open_csv_file(file, csv, why);
    close(file);
    return code;
}

void free_csv(struct csv *csv)
{
    free(csv->text);
    free(csv->cells);
    free(csv->row_starts);
    *csv = (struct csv){0};
}

int csv_column(const struct csv *csv, const char *name)
{
    for (size_t c = 0; c < csv->column_count; c++)
        if (strcmp(csv_name(csv, c), name) == 0)
            return (int)c;
    return NO_COLUMN;
}

const char *csv_name(const struct csv *csv, size_t column)
{
    return csv->text + csv->cells[column];
}

const char *csv_cell(const struct csv *csv, size_t row, int column)
{
    if (column == NO_COLUMN)
        return "";
    return csv->text + csv->row_starts[row] +
           csv->cells[(row + 1) * csv->column_count + (size_t)column];
}
