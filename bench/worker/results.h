/* results.h: where the rows of a run go, seen by who runs it: to the report of this process or,
 * from a worker, to that of its parent. */
#pragma once

#include "../rows/report.h"
#include "run_state.h"

struct results {
    const struct output_spec *spec;
    struct run_state *state;
    struct report *report; /* of this process; NULL: not open, or the parent's */
    int channel;           /* to the parent; negative: this process is no worker */
    bool failed;           /* the parent could not write */
};

/* Opens the report, once per run. Returns EXIT_OK, or another code after one line on stderr. */
int results_open(struct results *results);

/* As announce_row(), report_row(), end_group_of_rows(), report_trace() and report_failed(). The row
 * that is added is that of an entry of the group, which becomes ENTRY_DONE, or with NO_ENTRY of a
 * launch. */
void results_announce(struct results *results, const struct row *row);
bool results_add(struct results *results, int entry, const struct row *row, const double *time_ms,
                 size_t count);
bool results_end_group(struct results *results);
void results_add_trace(struct results *results, const char *trace, size_t count);
bool results_failed(const struct results *results);

/* As report_had(). */
struct had results_had(struct results *results, const struct row *row);

/* Stores the name of what runs. What this process prints from now on is marked by it, and not what
 * it printed before. */
void mark_output(struct results *results, const char *name);

/* Answers the next request of a worker, whose end of the channel is in a `struct results`. Returns
 * false if the worker has closed it, or if the request makes no sense. */
bool answer_worker(int channel, const struct output_spec *spec, struct report **report,
                   struct run_state *state);
