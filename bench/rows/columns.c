/* columns: the table of columns.def, and the text of each field of a row. */
#include "columns.h"

#include "../base/terminal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct column columns[COLUMN_COUNT] = {
#define COLUMN(name, column_class, column_kind, meaning) \
    LATER_COLUMN(name, column_class, column_kind, NULL, meaning)
#define LATER_COLUMN(name, column_class, column_kind, before, meaning) \
    {#name, CLASS_##column_class, FIELD_##column_kind, offsetof(struct row, name), before, meaning},
#include "columns.def"
#undef COLUMN
};

const struct column *find_column(const char *name, size_t length)
{
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (strncmp(columns[c].name, name, length) == 0 && columns[c].name[length] == '\0')
            return &columns[c];
    return NULL;
}

bool needs_flag(const struct column *column, const char *flag)
{
    return strncmp(column->meaning, flag, strlen(flag)) == 0;
}

bool is_text(const struct column *column)
{
    return column->kind == FIELD_TEXT || column->kind == FIELD_TYPED;
}

static const void *field(const struct column *column, const struct row *row)
{
    return (const char *)row + column->offset;
}

bool column_empty(const struct column *column, const struct row *row)
{
    switch (column->kind) {
    case FIELD_TEXT:
    case FIELD_TYPED: {
        const char *text = *(const char *const *)field(column, row);
        return text == NULL || text[0] == '\0';
    }
    case FIELD_NUMBER:
        return !isfinite(*(const double *)field(column, row));
    case FIELD_COUNT:
        return *(const int64_t *)field(column, row) < 0;
    }
    return true;
}

/* Makes text printable ASCII that a spreadsheet does not evaluate. */
static void safe_text(const char *from, char *text, size_t size)
{
    size_t length = 0;
    if (strchr("=+-@", from[0]) != NULL && size > 1)
        text[length++] = '\'';
    for (; *from != '\0' && length + 1 < size; from++)
        text[length++] = (unsigned char)*from >= 0x20 && (unsigned char)*from < 0x7F ? *from : '?';
    text[length] = '\0';
}

void column_text(const struct column *column, const struct row *row, char *text, size_t size)
{
    text[0] = '\0';
    if (column_empty(column, row))
        return;
    switch (column->kind) {
    case FIELD_TEXT:
    case FIELD_TYPED:
        safe_text(*(const char *const *)field(column, row), text, size);
        break;
    case FIELD_NUMBER:
        snprintf(text, size, "%.6g", *(const double *)field(column, row));
        break;
    case FIELD_COUNT:
        snprintf(text, size, "%lld", (long long)*(const int64_t *)field(column, row));
        break;
    }
}

static void empty_field(const struct column *column, struct row *row)
{
    void *at = (char *)row + column->offset;
    switch (column->kind) {
    case FIELD_TEXT:
    case FIELD_TYPED:
        *(const char **)at = NULL;
        break;
    case FIELD_NUMBER:
        *(double *)at = NAN;
        break;
    case FIELD_COUNT:
        *(int64_t *)at = -1;
        break;
    }
}

struct row empty_row(void)
{
    struct row row = {0};
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        empty_field(&columns[c], &row);
    return row;
}

struct row row_without_measures(const struct row *row)
{
    struct row copy = *row;
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (columns[c].class == CLASS_MEASURE)
            empty_field(&columns[c], &copy);
    return copy;
}

void print_columns(FILE *out)
{
    size_t width = 0;
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        width = strlen(columns[c].name) > width ? strlen(columns[c].name) : width;
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        print_wrapped(out, wrapping_width(out), (int)width + 2, fprintf(out, "%s", columns[c].name),
                      columns[c].meaning);
}
