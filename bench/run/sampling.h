/* sampling.h: how many samples a measurement takes, and when they are enough. */
#ifndef SCANBENCH_BENCH_RUN_SAMPLING_H
#define SCANBENCH_BENCH_RUN_SAMPLING_H

#include "measurement.h"

/* More would not fit the queue of a held stream. */
enum { HOLDABLE_LAUNCHES = 500 };

/* When to stop on such a device, with what was asked for. */
struct sampling device_sampling(const struct sampling *asked, const struct backend *backend);

/* How many samples to take in one turn. */
unsigned turn_samples(const struct group_run *run, const struct measurement *m);

/* How often to time a row's launches; 0: not at all. Without --kernels once, if
 * that is what the whole's occupancy depends on. */
unsigned launch_samples(const struct group_run *run, const struct measurement *m);

/* Takes the first `count` samples into account; true: they are enough. On a GPU, those
 * taken while it was held below its clocks are dropped. */
bool judge_samples(const struct group_run *run, struct measurement *m, size_t count);

#endif
