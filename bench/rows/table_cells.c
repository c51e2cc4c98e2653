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

static void memcpy_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (isfinite(row->memcpy_pct))
        snprintf(text, CELL_BYTES, "%.1f%s", row->memcpy_pct, row->memcpy_unsteady ? "!" : "");
}

/* A count of up to six characters; below 0, there is none. */
static void format_count(int64_t count, char text[CELL_BYTES])
{
    if (count >= 1000000000)
        snprintf(text, CELL_BYTES, "%.1fG", (double)count / 1e9);
    else if (count >= 1000000)
        snprintf(text, CELL_BYTES, "%.1fM", (double)count / 1e6);
    else if (count >= 0)
        snprintf(text, CELL_BYTES, "%lld", (long long)count);
}

static int64_t count_at(const struct row *row, size_t at)
{
    return *(const int64_t *)(const void *)((const char *)row + at);
}

static void count_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    format_count(count_at(row, part->at) + (part->and_at > 0 ? count_at(row, part->and_at) : 0),
                 text);
}

static void moved_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    const double bytes = row->read_bytes_per_element + row->written_bytes_per_element;
    if (isfinite(bytes))
        snprintf(text, CELL_BYTES, "%.*f", bytes < 999.95, bytes);
}

static void percent_cell(const struct table_part *part, const struct row *row,
                         char text[CELL_BYTES])
{
    if (isfinite(number_of(part, row)))
        snprintf(text, CELL_BYTES, "%.0f%%", number_of(part, row));
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

enum when {
    ALWAYS,
    WITH_LAUNCHES,
    WITHOUT_LAUNCHES,
    WITH_LINES,
    WITHOUT_LINES,
    WITH_COPIES,
    WITH_BASELINE
};

struct measure {
    struct table_part part;
    enum when when;
};

#define NUMBER(member, its_unit) .at = offsetof(struct row, member), .unit = (its_unit)
#define COUNT(member) .at = offsetof(struct row, member)
#define BOTH(one, other) COUNT(one), .and_at = offsetof(struct row, other)

static const struct measure times[] = {
    {{"time", 8, .right = true, .format = time_cell, NUMBER(time_ms, "")}, ALWAYS},
    {{"± ", 7, .right = true, .real = true, .format = noise_cell, NUMBER(noise_pct, "")},
     WITHOUT_LAUNCHES},
    {{"GB/s", 6, .right = true, .spared = true, .real = true, .format = number_cell,
      NUMBER(gb_s, "")},
     ALWAYS},
    {{"% memcpy", 8, .right = true, .spared = true, .real = true, .overhangs = true,
      .format = memcpy_cell, NUMBER(memcpy_pct, "")},
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

static const struct measure counts[] = {
    {{"kernels", 7, .right = true, .format = count_cell, COUNT(launches)}, WITHOUT_LINES},
    {{"work", 5, .right = true, .of_operator = true, .format = number_cell,
      NUMBER(work_per_element, "")},
     WITHOUT_LINES},
    {{"depth", 5, .right = true, .spared = true, .of_operator = true, .format = count_cell,
      COUNT(depth)},
     WITHOUT_LINES},
    {{"B/elem", 6, .right = true, .format = moved_cell,
      BOTH(read_bytes_per_element, written_bytes_per_element)},
     WITHOUT_LINES},
    {{"global", 6, .right = true, .format = count_cell,
      BOTH(global_load_requests, global_store_requests)},
     WITH_LINES},
    {{"sectors", 7, .right = true, .format = count_cell,
      BOTH(global_load_sectors, global_store_sectors)},
     WITH_LINES},
    {{"used", 4, .right = true, .format = percent_cell, NUMBER(sector_use_pct, "")}, ALWAYS},
    {{"shared", 6, .right = true, .spared = true, .format = count_cell, COUNT(shared_requests)},
     WITHOUT_LINES},
    {{"shared", 6, .right = true, .format = count_cell, COUNT(shared_requests)}, WITH_LINES},
    {{"conflicts", 9, .right = true, .format = count_cell, COUNT(bank_conflicts)}, ALWAYS},
    {{"barriers", 8, .right = true, .spared = true, .format = number_cell,
      NUMBER(barriers_per_block, "")},
     WITHOUT_LINES},
    {{"lanes", 5, .right = true, .spared = true, .format = number_cell, NUMBER(active_lanes, "")},
     ALWAYS},
    {{"atomics", 7, .right = true, .spared = true, .format = count_cell, COUNT(atomics)},
     WITH_LINES},
    {{"grid", 6, .right = true, .spared = true, .format = grid_cell}, WITH_LAUNCHES},
    {{"check", 6, .format = check_cell}, WITHOUT_LINES},
    {{"check", 6, .spared = true, .format = check_cell}, WITH_LINES},
};

enum { TIMES = sizeof times / sizeof *times, COUNTS = sizeof counts / sizeof *counts };

/* NULL: the cell is not that of one column, or is empty in any row. */
static const struct column *column_at(size_t at)
{
    for (size_t c = 0; c < COLUMN_COUNT && at > 0; c++)
        if (columns[c].offset == at)
            return &columns[c];
    return NULL;
}

bool columns_of_title(const char *title, const struct column *of_title[2])
{
    const size_t length = strlen(title);
    for (size_t m = 0; m < (size_t)TIMES + COUNTS; m++) {
        const struct table_part *part = m < TIMES ? &times[m].part : &counts[m - TIMES].part;
        if (strncmp(part->title, title, length) != 0 ||
            part->title[length + strspn(part->title + length, " ")] != '\0')
            continue;
        of_title[0] = column_at(part->at);
        of_title[1] = column_at(part->and_at);
        return of_title[0] != NULL;
    }
    return false;
}

size_t list_measures(const struct output_spec *spec, bool counted,
                     struct table_part parts[MOST_MEASURES])
{
    _Static_assert((int)TIMES <= (int)MOST_MEASURES && (int)COUNTS <= (int)MOST_MEASURES,
                   "no room for a measure");
    const struct measure *measures = counted ? counts : times;
    const size_t measure_count = counted ? COUNTS : TIMES;
    const bool holds[] = {[ALWAYS] = true,
                          [WITH_LAUNCHES] = spec->launches,
                          [WITHOUT_LAUNCHES] = !spec->launches,
                          [WITH_LINES] = spec->counts == COUNTS_BY_LINE,
                          [WITHOUT_LINES] = spec->counts != COUNTS_BY_LINE,
                          [WITH_COPIES] = spec->copies,
                          [WITH_BASELINE] = spec->baseline_path != NULL};
    size_t count = 0;
    for (size_t m = 0; m < measure_count; m++)
        if (holds[measures[m].when])
            parts[count++] = measures[m].part;
    return count;
}

const char *cell_colour(const struct table_part *part, const struct row *row)
{
    if ((part->format == noise_cell && too_noisy(row)) ||
        (part->format == memcpy_cell && row->memcpy_unsteady))
        return YELLOW;
    if (part->format == change_cell && row->change != NULL)
        return strcmp(row->change, "slower") == 0   ? RED
               : strcmp(row->change, "faster") == 0 ? GREEN
                                                    : "";
    return "";
}
