/* choose_algorithms.h: which algorithms a command line selects. */
#pragma once

#include "option_table.h"

/* Loads the user's files, and finds in the table what --op, --algo, --engine and --device choose.
 * Returns false and complains if a word matches nothing, or if a flag has no effect on what was
 * chosen. */
bool choose_algorithms(const struct command_line *line);

/* Do --op, --algo and --device leave the row, on some kind of device? */
bool is_row_chosen(const struct options *options, size_t row);
