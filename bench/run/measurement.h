/* measurement.h: the entries of a group while they are measured.
 *
 * What is known of each so far, and what they have in common. */
#ifndef SCANBENCH_BENCH_RUN_MEASUREMENT_H
#define SCANBENCH_BENCH_RUN_MEASUREMENT_H

#include "../../timing/gpu_state.h"
#include "../rows/report.h"
#include "copies.h"
#include "launch_times.h"
#include "plan.h"
#include "session.h"

enum { WALL_SAMPLES = 11 };

/* One entry of a group while it is being measured. */
struct measurement {
    const struct plan_entry *entry;
    struct call call;
    void *kept; /* by the algorithm, between its calls */
    struct launch_log log;
    struct launch_times launch_times;
    struct copy_samples copies;
    double *time_ms; /* samples so far */
    size_t capacity;
    struct statistics statistics;
    double wall_ms[WALL_SAMPLES];
    unsigned wall_count;
    double first_call_ms, spent_ms;
    double energy_mj;
    size_t summarized;        /* as many samples as the statistics are of */
    size_t trusted;           /* samples before the last look at the GPU's clocks */
    size_t throttled_samples; /* dropped */
    double looked_ms;         /* when that was, in spent_ms */
    uint32_t most_calls;      /* of a series of timed runs */
    uint64_t written;         /* elements of the result */
    struct gpu_state gpu;
    bool queued, done;
    bool lost;       /* the device, with this row */
    bool left_alone; /* --resume: it has lost the device too often */
    bool had;        /* --resume: its row is in the file already */
    const char *check;
    char reason[256];
    char date[32];
};

/* One group while it is being measured, and what it is measured with. */
struct group_run {
    const struct options *options;
    struct session *session;
    struct report *report;
    size_t rows_done; /* of all groups so far */
    char *entries;    /* what became of each: of an earlier process, then of this one */
    bool lost;        /* the device cannot be used any more */

    struct plan_group *group;
    struct input input;
    struct sampling sampling; /* what the options say, as it suits the device */
    struct measurement *ms;   /* one for each entry of the group */
};

/* Makes the measurements of run->group, none of them begun, and its input. */
void start_measurements(struct group_run *run);
void free_measurements(struct group_run *run);

/* Nothing more is to be measured: the row's check, its reason (NULL: none), its date. */
void finish_row(struct measurement *m, const char *check, const char *reason);

/* All rows that are not done end with an error. */
void fail_rows_left(struct group_run *run, const char *why);

/* Is that what the row's check says? False while it is not done. */
bool check_is(const struct measurement *m, const char *check);

bool all_done(const struct group_run *run);

/* Does it have a row that this process writes? */
bool row_wanted(const struct measurement *m);

/* What memcpy took with as many threads as the entry; all 0: it was not measured. */
struct statistics memcpy_statistics(const struct group_run *run, const struct plan_entry *entry);

#endif
