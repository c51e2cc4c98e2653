/* left_to_do.h: which entries of a group have their rows already, by the file that
 * --resume goes on with or by an earlier process. */
#ifndef SCANBENCH_BENCH_RUN_LEFT_TO_DO_H
#define SCANBENCH_BENCH_RUN_LEFT_TO_DO_H

#include "measurement.h"

/* Marks what is there. memcpy is measured all the same, to compare the others with.
 * False: nothing is left to do. */
bool skip_rows_there(struct group_run *run);

/* The device is lost: what another process has to know, in run->entries. */
void note_entries(struct group_run *run);

#endif
