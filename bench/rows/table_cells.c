/* table_cells: formats the cells of the table for people. */
#include "table_cells.h"

#include <math.h>
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

static void format_number(double value, const char *unit, char text[CELL_BYTES])
{
    if (isfinite(value))
        snprintf(text, CELL_BYTES, "%.1f%s", value, unit);
}

static void time_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_time(row->time_ms, text);
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

static void gb_s_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->gb_s, "", text);
}

static void memcpy_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->memcpy_pct, "", text);
}

static void copies_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_time(row->copies_ms, text);
}

static void share_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->share_pct, "%", text);
}

static void grid_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (row->grid >= 0)
        snprintf(text, CELL_BYTES, "%lld", (long long)row->grid);
}

static void occupancy_cell(const struct table_part *part, const struct row *row,
                           char text[CELL_BYTES])
{
    (void)part;
    format_number(row->occupancy_pct, " %", text);
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

static bool always(const struct output_spec *spec)
{
    (void)spec;
    return true;
}

static bool with_launches(const struct output_spec *spec)
{
    return spec->launches;
}

static bool without_launches(const struct output_spec *spec)
{
    return !spec->launches;
}

static bool with_copies(const struct output_spec *spec)
{
    return spec->copies;
}

static bool with_baseline(const struct output_spec *spec)
{
    return spec->baseline_path != NULL;
}

static const struct {
    struct table_part part;
    bool (*wanted)(const struct output_spec *spec);
} measures[] = {
    {{"time", 8, .right = true, .format = time_cell}, always},
    {{"± ", 7, .right = true, .real = true, .format = noise_cell}, without_launches},
    {{"GB/s", 6, .right = true, .spared = true, .real = true, .format = gb_s_cell}, always},
    {{"% memcpy", 8, .right = true, .spared = true, .real = true, .format = memcpy_cell},
     without_launches},
    {{"copies", 8, .right = true, .format = copies_cell}, with_copies},
    {{"share", 6, .right = true, .format = share_cell}, with_launches},
    {{"grid", 6, .right = true, .format = grid_cell}, with_launches},
    {{"occupancy", 9, .right = true, .spared = true, .format = occupancy_cell}, with_launches},
    {{"change", 13, .right = true, .format = change_cell}, with_baseline},
    {{"check", 6, .format = check_cell}, always},
};
size_t list_measures(const struct output_spec *spec, struct table_part parts[MOST_MEASURES])
{
    _Static_assert(sizeof measures / sizeof *measures <= MOST_MEASURES, "no room for a measure");
    size_t count = 0;
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++)
        if (measures[m].wanted(spec))
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
