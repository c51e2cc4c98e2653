/* row_match.h: finds rows of the same configuration, in memory and in files. */
#pragma once

#include "columns.h"
#include "csv_reader.h"
#include "output_spec.h"

enum match_level {
    SAME_CONFIGURATION, /* what was asked for: operation, algorithm, n, ... */
    SAME_BUILD,         /* and by the same build on the same machine, under one label */
    SAME_DATA,          /* and with the same seed */
};

/* Matches a file's rows by those of the compared columns that it has, or that all its rows are
 * known to be the same in. Numbers are compared as numbers, however they are written. */
struct row_matcher {
    const struct csv *csv;
    size_t count;
    const struct column *columns[COLUMN_COUNT];
    int places[COLUMN_COUNT]; /* their indices in the file, or NO_COLUMN */
};

struct row_matcher make_row_matcher(const struct csv *csv, enum match_level level);

/* The name of a column that a match of this level compares and the file lacks; NULL: none.
 * Columns of later versions are required if `spec` needs them; with `spec` NULL, never. */
const char *missing_match_column(const struct csv *csv, enum match_level level,
                                 const struct output_spec *spec);

/* The same, with the launches and lines of a run counting as the run itself. */
struct row_matcher match_runs(const struct row_matcher *matcher);

/* Matches rows of `csv` by the first `other_count` columns of another file, those that both have.
 * All must be columns of the results. */
struct row_matcher match_columns_of(const struct csv *csv, const struct csv *other,
                                    size_t other_count);

enum { NO_ROW = -1 };

/* The cells that a matching row of the file would have, one per compared column. */
struct wanted_cells {
    char texts[COLUMN_COUNT][FIELD_BYTES];
    const char *cells[COLUMN_COUNT];
};

void fill_wanted(struct wanted_cells *wanted, const struct row_matcher *matcher,
                 const struct row *row);

/* The compared cells of a row of the file. */
void list_cells(const struct row_matcher *matcher, size_t r, const char *cells[COLUMN_COUNT]);

/* Does a row of the file have these cells, one per compared column? */
bool has_cells(const struct row_matcher *matcher, size_t r, const char *const cells[]);

/* A hash of cells. Those that has_cells() takes for the same have the same one. */
uint64_t hash_cells(const struct row_matcher *matcher, const char *const cells[]);

/* Does a row of the file match the row? */
bool is_matching_row(const struct row_matcher *matcher, size_t r, const struct row *row);

/* Do two rows of the file match each other? */
bool rows_match(const struct row_matcher *matcher, size_t a, size_t b);
