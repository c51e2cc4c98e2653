/* table_layout: the columns of the table for people, and their widths. */
#include "table_layout.h"

#include "../base/terminal.h"
#include "../names.h"
#include "../operations.h"

#include <string.h>

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Axes that differ among neighbouring rows stay columns in any case. */
static bool stays_column(const struct column *column)
{
    static const char *const own[] = {"algo", "block", "threads", "simd"};
    return is_one_of(column->name, own, sizeof own / sizeof *own);
}

static void add_part(struct table_layout *layout, struct table_part part)
{
    const int title = shown_width(part.title);
    part.width = part.width > title ? part.width : title;
    layout->parts[layout->part_count++] = part;
}

/* The width of some columns, with the gap after each. */
static int width_of(const struct table_layout *layout, size_t from, size_t to)
{
    int width = 0;
    for (size_t p = from; p < to; p++)
        width += layout->parts[p].width + GAP;
    return width;
}

int front_width(const struct table_layout *layout)
{
    const int width = width_of(layout, 0, layout->time_part);
    const int least = layout->spec->counts == COUNTS_BY_LINE ? LINE_WIDTH + GAP
                      : layout->spec->launches               ? LAUNCH_WIDTH + GAP
                                                             : 0;
    return width > least ? width : least;
}

static int total_width(const struct table_layout *layout)
{
    return front_width(layout) + width_of(layout, layout->time_part, layout->part_count) - GAP;
}

static void remove_part(struct table_layout *layout, size_t p)
{
    memmove(layout->parts + p, layout->parts + p + 1,
            (--layout->part_count - p) * sizeof *layout->parts);
    layout->time_part -= p < layout->time_part;
}

static struct axis *axis_of(struct table_layout *layout, const struct column *column)
{
    for (size_t a = 0; a < layout->axis_count; a++)
        if (layout->axes[a].column == column)
            return &layout->axes[a];
    return NULL;
}

/* Makes the table fit: axes become lines above their rows, then measures go. */
static void make_fit(struct table_layout *layout)
{
    for (size_t p = 0; p < layout->time_part && total_width(layout) > layout->width;) {
        if (stays_column(layout->parts[p].column)) {
            p++;
            continue;
        }
        layout->sections[layout->section_count++] = axis_of(layout, layout->parts[p].column);
        remove_part(layout, p);
    }
    for (size_t p = layout->part_count; p-- > 0 && total_width(layout) > layout->width;)
        if (layout->parts[p].spared)
            remove_part(layout, p);
}

/* In a heading, a block size that only some rows have would seem to be that of the others' kernels,
 * which have one of their own. */
bool is_column(const struct axis *axis)
{
    const bool is_misleading =
        axis->is_partial && axis->value[0] != '\0' && strcmp(axis->column->name, "block") == 0;
    return axis->varies || is_misleading || strcmp(axis->column->name, "algo") == 0;
}

void lay_out(struct table_layout *layout)
{
    layout->laid_out = true;
    if (layout->part_count > 0)
        return; /* --columns */
    for (size_t a = 0; a < layout->axis_count; a++) {
        const struct axis *axis = &layout->axes[a];
        if (is_column(axis))
            add_part(layout, (struct table_part){.title = axis->column->name,
                                                 .width = axis->width,
                                                 .right = axis->column->kind == FIELD_COUNT,
                                                 .column = axis->column,
                                                 .format = axis_cell});
    }
    layout->time_part = layout->part_count;
    struct table_part measures[MOST_MEASURES];
    const bool counted = layout->spec->counts != COUNTS_NOTHING && !layout->has_real;
    const size_t measure_count = list_measures(layout->spec, counted, measures);
    for (size_t m = 0; m < measure_count; m++)
        if ((layout->has_real || !measures[m].real) &&
            (layout->has_operator || !measures[m].of_operator))
            add_part(layout, measures[m]);
    make_fit(layout);
    layout->parts[layout->time_part - 1].width +=
        front_width(layout) - width_of(layout, 0, layout->time_part);
}

static void choose_parts(struct table_layout *layout, const struct column **chosen, size_t count)
{
    for (size_t c = 0; c < count; c++)
        add_part(layout, (struct table_part){.title = chosen[c]->name,
                                             .width = chosen[c]->kind == FIELD_NUMBER ? 8 : 0,
                                             .right = chosen[c]->kind != FIELD_TEXT,
                                             .column = chosen[c],
                                             .format = plain_cell});
}

void begin_layout(struct table_layout *layout, const struct output_spec *spec,
                  const struct column **chosen, size_t chosen_count, int width)
{
    *layout = (struct table_layout){.spec = spec, .width = width};
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (columns[c].class == CLASS_AXIS && c != COLUMN_engine) /* the column algo has it */
            layout->axes[layout->axis_count++].column = &columns[c];
    choose_parts(layout, chosen, chosen_count);
}

void announce_axes(struct table_layout *layout, const struct row *row)
{
    const enum operation op = operation_named(row->op);
    layout->has_operator |= op < OPERATION_COUNT && operation_has(op, HAS_OPERATOR);
    layout->has_real |= !row->simulated;
    for (size_t a = 0; a < layout->axis_count; a++) {
        struct axis *axis = &layout->axes[a];
        char text[CELL_BYTES];
        format_axis(axis->column, row, text);
        const int width = (int)strlen(text);
        axis->width = width > axis->width ? width : axis->width;
        axis->is_partial |= text[0] == '\0';
        axis->varies |= text[0] != '\0' && axis->value[0] != '\0' && strcmp(text, axis->value) != 0;
        if (axis->value[0] == '\0')
            strcpy(axis->value, text);
    }
    for (size_t p = 0; p < layout->part_count; p++) { /* those of --columns */
        char text[CELL_BYTES];
        plain_cell(&layout->parts[p], row, text);
        const int width = (int)strlen(text);
        layout->parts[p].width = width > layout->parts[p].width ? width : layout->parts[p].width;
    }
}
