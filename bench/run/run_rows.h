/* run_rows.h: measurements become rows of the report. */
#ifndef SCANBENCH_BENCH_RUN_RUN_ROWS_H
#define SCANBENCH_BENCH_RUN_RUN_ROWS_H

#include "measurement.h"

/* What a row's texts are made of that nobody else keeps. */
struct row_texts {
    char device[16], seed[24], host[128], chose[64];
};

/* A row with its axes and its environment: what is known before it is measured. It
 * points into `texts`. */
struct row make_row(const struct group_run *run, const struct plan_entry *entry,
                    struct row_texts *texts);

/* Writes the group's rows, and returns the exit code that they make. What an interruption
 * or a lost device left undone has no row, so that --resume would run it. */
int write_group(const struct group_run *run);

#endif
