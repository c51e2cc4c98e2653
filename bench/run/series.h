/* series.h: timed samples on data that no algorithm could have seen before, each of them checked.
 *
 * Functions return NULL, or why the device failed. A wrong result is not a failure of the device:
 * it finishes the row. */
#pragma once

#include "measurement.h"

struct verdict;

/* The entry's algorithm and the conditions of the group. */
struct trial trial_of(const struct run *run, struct measurement *m);

/* Verifies the result of the last run() on `input`. hand_over() may copy a count or a single
 * result into the call's buffers; if it changes anything else, the row fails. */
const char *judge_result(const struct session *session, struct measurement *m,
                         const struct input *input, struct verdict *verdict);

/* The same on the input that the workspace holds. A wrong result restores the workspace. */
const char *check_result(const struct run *run, struct measurement *m);

/* Takes `count` samples beyond those in the statistics, and one of the wall time if host and device
 * times differ. The data is new, and one element of it changes at a random point between the
 * samples. The last sample before and after that point is verified in full, and the others must
 * have left the same at the places looked at. */
const char *take_samples(struct run *run, struct measurement *m, unsigned count);
