/* row_match.h: finds rows of the same configuration, in memory and in files. */
#ifndef SCANBENCH_BENCH_ROWS_ROW_MATCH_H
#define SCANBENCH_BENCH_ROWS_ROW_MATCH_H

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

/* The last row of the file with the row's configuration, or NO_ROW. */
enum { NO_ROW = -1 };
long find_matching_row(const struct row_matcher *matcher, const struct row *row);

/* Does a row of the file match the row? */
bool is_matching_row(const struct row_matcher *matcher, size_t r, const struct row *row);

/* Do two rows of the file match each other? */
bool rows_match(const struct row_matcher *matcher, size_t a, size_t b);

/* Is one row a launch of the run in the other? */
bool is_launch_of(const struct row_matcher *matcher, size_t launch, size_t whole);

/* Is it the same text, or the same number? */
bool same_value(const char *a, const char *b);

#endif
