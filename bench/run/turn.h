/* turn.h: one turn of an entry on the device, for its warm-up or its samples.
 *
 * The functions return NULL, or why the device failed. A wrong result is not a failure of the
 * device: it finishes the row. */
#pragma once

#include "measurement.h"

/* Makes the first call, verifies it, and makes the other warm-up runs. */
const char *warm_up(struct run *run, struct measurement *m);

/* --check, after the warm-up: also of a row that has failed, because a race may be the reason. Then
 * the row is not finished any more. */
const char *check_for_races(struct run *run, struct measurement *m);

/* Takes a few samples and verifies them. Once there are enough, finishes the row. */
const char *take_turn(struct run *run, struct measurement *m);
