/* launch_times.h: times each launch of a run() separately.
 *
 * Launches are timed in extra runs, since the events between them take some of the device's
 * time. */
#pragma once

#include "../../timing/statistics.h"
#include "../device/backend.h"

struct launch_times {
    unsigned launches; /* 0: not measured */
    unsigned samples;
    bool queued;     /* the times exclude the host's latency */
    double *time_ms; /* all samples of the first launch, then of the second, ... */
    double *all_ms;  /* of each sample: the time of all its launches */
};

/* More launches than this, each between two events, would not fit the queue of a held stream. */
enum { HOLDABLE_MARKED_LAUNCHES = 160 };

/* Takes `samples` samples of each launch in the log. Returns NULL, or why it failed, with
 * nothing left to free. */
const char *time_launches(struct device *device, const struct trial *trial,
                          const struct launch_log *log, unsigned samples,
                          struct launch_times *times);

struct statistics launch_statistics(const struct launch_times *times, unsigned launch);

/* The time of the launch in percent of that of all launches in the same run: the mean over the
 * runs, which for all launches together is 100. NAN if no launch took any time. */
double launch_share_pct(const struct launch_times *times, unsigned launch);

/* The launch with the longest time; if times are unknown, the one with the most threads. NULL
 * if nothing was launched. */
const struct launch_record *longest_launch(const struct launch_log *log,
                                           const struct launch_times *times);

void free_launch_times(struct launch_times *times);
