/* row_match: compares rows by the columns that identify a configuration, build and data. */
#include "row_match.h"

#include "../decimal.h"
#include "../errors.h"
#include "../sizes.h"

#include <string.h>

/* The column that tells a launch from its run. */
#define KERNEL "kernel"
#define LAUNCH "launch"

enum { FIELD_BYTES = 512, NEVER = SAME_DATA + 1 };

/* The lowest level that compares the column. */
static int level_of(const struct column *column)
{
    switch (column->class) {
    case CLASS_AXIS:
        return SAME_CONFIGURATION;
    case CLASS_BUILD:
        return SAME_BUILD;
    case CLASS_DATA:
        return SAME_DATA;
    default:
        return NEVER;
    }
}

struct row_matcher make_row_matcher(const struct csv *csv, enum match_level level)
{
    struct row_matcher matcher = {.csv = csv};
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        const int place = csv_column(csv, columns[c].name);
        if (level_of(&columns[c]) > (int)level || (place == NO_COLUMN && columns[c].before == NULL))
            continue;
        matcher.columns[matcher.count] = &columns[c];
        matcher.places[matcher.count++] = place;
    }
    return matcher;
}

const char *missing_match_column(const struct csv *csv, enum match_level level,
                                 const struct output_spec *spec)
{
    for (int l = SAME_CONFIGURATION; l <= (int)level; l++)
        for (size_t c = 0; c < COLUMN_COUNT; c++)
            if (level_of(&columns[c]) == l && csv_column(csv, columns[c].name) == NO_COLUMN &&
                (columns[c].before == NULL || (spec != NULL && spec->needs[c])))
                return columns[c].name;
    return NULL;
}

bool same_value(const char *a, const char *b)
{
    uint64_t count_a, count_b;
    double number_a, number_b;
    if (strcmp(a, b) == 0)
        return true;
    if (a[0] == '\0' || b[0] == '\0')
        return false;
    if (parse_count(a, &count_a) == NULL && parse_count(b, &count_b) == NULL)
        return count_a == count_b;
    return is_decimal(a, &number_a) && is_decimal(b, &number_b) && number_a == number_b;
}

/* Names on an axis never look like numbers, so cells may be compared as numbers. A label or
 * host name may look like a number, and is compared as text. */
static bool same_cell(const struct row_matcher *matcher, size_t c, const char *a, const char *b)
{
    return matcher->columns[c]->class == CLASS_BUILD ? strcmp(a, b) == 0 : same_value(a, b);
}

/* The text in the row of the file, of a compared column. */
static const char *cell_of(const struct row_matcher *matcher, size_t row, size_t c)
{
    const int place = matcher->places[c];
    return place == NO_COLUMN ? matcher->columns[c]->before : csv_cell(matcher->csv, row, place);
}

/* Does the row have these cells, one per compared column? */
static bool has_cells(const struct row_matcher *matcher, size_t row, const char *const cells[])
{
    for (size_t c = 0; c < matcher->count; c++)
        if (!same_cell(matcher, c, cell_of(matcher, row, c), cells[c]))
            return false;
    return true;
}

/* The cells that a matching row of the file would have. */
struct wanted_cells {
    char texts[COLUMN_COUNT][FIELD_BYTES];
    const char *cells[COLUMN_COUNT];
};

static void fill_wanted(struct wanted_cells *wanted, const struct row_matcher *matcher,
                        const struct row *row)
{
    for (size_t c = 0; c < matcher->count; c++) {
        column_text(matcher->columns[c], row, wanted->texts[c], sizeof wanted->texts[c]);
        wanted->cells[c] = wanted->texts[c];
    }
}

long find_matching_row(const struct row_matcher *matcher, const struct row *row)
{
    struct wanted_cells wanted;
    fill_wanted(&wanted, matcher, row);
    for (size_t r = matcher->csv->row_count; r-- > 0;)
        if (has_cells(matcher, r, wanted.cells))
            return (long)r;
    return NO_ROW;
}

bool is_matching_row(const struct row_matcher *matcher, size_t r, const struct row *row)
{
    struct wanted_cells wanted;
    fill_wanted(&wanted, matcher, row);
    return has_cells(matcher, r, wanted.cells);
}

bool rows_match(const struct row_matcher *matcher, size_t a, size_t b)
{
    const char *wanted[COLUMN_COUNT];
    for (size_t c = 0; c < matcher->count; c++)
        wanted[c] = cell_of(matcher, b, c);
    return has_cells(matcher, a, wanted);
}

bool is_launch_of(const struct row_matcher *matcher, size_t launch, size_t whole)
{
    const struct csv *csv = matcher->csv;
    if (csv_cell(csv, launch, csv_column(csv, LAUNCH))[0] == '\0')
        return false;
    for (size_t c = 0; c < matcher->count; c++) {
        const char *name = matcher->columns[c]->name;
        if (strcmp(name, KERNEL) != 0 && strcmp(name, LAUNCH) != 0 &&
            !same_cell(matcher, c, cell_of(matcher, launch, c), cell_of(matcher, whole, c)))
            return false;
    }
    return true;
}
