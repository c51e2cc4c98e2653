/* results.h: where the rows of a run go, seen by who runs it: to the report of this process or,
 * from a worker, to that of the process that owns the files. */
#pragma once

#include "../rows/report.h"

struct results {
    const struct output_spec *spec;
    struct report *report; /* of this process; NULL: not open, or that of another */
    int line;              /* to the other process; negative: there is none */
    bool failed;           /* a write failed there */
};

/* Opens the report, once per run. Returns EXIT_OK, or another code after one line on stderr. */
int results_open(struct results *results);

/* As announce_row(), report_row(), end_group_of_rows(), report_trace() and report_failed(). */
void results_announce(struct results *results, const struct row *row);
bool results_add(struct results *results, const struct row *row, const double *time_ms,
                 size_t count);
bool results_end_group(struct results *results);
void results_add_trace(struct results *results, const char *trace, size_t count);
bool results_failed(const struct results *results);

/* What the file that is resumed has of a row. */
struct had {
    bool all;      /* with all of its launches and samples */
    bool passed;   /* and its check passed */
    unsigned lost; /* how many rows say that it lost the device */
};
struct had results_had(struct results *results, const struct row *row);

/* From a worker: waits until what was printed so far is read, so that it is marked by who printed
 * it. */
void results_settle_output(const struct results *results);

/* Answers the next call that a worker makes over the line, whose other end is a `struct results`.
 * Returns false if the worker has closed it. */
bool answer_worker(int line, const struct output_spec *spec, struct report **report);
