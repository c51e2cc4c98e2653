/* table_cells: formats the cells of the table for people. */
#include "table_cells.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void format_time(double ms, char text[CELL_BYTES])
{
    static const struct {
        double ms;
        const char *unit;
    } units[] = {{1e3, "s"}, {1, "ms"}, {0, "us"}};
    size_t u = 0;
    if (!isfinite(ms))
        return;
    while (ms < units[u].ms * 0.99995)
        u++;
    const double value = units[u].ms > 0 ? ms / units[u].ms : ms * 1e3;
    const int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    snprintf(text, CELL_BYTES, "%.*f %s", decimals, value, units[u].unit);
}

static double number_of(const struct table_part *part, const struct row *row)
{
    return *(const double *)(const void *)((const char *)row + part->at);
}

static void time_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    format_time(number_of(part, row), text);
}

static void number_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    if (isfinite(number_of(part, row)))
        snprintf(text, CELL_BYTES, "%.1f%s", number_of(part, row), part->unit);
}

static bool too_noisy(const struct row *row)
{
    return row->steady != NULL && strcmp(row->steady, "no") == 0;
}

static void noise_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (isfinite(row->noise_pct) && row->samples > 1)
        snprintf(text, CELL_BYTES, "%.*f %%%s", row->noise_pct < 9.95, row->noise_pct,
                 too_noisy(row) ? "!" : " ");
}

static void grid_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (row->grid >= 0)
        snprintf(text, CELL_BYTES, "%lld", (long long)row->grid);
}

static void change_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (isfinite(row->baseline_ratio))
        snprintf(text, CELL_BYTES, "%+.1f %% %-6s", 100 * (row->baseline_ratio - 1),
                 strcmp(row->change, "none") == 0 ? "" : row->change);
}

static void check_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (row->kernel == NULL && row->check != NULL)
        snprintf(text, CELL_BYTES, "%s", row->check);
}

void plain_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    column_text(part->column, row, text, CELL_BYTES);
}

void format_axis(const struct column *column, const struct row *row, char text[CELL_BYTES])
{
    column_text(column, row, text, CELL_BYTES);
    if (strcmp(column->name, "n") != 0 || row->n < 1024)
        return;
    for (int log2_n = 10; log2_n < 63; log2_n++)
        if (row->n == (int64_t)1 << log2_n)
            snprintf(text, CELL_BYTES, "2^%d", log2_n);
}

void axis_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    format_axis(part->column, row, text);
    if (text[0] == '\0')
        strcpy(text, "-");
}

/* ---- the measures ---- */

enum when { ALWAYS, WITH_LAUNCHES, WITHOUT_LAUNCHES, WITH_COPIES, WITH_BASELINE };

#define NUMBER(member, its_unit) .at = offsetof(struct row, member), .unit = (its_unit)

static const struct {
    struct table_part part;
    enum when when;
} measures[] = {
    {{"time", 8, .right = true, .format = time_cell, NUMBER(time_ms, "")}, ALWAYS},
    {{"± ", 7, .right = true, .real = true, .format = noise_cell}, WITHOUT_LAUNCHES},
    {{"GB/s", 6, .right = true, .spared = true, .real = true, .format = number_cell,
      NUMBER(gb_s, "")},
     ALWAYS},
    {{"% memcpy", 8, .right = true, .spared = true, .real = true, .format = number_cell,
      NUMBER(memcpy_pct, "")},
     WITHOUT_LAUNCHES},
    {{"copies", 8, .right = true, .format = time_cell, NUMBER(copies_ms, "")}, WITH_COPIES},
    {{"share", 6, .right = true, .format = number_cell, NUMBER(share_pct, "%")}, WITH_LAUNCHES},
    {{"grid", 6, .right = true, .format = grid_cell}, WITH_LAUNCHES},
    {{"occupancy", 9, .right = true, .spared = true, .format = number_cell,
      NUMBER(occupancy_pct, " %")},
     WITH_LAUNCHES},
    {{"change", 13, .right = true, .format = change_cell}, WITH_BASELINE},
    {{"check", 6, .format = check_cell}, ALWAYS},
};

size_t list_measures(const struct output_spec *spec, struct table_part parts[MOST_MEASURES])
{
    _Static_assert(sizeof measures / sizeof *measures <= MOST_MEASURES, "no room for a measure");
    const bool holds[] = {[ALWAYS] = true,
                          [WITH_LAUNCHES] = spec->launches,
                          [WITHOUT_LAUNCHES] = !spec->launches,
                          [WITH_COPIES] = spec->copies,
                          [WITH_BASELINE] = spec->baseline_path != NULL};
    size_t count = 0;
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++)
        if (holds[measures[m].when])
            parts[count++] = measures[m].part;
    return count;
}

const char *cell_colour(const struct table_part *part, const struct row *row)
{
    if (part->format == noise_cell && too_noisy(row))
        return YELLOW;
    if (part->format == change_cell && row->change != NULL)
        return strcmp(row->change, "slower") == 0   ? RED
               : strcmp(row->change, "faster") == 0 ? GREEN
                                                    : "";
    return "";
}
