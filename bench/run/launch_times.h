/* launch_times.h: where the time of a run() goes: each of its launches by itself.
 *
 * The launches are timed in runs of their own, since what is put between them to
 * time them takes some of the device's time too. */
#ifndef SCANBENCH_BENCH_RUN_LAUNCH_TIMES_H
#define SCANBENCH_BENCH_RUN_LAUNCH_TIMES_H

#include "../../timing/statistics.h"
#include "../device/backend.h"

struct launch_times {
    unsigned launches; /* 0: not measured */
    unsigned samples;
    bool queued;     /* was the host's latency kept out? */
    double *time_ms; /* samples of the first launch, samples of the second, ... */
};

/* More launches than this, each between two marks, would not fit the queue of a
 * held stream. */
enum { HOLDABLE_MARKED_LAUNCHES = 160 };

/* Takes `samples` of each launch the log has kept. Returns NULL, or why not; then
 * nothing is left to free. */
const char *time_launches(struct device *device, const struct trial *trial,
                          const struct launch_log *log, unsigned samples,
                          struct launch_times *times);

struct statistics launch_statistics(const struct launch_times *times, unsigned launch);

/* The launch that takes longest; where that is not known, the one with the most
 * threads. NULL if nothing was launched. */
const struct launch_record *longest_launch(const struct launch_log *log,
                                           const struct launch_times *times);

void free_launch_times(struct launch_times *times);

#endif
