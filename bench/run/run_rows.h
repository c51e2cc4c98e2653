/* run_rows.h: turns measurements into rows of the report. */
#pragma once

#include "measurement.h"

/* Storage for the texts that a row points to. */
struct row_texts {
    char device[16], max[TYPED_BYTES], seed[24], host[128], chose[64];
};

/* Makes a row with its axes and environment: everything known before measuring. It points into
 * `texts`. */
struct row make_row(const struct run *run, const struct plan_entry *entry, struct row_texts *texts);

/* Sends home the row of a finished measurement, and those of its launches. */
void send_row(const struct run *run, const struct measurement *m);

/* Writes the group's rows and returns their exit code. Entries that an interruption or a lost
 * device left unfinished have no row, so that --resume will run them. */
int write_group(const struct run *run);
