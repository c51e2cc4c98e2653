/* possible_time.h: can a machine be as fast as a time says?
 *
 * A result that is right proves that some run was right, not that the timed ones did
 * the work. A time that no machine could take shows that they did not. */
#ifndef SCANBENCH_BENCH_RUN_POSSIBLE_TIME_H
#define SCANBENCH_BENCH_RUN_POSSIBLE_TIME_H

#include "measurement.h"

/* What bounds a run. NAN: not known. */
struct speed_limits {
    double idle_ms;     /* a run that launches no kernel takes less, any other takes more */
    double chip_gb_s;   /* between all cores and the memory next to them */
    double memory_gb_s; /* of the memory past the caches, by its data sheet */
    size_t cache_bytes; /* of the last level */
};

/* True, and why, if a run that must move so many bytes cannot have taken so long.
 * `memcpy_gb_s`: what memcpy reached at the same size; NAN: not known. */
bool impossible_time(const struct speed_limits *limits, double memcpy_gb_s, double bytes,
                     double time_ms, char *why, size_t size);

/* One sample that cannot be, and the row is no result: it failed. The device must be at
 * its clocks: it is timed, untold. */
void doubt_times(const struct group_run *run);

#endif
