/* turn.h: one entry has the device: its warm-up, or one turn of its samples.
 *
 * Both return NULL, or why the device failed. A result that is wrong is no failure: it
 * finishes the row. */
#ifndef SCANBENCH_BENCH_RUN_TURN_H
#define SCANBENCH_BENCH_RUN_TURN_H

#include "measurement.h"

/* The first call, verified, and as many more as were asked for. */
const char *warm_up(const struct group_run *run, struct measurement *m);

/* Takes a few samples. When they are enough, verifies the result and finishes the row. */
const char *take_turn(const struct group_run *run, struct measurement *m);

#endif
