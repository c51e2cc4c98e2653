/* measurement.h: the state of a group's entries while they are measured. */
#pragma once

#include "../../timing/gpu_state.h"
#include "../worker/results.h"
#include "../worker/run_state.h"
#include "clocks.h"
#include "copies.h"
#include "launch_counts.h"
#include "launch_times.h"
#include "plan.h"
#include "task.h"

enum { WALL_SAMPLES = 11 };

/* One entry of a group while it is being measured. */
struct measurement {
    const struct plan_entry *entry;
    struct task task; /* no algorithm while the device is not open */
    struct call call;
    void *kept; /* kept by the algorithm between calls */
    struct launch_log log;
    struct launch_times launch_times;
    struct launch_counts launch_counts;
    struct copy_samples copies;
    double *time_ms; /* samples so far */
    size_t capacity;
    struct statistics statistics;
    double wall_ms[WALL_SAMPLES];
    unsigned wall_count;
    double first_call_ms, spent_ms;
    double check_ms; /* spent on the last turn's data and checks */
    double energy_mj;
    struct team_times team_times;
    size_t summarized;        /* number of samples in the statistics */
    size_t trusted;           /* samples before the last check of the GPU's clocks */
    size_t throttled_samples; /* samples dropped */
    double looked_ms;         /* time of that check, in terms of spent_ms */
    uint32_t most_calls;      /* the longest series of timed runs */
    uint64_t written;         /* number of elements of the result */
    struct gpu_state gpu;
    bool queued, done;
    bool lost;                   /* this row lost the device */
    bool left_alone;             /* --resume: it lost the device too often before */
    bool had;                    /* the file has its row, of an earlier run or worker */
    bool had_passed, had_failed; /* and in it the row passed, or its result was wrong */
    const char *check;
    char reason[256];
    char date[32];
};

/* One run of a plan, and the group that is being measured. */
struct run {
    const struct options *options;
    const struct plan *plan;
    struct clocks *clocks;
    struct session *session;
    struct results *results;
    struct run_state *state;
    size_t rows_done;       /* rows finished so far, in all groups */
    size_t missed;          /* rows of this worker or of a file that did not pass */
    char first_missed[512]; /* the first of them, and why */
    bool lost;              /* the device is unusable */
    char not_counted[256];  /* --counts: why the latest row that was not counted was not */
    const struct plan_group *group;
    struct input input;
    struct sampling sampling; /* the options' settings, adapted to the device */
    struct measurement *ms;   /* one per entry of the group */
};

/* Creates the measurements of run->group, none of them started, and its input. */
void start_measurements(struct run *run);
void free_measurements(struct run *run);

/* Marks a row as finished, with its check, its reason (NULL: none) and the date. */
void finish_row(struct measurement *m, const char *check, const char *reason);

/* Ends all unfinished rows with an error. After an interruption they stay unfinished. */
void fail_rows_left(struct run *run, const char *why);

/* Does the row have this check? False while it is unfinished. */
bool check_is(const struct measurement *m, const char *check);

bool all_done(const struct run *run);

/* Does this process write a row for it? */
bool row_wanted(const struct measurement *m);

/* Notes the time of `auto`, in a group of one device beside teams. */
void note_reference(struct run *run);

/* The times of memcpy with as many threads; all 0: not measured. */
struct statistics memcpy_statistics(const struct run *run, const struct measurement *m);
