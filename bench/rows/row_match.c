#include "row_match.h"

#include "../decimal.h"
#include "../errors.h"
#include "../sizes.h"

#include <string.h>

/* Of --copies alone: without it a file can do without. */
#define HOST_MEMORY "host_memory"

/* What tells a launch from the whole. */
#define KERNEL "kernel"
#define LAUNCH "launch"

/* As --list-columns names them; a column that this build does not have is passed
 * over. `max` and `keep` are numbers as somebody typed them. */
static const struct {
    const char *name;
    enum match_level level;
    bool number;
} compared[] = {
    {"op", SAME_CONFIGURATION, false},
    {"algo", SAME_CONFIGURATION, false},
    {KERNEL, SAME_CONFIGURATION, false},
    {LAUNCH, SAME_CONFIGURATION, true},
    {"type", SAME_CONFIGURATION, false},
    {"kind", SAME_CONFIGURATION, false},
    {"n", SAME_CONFIGURATION, true},
    {"block", SAME_CONFIGURATION, true},
    {"threads", SAME_CONFIGURATION, true},
    {"simd", SAME_CONFIGURATION, false},
    {"device", SAME_CONFIGURATION, false},
    {"cache", SAME_CONFIGURATION, false},
    {"input", SAME_CONFIGURATION, false},
    {"max", SAME_CONFIGURATION, true},
    {"keep", SAME_CONFIGURATION, true},
    {"version", SAME_BUILD, false},
    {"commit", SAME_BUILD, false},
    {"host", SAME_BUILD, false},
    {"label", SAME_BUILD, false},
    {HOST_MEMORY, SAME_BUILD, false},
    {"seed", SAME_DATA, true},
};
enum { COMPARED_COUNT = sizeof compared / sizeof *compared, FIELD_BYTES = 512 };

static const struct column *column_named(const char *name)
{
    for (size_t c = 0; c < column_count; c++)
        if (strcmp(columns[c].name, name) == 0)
            return &columns[c];
    return NULL;
}

struct row_matcher make_row_matcher(const struct csv *csv, enum match_level level)
{
    struct row_matcher matcher = {.csv = csv, .level = level};
    _Static_assert(COMPARED_COUNT <= sizeof matcher.places / sizeof *matcher.places,
                   "room for every compared column");
    for (int i = 0; i < COMPARED_COUNT; i++) {
        const struct column *column = column_named(compared[i].name);
        const int place = csv_column(csv, compared[i].name);
        if (compared[i].level > level || column == NULL || place == NO_COLUMN)
            continue;
        matcher.columns[matcher.count] = column;
        matcher.numbers[matcher.count] = compared[i].number;
        matcher.places[matcher.count++] = place;
    }
    return matcher;
}

const char *missing_match_column(const struct csv *csv, enum match_level level, bool copies)
{
    for (int i = 0; i < COMPARED_COUNT; i++)
        if (compared[i].level <= level && column_named(compared[i].name) != NULL &&
            csv_column(csv, compared[i].name) == NO_COLUMN &&
            (copies || strcmp(compared[i].name, HOST_MEMORY) != 0))
            return compared[i].name;
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

static bool same_cell(const struct row_matcher *matcher, size_t c, const char *a, const char *b)
{
    return matcher->numbers[c] ? same_value(a, b) : strcmp(a, b) == 0;
}

/* Are the row's cells these, one for each column that is compared? */
static bool has_cells(const struct row_matcher *matcher, size_t row, const char *const cells[])
{
    for (size_t c = 0; c < matcher->count; c++)
        if (!same_cell(matcher, c, csv_cell(matcher->csv, row, matcher->places[c]), cells[c]))
            return false;
    return true;
}

/* What a file's row would hold, to compare many with it. */
struct wanted_cells {
    char texts[COMPARED_COUNT][FIELD_BYTES];
    const char *cells[COMPARED_COUNT];
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
    const char *wanted[COMPARED_COUNT];
    for (size_t c = 0; c < matcher->count; c++)
        wanted[c] = csv_cell(matcher->csv, b, matcher->places[c]);
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
            !same_cell(matcher, c, csv_cell(csv, launch, matcher->places[c]),
                       csv_cell(csv, whole, matcher->places[c])))
            return false;
    }
    return true;
}
