/* columns.h: the table of the report's columns. */
#ifndef SCANBENCH_BENCH_ROWS_COLUMNS_H
#define SCANBENCH_BENCH_ROWS_COLUMNS_H

#include "row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER, COLUMN_COUNT };

struct column {
    const char *name;
    enum column_kind kind;
    size_t offset; /* into struct row */
    const char *meaning;
};

extern const struct column columns[];
extern const size_t column_count;

/* The field's text, without any quoting; empty if the row does not have it.
 * Text that a spreadsheet would take for a formula is made harmless. */
void column_text(const struct column *column, const struct row *row, char *text, size_t size);

/* Is the field empty? */
bool column_empty(const struct column *column, const struct row *row);

/* A row with every column empty. */
struct row empty_row(void);

/* The row's axes and environment, and nothing measured. */
struct row row_without_measures(const struct row *row);

/* --list-columns: name, unit and meaning of each column, a line each. */
void print_columns(FILE *out);

#endif
