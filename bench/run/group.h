/* group.h: measures the entries of one group in turns, whatever becomes of the device. */
#ifndef SCANBENCH_BENCH_RUN_GROUP_H
#define SCANBENCH_BENCH_RUN_GROUP_H

#include "measurement.h"

/* Runs run->group and writes its rows; run->entries says which of them an earlier process
 * has done. Returns the exit code that the rows make. Sets run->lost if the device is
 * lost, and then run->entries to what this process has left of the group. */
int run_group(struct group_run *run);

#endif
