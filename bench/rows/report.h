/* report.h: where the rows of a run go: a file, the table for people, the file of samples, the page
 * of traces.
 *
 * The last stage of a run. A format is a file of its own (format.h). */
#pragma once

#include "output_spec.h"
#include "resume.h"

struct report;

/* Checks --columns, reads --baseline, opens --output and writes the header. On failure sets
 * `code` and returns NULL, after one line on stderr. */
struct report *open_report(const struct output_spec *spec, int *code);

/* What the file of --resume has of a row. */
struct had {
    bool all;            /* with all of its launches and samples */
    bool passed, failed; /* and what its check was */
    unsigned lost;       /* how many rows say that it lost the device */
    char reason[256];
};

/* Looks a row up. One that need not be measured again is compared with the baseline, once. */
struct had report_had(struct report *report, const struct row *row);

/* Announces a row to come, with its axes: the table has a column for each that varies. */
void announce_row(struct report *report, const struct row *row);

/* Writes one row, compared with the baseline. Before it, a line for each of its `count` samples
 * goes to --samples-file. Nothing stays in a buffer. Returns false on failure; close_report()
 * then says why. */
bool report_row(struct report *report, const struct row *row, const double *time_ms, size_t count);

/* Adds a run to the page of --trace: a JSON object. */
void report_trace(struct report *report, const char *trace, size_t count);

/* Writes the rows of the table since the last call, and marks the fastest. Returns false as
 * report_row() does. */
bool end_group_of_rows(struct report *report);

/* Has a write failed? After that no more rows are written, so that none is torn in the middle
 * of the file; close_report() says why. */
bool report_failed(const struct report *report);

/* Returns EXIT_OK; EXIT_ERROR, after one line, if a write failed: a full disk, a closed pipe, a
 * file that another program changed; EXIT_INTERRUPTED if a signal ended a blocked write; or the
 * baseline's code (see baseline.h). */
int close_report(struct report *report);

/* Says that the run was interrupted. */
void tell_how_to_go_on(const struct output_spec *output);
