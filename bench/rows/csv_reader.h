/* csv_reader.h: reads CSV files as in RFC 4180, whichever program wrote them.
 *
 * Accepts CRLF, a byte order mark, quoted fields with commas and line breaks in them, blank
 * lines, and a last line without a line break. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CSV_REASON_BYTES = 160, NO_COLUMN = -1 };

struct csv {
    char *text;           /* the file, with a zero byte after each cell */
    uint32_t *cells;      /* of the header, then of each row: offsets from the row's start */
    size_t column_count;  /* 0: an empty file */
    size_t row_count;     /* without the header */
    size_t *row_starts;   /* offset of each row in the file, in bytes */
    size_t whole_bytes;   /* length of the part that consists of whole lines */
    bool torn;            /* an incomplete last record was left out */
    bool ends_with_break; /* the last line read ends with a line break */
};

/* Reads the whole file. Returns EXIT_OK; or, with the reason in `why` and nothing to free,
 * EXIT_ERROR if it cannot be read or EXIT_USAGE if it is not CSV. */
int read_csv_file(const char *path, struct csv *csv, char why[CSV_REASON_BYTES]);

/* Reads an open file from its beginning, and leaves it open. */
int read_open_csv_file(int file, struct csv *csv, char why[CSV_REASON_BYTES]);

void free_csv(struct csv *csv);

/* The index of a column, or NO_COLUMN. */
int csv_column(const struct csv *csv, const char *name);

const char *csv_name(const struct csv *csv, size_t column);

/* The text of a cell, never NULL; "" if `column` is NO_COLUMN. */
const char *csv_cell(const struct csv *csv, size_t row, int column);
