/* workspace.h: the buffers shared by all entries of a group.
 *
 * Functions that return `const char *` return NULL, or why the device failed. */
#pragma once

#include "measurement.h"

/* The scratch of the unfinished entry that needs most. */
size_t shared_scratch_bytes(const struct run *run);

/* Allocates input, output, and scratch for the unfinished entry that needs most. */
const char *allocate_workspace(const struct run *run);
void release_workspace(struct session *session);

/* After a reset of the device: its buffers are gone and must not be released. */
void forget_workspace(struct session *session);

/* Fills the input, and the second input that goes with it, with data. */
const char *fill_data(const struct session *session, const struct input *input);

/* Restores the inputs and the guard zones, so that damage done by a wrong algorithm is not
 * blamed on the next one. */
const char *restore_workspace(const struct run *run);

/* Shrinks scratch to what the algorithm asked for, though others of its group may need more. */
const char *cut_scratch(const struct run *run, const struct measurement *m);

/* Poisons the buffers that the run must write. */
const char *poison_results(const struct session *session);
