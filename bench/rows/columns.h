/* columns.h: the columns of the results, from columns.def. */
#pragma once

#include "row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The classes of columns; columns.def explains each. */
enum column_class {
    CLASS_AXIS,
    CLASS_BUILD,
    CLASS_DATA,
    CLASS_ENVIRONMENT,
    CLASS_OUTCOME,
    CLASS_MEASURE,
};
enum column_kind { FIELD_TEXT, FIELD_TYPED, FIELD_NUMBER, FIELD_COUNT };

struct column {
    const char *name;
    enum column_class class;
    enum column_kind kind;
    size_t offset;      /* into struct row */
    const char *before; /* in rows of files that lack the column; NULL: unknown */
    const char *meaning;
};

extern const struct column columns[COLUMN_COUNT];

/* The column whose name is the first `length` bytes of `name`, or NULL. */
const struct column *find_column(const char *name, size_t length);

enum { FIELD_BYTES = 512 }; /* of the text of a field */

/* The text of a field, unquoted; empty if the row lacks it. Text that a spreadsheet would
 * evaluate as a formula is made harmless. */
void column_text(const struct column *column, const struct row *row, char *text, size_t size);

/* Do only runs with the flag fill the column? Its meaning then begins with the flag. */
bool needs_flag(const struct column *column, const char *flag);

/* Is the field kept as text? */
bool is_text(const struct column *column);

/* Is the field empty? */
bool column_empty(const struct column *column, const struct row *row);

/* A row with every column empty. */
struct row empty_row(void);

/* The part of a run's row that its launches share: everything but measures. */
struct row row_without_measures(const struct row *row);

/* --list-columns: prints the name and meaning of each column, one per line. */
void print_columns(FILE *out);

/* What --columns takes for the columns that a person wants. */
#define BASIC_COLUMNS "basic"
