/* energy.h: what energy a run() takes, by a counter that ticks now and then. */
#ifndef SCANBENCH_BENCH_RUN_ENERGY_H
#define SCANBENCH_BENCH_RUN_ENERGY_H

#include "../device/backend.h"

/* Calls run() back to back from one tick of the counter to a later one and divides.
 * `run_ms` is about how long a run takes. NAN if there is no counter, or it stands
 * still. Returns NULL, or why a run failed. */
const char *measure_energy(struct device *device, const struct trial *trial, double run_ms,
                           double *energy_mj);

#endif
