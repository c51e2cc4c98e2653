/* possible_time.h: rejects times that the machine cannot reach.
 *
 * A correct result proves that some run was correct, not that the timed runs did the work. A
 * time below what any machine of this kind needs shows that they did not. */
#pragma once

#include "measurement.h"

/* The limits of a device. NAN: unknown. */
struct speed_limits {
    double idle_ms;     /* a run without a launch takes less, any other takes more */
    double chip_gb_s;   /* between all cores and the memory closest to them */
    double memory_gb_s; /* of the memory beyond the caches, from its data sheet */
    size_t cache_bytes; /* of the last level */
};

/* Finds the limits of the open device. Call it while a GPU runs at its working clocks, since it
 * takes a few timings. */
struct speed_limits find_speed_limits(const struct session *session,
                                      const struct plan_group *group);

/* Returns true, and the reason, if a run that must move `bytes` cannot have taken `time_ms`.
 * `memcpy_gb_s`: the rate of memcpy at the same size; NAN: unknown. */
bool impossible_time(const struct speed_limits *limits, double memcpy_gb_s, double bytes,
                     double time_ms, char *why, size_t size);

/* Fails each row in which a quarter of the samples are impossible. */
void doubt_times(const struct run *run, const struct speed_limits *limits);
