/* option_rules.h: what the flags of a command line mean and allow together. */
#pragma once

#include "../base/errors.h"
#include "option_table.h"

#include <stdbool.h>

/* Completes line->options from flags that depend on one another. Returns false and complains if
 * flags contradict one another, or if one has no effect with the others. */
bool follow_option_rules(const struct command_line *line);

/* Loads the user's files, and finds in the table what --op, --algo, --engine and --device choose.
 * Returns false and complains if a word matches nothing, or if a flag has no effect on what was
 * chosen. */
bool choose_algorithms(const struct command_line *line);

/* A flag as it was given, for messages. The result is stored in `text` and returned. */
enum { FLAG_TEXT_BYTES = 2 * SHORT_TEXT_BYTES };
const char *as_given(const struct command_line *line, enum option_id id,
                     char text[FLAG_TEXT_BYTES]);

/* Do --op, --algo and --device leave the row, on some kind of device? */
bool is_row_chosen(const struct options *options, size_t row);

/* Do devices share arrays, by --gpus or as several processes? */
bool has_teams(const struct options *options);

/* Is one device asked for beside teams? */
bool asks_for_one_gpu(const struct options *options);
