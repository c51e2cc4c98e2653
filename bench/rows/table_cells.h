/* table_cells.h: what stands in the cells of the table for people. */
#pragma once

#include "columns.h"
#include "output_spec.h"

enum { CELL_BYTES = 256, MOST_MEASURES = 16 };

#define RED "\033[31m"
#define GREEN "\033[1;32m"
#define YELLOW "\033[33m"
#define GREY "\033[90m"
#define PLAIN "\033[0m"

/* One column of the table. */
struct table_part {
    const char *title;
    int width;
    bool right;                  /* numbers end together */
    bool spared;                 /* left out if the table is too wide */
    bool real;                   /* means nothing of a simulated device */
    bool overhangs;              /* a mark after a number takes a blank of the gap */
    bool of_operator;            /* means nothing of an operation without an operator */
    const struct column *column; /* NULL: a measure */
    void (*format)(const struct table_part *part, const struct row *row, char text[CELL_BYTES]);
    size_t at;     /* of a measure that is a number: its place in the row */
    size_t and_at; /* of another that is added to it; 0: none */
    const char *unit;
};

/* The field as it is in the CSV file, and an axis as it is typed: 2^20 instead of 1048576, and in
 * a cell - if it is empty. */
void plain_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES]);
void axis_cell(const struct table_part *part, const struct row *row, char text[CELL_BYTES]);
void format_axis(const struct column *column, const struct row *row, char text[CELL_BYTES]);

/* Lists the measures of a run, in the order of the table: the time and what follows from it, or if
 * `counted` what --counts counts. Returns how many. */
size_t list_measures(const struct output_spec *spec, bool counted,
                     struct table_part parts[MOST_MEASURES]);

/* Finds the column that a measure of this title shows, or the two whose sum it is; the second is
 * NULL if it is one. Returns false if no measure has the title. */
bool columns_of_title(const char *title, const struct column *of_title[2]);

/* The colour of a cell; "": none. */
const char *cell_colour(const struct table_part *part, const struct row *row);
