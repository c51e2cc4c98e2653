/* possible_time.h: can a machine be as fast as a time says?
 *
 * A result that is right proves that some run was right, not that the timed ones did
 * the work. A time that no machine could take shows that they did not. */
#ifndef SCANBENCH_BENCH_RUN_POSSIBLE_TIME_H
#define SCANBENCH_BENCH_RUN_POSSIBLE_TIME_H

#include "measurement.h"

/* What bounds a run. NAN: unknown. */
struct speed_limits {
    double idle_ms;     /* a run that launches no kernel takes less, any other takes more */
    double chip_gb_s;   /* between all cores and the memory next to them */
    double memory_gb_s; /* of the memory past the caches, by its data sheet */
    size_t cache_bytes; /* of the last level */
};

/* Those of the open device. Call it while a GPU is at its working clocks: it takes a few
 * timings of its own. */
struct speed_limits find_speed_limits(const struct session *session,
                                      const struct plan_group *group);

/* True, and why, if a run that must move so many bytes cannot have taken so long.
 * `memcpy_gb_s`: what memcpy reached at the same size; NAN: not known. */
bool impossible_time(const struct speed_limits *limits, double memcpy_gb_s, double bytes,
                     double time_ms, char *why, size_t size);

/* Fails each row of which a quarter of the samples cannot be. */
void doubt_times(const struct group_run *run, const struct speed_limits *limits);

#endif
