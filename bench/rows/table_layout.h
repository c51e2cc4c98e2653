/* table_layout.h: the columns of the table for people: which there are, and how wide they are. */
#pragma once

#include "table_cells.h"

enum {
    GAP = 2,           /* spaces between two columns */
    LAUNCH_WIDTH = 26, /* "  1 " and the name of a kernel */
    LINE_WIDTH = 30,   /* "    " and the name of a file with a line's number */
};

/* What is known of an axis from the rows announced. */
struct axis {
    const struct column *column;
    char value[CELL_BYTES];  /* the first that is not empty */
    bool varies, is_partial; /* partial: some row has none */
    int width;
};

struct table_layout {
    const struct output_spec *spec;
    int width;
    bool laid_out;
    bool has_real;     /* some row is not of a simulated device */
    bool has_operator; /* some row is of an operation with an operator */
    struct axis axes[COLUMN_COUNT];
    size_t axis_count;
    struct table_part parts[COLUMN_COUNT + MOST_MEASURES];
    size_t part_count, time_part; /* time_part: index of the first measure */
    const struct axis *sections[COLUMN_COUNT];
    size_t section_count;
};

/* Begins with the columns of --columns; with none that are `chosen`, lay_out() finds them once all
 * rows are announced. */
void begin_layout(struct table_layout *layout, const struct output_spec *spec,
                  const struct column **chosen, size_t chosen_count, int width);
void announce_axes(struct table_layout *layout, const struct row *row);
void lay_out(struct table_layout *layout);

/* Has the axis a column, unless it is in a line above its rows? */
bool is_column(const struct axis *axis);

/* The width of the columns before the time, in which the launches of --kernels and the lines of
 * --counts=lines stand below their algorithm. */
int front_width(const struct table_layout *layout);
