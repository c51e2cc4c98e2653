/* progress.h: one line on stderr that says what runs, how much is done, and how
 * long the rest may take. */
#ifndef SCANBENCH_BENCH_RUN_PROGRESS_H
#define SCANBENCH_BENCH_RUN_PROGRESS_H

#include "../cli/options.h"

/* Begins anew with so many rows to come. On a terminal the line is written over
 * again and again; elsewhere, if asked for, a line
 * is added once a second. */
void start_progress(const struct options *options, size_t row_count);

/* So many of them are not to be run after all. */
void leave_out_of_progress(size_t row_count);

/* `what` runs now; `done` rows are done, of the last perhaps a part. */
void show_progress(const char *what, double done);

/* Takes the line away, before anything else is written. */
void hide_progress(void);

/* "2 min 5 s" */
void format_duration(double seconds, char *text, size_t size);

#endif
