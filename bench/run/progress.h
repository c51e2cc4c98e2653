/* progress.h: a line on stderr with what is running, how much is done, and later the time left. */
#pragma once

#include "../cli/options.h"

/* Starts the count at `done_before` of `row_count` rows, which other workers did. On a terminal the
 * line is overwritten in place; elsewhere, if requested, a line is added once per second. */
void start_progress(const struct options *options, size_t row_count, size_t done_before);

/* Subtracts rows that will not run after all. */
void leave_out_of_progress(size_t row_count);

/* Shows that `what` is running and `done` rows are finished, the last perhaps in part. */
void show_progress(const char *what, double done);

/* Erases the line, before anything else is printed. */
void hide_progress(void);

/* "2 min 5 s" */
void format_duration(double seconds, char *text, size_t size);
