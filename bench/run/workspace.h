/* workspace.h: the buffers that all entries of a group share.
 *
 * Functions that return `const char *` return NULL, or why the device failed. */
#ifndef SCANBENCH_BENCH_RUN_WORKSPACE_H
#define SCANBENCH_BENCH_RUN_WORKSPACE_H

#include "measurement.h"

/* Input and output, and scratch for the most demanding entry that is left. */
const char *allocate_workspace(const struct group_run *run);
void release_workspace(struct session *session);

/* The device was reset: what was on it is gone, and must not be released any more. */
void forget_workspace(struct session *session);

/* What a wrong algorithm did to the input, or beside the buffers, must not be
 * laid to the next one's charge. */
const char *restore_workspace(const struct group_run *run);

/* Lets an algorithm see no more than the scratch it asked for, though others of
 * its group may have more. */
const char *cut_scratch(const struct group_run *run, const struct measurement *m);

/* Poisons what the run must write. */
const char *poison_results(const struct session *session);

#endif
