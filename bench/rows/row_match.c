/* row_match: compares rows by the columns that identify a configuration, build and data. */
#include "row_match.h"

#include "../base/decimal.h"
#include "../base/errors.h"
#include "../base/sizes.h"

#include <ctype.h>
#include <string.h>

/* The columns that tell launches and lines from their run. */
static const char *const of_kernels[] = {"kernel", "launch", "line"};

enum { NEVER = SAME_DATA + 1 };

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

/* Adds a column that is found at `place` of the file. */
static void add_column(struct row_matcher *matcher, const struct column *column, int place)
{
    matcher->columns[matcher->count] = column;
    matcher->places[matcher->count++] = place;
}

struct row_matcher make_row_matcher(const struct csv *csv, enum match_level level)
{
    struct row_matcher matcher = {.csv = csv};
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        const int place = csv_column(csv, columns[c].name);
        if (level_of(&columns[c]) > (int)level || (place == NO_COLUMN && columns[c].before == NULL))
            continue;
        add_column(&matcher, &columns[c], place);
    }
    return matcher;
}

struct row_matcher match_runs(const struct row_matcher *matcher)
{
    struct row_matcher runs = {.csv = matcher->csv};
    for (size_t c = 0; c < matcher->count; c++) {
        const char *name = matcher->columns[c]->name;
        bool of_kernel = false;
        for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
            of_kernel |= strcmp(name, of_kernels[i]) == 0;
        if (!of_kernel)
            add_column(&runs, matcher->columns[c], matcher->places[c]);
    }
    return runs;
}

struct row_matcher match_columns_of(const struct csv *csv, const struct csv *other,
                                    size_t other_count)
{
    struct row_matcher matcher = {.csv = csv};
    for (size_t c = 0; c < other_count; c++) {
        const int place = csv_column(csv, csv_name(other, c));
        if (place != NO_COLUMN)
            add_column(&matcher, find_column(csv_name(other, c), strlen(csv_name(other, c))),
                       place);
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

/* A number has fewer characters. */
enum { NUMBER_BYTES = 64 };

static bool copy_part(const char *part, size_t length, char text[NUMBER_BYTES])
{
    if (length == 0 || length >= NUMBER_BYTES)
        return false;
    memcpy(text, part, length);
    text[length] = '\0';
    return true;
}

/* Are two parts of texts the same, or the same number? */
static bool same_part(const char *a, size_t a_length, const char *b, size_t b_length)
{
    char text_a[NUMBER_BYTES], text_b[NUMBER_BYTES];
    uint64_t count_a, count_b;
    double number_a, number_b;
    if (a_length == b_length && memcmp(a, b, a_length) == 0)
        return true;
    if (!copy_part(a, a_length, text_a) || !copy_part(b, b_length, text_b))
        return false;
    if (parse_count(text_a, &count_a) == NULL && parse_count(text_b, &count_b) == NULL)
        return count_a == count_b;
    return is_decimal(text_a, &number_a) && is_decimal(text_b, &number_b) && number_a == number_b;
}

/* Compares what is between colons, as in rows:1024 and rows:2^10. */
static bool same_value(const char *a, const char *b)
{
    for (;; a++, b++) {
        const size_t a_length = strcspn(a, ":"), b_length = strcspn(b, ":");
        if (!same_part(a, a_length, b, b_length))
            return false;
        a += a_length;
        b += b_length;
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

/* Names on an axis never look like numbers, so cells may be compared as numbers. A label or
 * host name may look like a number, and is compared as text. */
static bool is_text_column(const struct row_matcher *matcher, size_t c)
{
    return matcher->columns[c]->class == CLASS_BUILD;
}

static bool same_cell(const struct row_matcher *matcher, size_t c, const char *a, const char *b)
{
    return is_text_column(matcher, c) ? strcmp(a, b) == 0 : same_value(a, b);
}

/* The text in the row of the file, of a compared column. */
static const char *cell_of(const struct row_matcher *matcher, size_t row, size_t c)
{
    const int place = matcher->places[c];
    return place == NO_COLUMN ? matcher->columns[c]->before : csv_cell(matcher->csv, row, place);
}

void list_cells(const struct row_matcher *matcher, size_t row, const char *cells[COLUMN_COUNT])
{
    for (size_t c = 0; c < matcher->count; c++)
        cells[c] = cell_of(matcher, row, c);
}

bool has_cells(const struct row_matcher *matcher, size_t row, const char *const cells[])
{
    for (size_t c = 0; c < matcher->count; c++)
        if (!same_cell(matcher, c, cell_of(matcher, row, c), cells[c]))
            return false;
    return true;
}

void fill_wanted(struct wanted_cells *wanted, const struct row_matcher *matcher,
                 const struct row *row)
{
    for (size_t c = 0; c < matcher->count; c++) {
        column_text(matcher->columns[c], row, wanted->texts[c], sizeof wanted->texts[c]);
        wanted->cells[c] = wanted->texts[c];
    }
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
    list_cells(matcher, b, wanted);
    return has_cells(matcher, a, wanted);
}

/* ---- hashes ---- */

/* Mixes eight bytes into a hash: a step of FNV-1a, then a shift that brings high bits down. */
static uint64_t mix(uint64_t hash, uint64_t bits)
{
    hash = (hash ^ bits) * 0x100000001b3;
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return mix(hash, '\n');
}

/* Does same_part() take the part for a number? One that is a count and a decimal is the same
 * double as both, so that equal numbers have equal bits however they are written. */
static bool is_number(const char *part, size_t length, double *number)
{
    char text[NUMBER_BYTES];
    uint64_t count;
    if (!isdigit((unsigned char)part[0]) && part[0] != '.')
        return false; /* as most texts; neither parser takes it */
    if (!copy_part(part, length, text))
        return false;
    if (parse_count(text, &count) != NULL)
        return is_decimal(text, number);
    *number = (double)count;
    return true;
}

static uint64_t mix_value(uint64_t hash, const char *text)
{
    for (;; text++) {
        const size_t length = strcspn(text, ":");
        double number;
        uint64_t bits;
        if (is_number(text, length, &number)) {
            memcpy(&bits, &number, sizeof bits);
            hash = mix(hash, bits ^ bits >> 32);
        } else {
            hash = mix_text(hash, text, length);
        }
        text += length;
        if (*text == '\0')
            return hash;
    }
}

uint64_t hash_cells(const struct row_matcher *matcher, const char *const cells[])
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t c = 0; c < matcher->count; c++)
        hash = is_text_column(matcher, c) ? mix_text(hash, cells[c], strlen(cells[c]))
                                          : mix_value(hash, cells[c]);
    return hash ^ hash >> 32;
}
