/* energy.h: the energy per run(), from a counter that ticks at intervals. */
#pragma once

#include "../device/backend.h"

/* Calls run() back to back from one tick of the counter to a later one, and divides the energy
 * by the number of runs. `run_ms` is the approximate time of a run. The result is NAN if there
 * is no counter or it does not advance. Returns NULL, or why a run failed. */
const char *measure_energy(struct device *device, const struct trial *trial, double run_ms,
                           double *energy_mj);
