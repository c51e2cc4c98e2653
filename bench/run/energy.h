/* energy.h: what energy a run() takes, by a counter that ticks now and then. */
#ifndef SCANBENCH_BENCH_RUN_ENERGY_H
#define SCANBENCH_BENCH_RUN_ENERGY_H

#include "../device/backend.h"

/* The energy used so far in mJ, as of the counter's last tick; NAN: unknown. */
typedef double read_energy(const char *device);

/* Calls run() back to back from one tick of the counter to a later one and divides.
 * `run_ms` is about how long a run takes. NAN if there is no counter, or it stands
 * still. Returns NULL, or why a run failed. */
const char *measure_energy(const struct backend *backend, const struct trial *trial, double run_ms,
                           read_energy *read, const char *device, double *energy_mj);

#endif
