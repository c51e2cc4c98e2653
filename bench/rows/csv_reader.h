/* csv_reader.h: CSV files as they come back: RFC 4180, whoever wrote them.
 *
 * CRLF, a byte order mark, quoted fields with commas and line ends in them, blank
 * lines and a last line without an end are all read. */
#ifndef SCANBENCH_BENCH_ROWS_CSV_READER_H
#define SCANBENCH_BENCH_ROWS_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>

enum { CSV_REASON_BYTES = 160, NO_COLUMN = -1 };

struct csv {
    char *text;           /* the file; the cells lie in it */
    const char **cells;   /* the header's, then those of row after row */
    size_t column_count;  /* 0: an empty file */
    size_t row_count;     /* without the header */
    size_t *row_starts;   /* where each row begins in the file, in bytes */
    size_t whole_bytes;   /* to where the file consists of whole lines */
    bool torn;            /* a last record that is not whole was left out */
    bool ends_with_break; /* the last line read has an end */
};

/* Reads the whole file. Returns EXIT_OK; or, with the reason, EXIT_ERROR if it cannot
 * be read, EXIT_USAGE if it is not CSV: nothing is left to free then. */
int read_csv_file(const char *path, struct csv *csv, char why[CSV_REASON_BYTES]);

/* The same of a file that is open, from its beginning; it stays open. */
int read_open_csv_file(int file, struct csv *csv, char why[CSV_REASON_BYTES]);

void free_csv(struct csv *csv);

/* The column of that name, or NO_COLUMN. */
int csv_column(const struct csv *csv, const char *name);

const char *csv_name(const struct csv *csv, size_t column);

/* Never NULL; "" where `column` is NO_COLUMN. */
const char *csv_cell(const struct csv *csv, size_t row, int column);

#endif
