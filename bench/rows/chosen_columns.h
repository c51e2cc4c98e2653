/* chosen_columns.h: the columns that a file has. */
#pragma once

#include "columns.h"
#include "output_spec.h"

struct chosen_columns {
    const struct column **column;
    size_t count;
};

/* Chooses the columns of --columns in its order; without it all, or those that suit the format.
 * Free chosen->column. Returns false after one line on stderr if there is no such column. */
bool choose_columns(const struct output_spec *spec, struct chosen_columns *chosen);
