#include "row_match.h"

#include "exit_code.h"

#include <string.h>

/* Of --copies alone: without it a file can do without. */
#define HOST_MEMORY "host_memory"

/* As --list-columns names them; a column that this build does not have is passed
 * over. */
static const struct {
    const char *name;
    enum match_level level;
} compared[] = {
    {"op", SAME_CONFIGURATION},     {"algo", SAME_CONFIGURATION},   {"kernel", SAME_CONFIGURATION},
    {"launch", SAME_CONFIGURATION}, {"type", SAME_CONFIGURATION},   {"kind", SAME_CONFIGURATION},
    {"n", SAME_CONFIGURATION},      {"block", SAME_CONFIGURATION},  {"threads", SAME_CONFIGURATION},
    {"simd", SAME_CONFIGURATION},   {"device", SAME_CONFIGURATION}, {"cache", SAME_CONFIGURATION},
    {"input", SAME_CONFIGURATION},  {"max", SAME_CONFIGURATION},    {"keep", SAME_CONFIGURATION},
    {"version", SAME_BUILD},        {"commit", SAME_BUILD},         {"host", SAME_BUILD},
    {"label", SAME_BUILD},          {HOST_MEMORY, SAME_BUILD},
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

/* Are the row's cells these, one for each column that is compared? */
static bool has_cells(const struct row_matcher *matcher, size_t row, const char *const cells[])
{
    for (size_t c = 0; c < matcher->count; c++)
        if (strcmp(csv_cell(matcher->csv, row, matcher->places[c]), cells[c]) != 0)
            return false;
    return true;
}

long find_matching_row(const struct row_matcher *matcher, const struct row *row)
{
    char texts[COMPARED_COUNT][FIELD_BYTES];
    const char *wanted[COMPARED_COUNT];
    for (size_t c = 0; c < matcher->count; c++) {
        column_text(matcher->columns[c], row, texts[c], sizeof texts[c]);
        wanted[c] = texts[c];
    }
    for (size_t r = matcher->csv->row_count; r-- > 0;)
        if (has_cells(matcher, r, wanted))
            return (long)r;
    return NO_ROW;
}

bool rows_match(const struct row_matcher *matcher, size_t a, size_t b)
{
    const char *wanted[COMPARED_COUNT];
    for (size_t c = 0; c < matcher->count; c++)
        wanted[c] = csv_cell(matcher->csv, b, matcher->places[c]);
    return has_cells(matcher, a, wanted);
}
