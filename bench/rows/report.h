/* report.h: rows, and how they are written.
 *
 * The last step of the way. One table of columns says each one's name, kind and
 * meaning; CSV, JSON, --list-columns and the documentation all come from it. */
#ifndef SCANBENCH_BENCH_ROWS_REPORT_H
#define SCANBENCH_BENCH_ROWS_REPORT_H

#include "output_spec.h"
#include "row.h"

struct report;

/* Checks --columns, reads --baseline and opens --output; the header is written at
 * once. Returns NULL and sets `code`, after one line on stderr. */
struct report *open_report(const struct output_spec *spec, int *code);

/* Does the file to resume have the row, of these axes, data and build; with --kernels
 * its launches; with --samples-file its samples? */
bool report_has_row(const struct report *report, const struct row *row);

/* How the reason of a row begins whose run took the device with it. */
#define DEVICE_WAS_LOST "the device was lost: "

/* How many times did the row lose the device, according to the file being resumed? */
unsigned report_lost_count(const struct report *report, const struct row *row);

/* Writes one row, beside the baseline's, and to --samples-file before it a line for
 * each of its `count` samples. Nothing of it is left in a buffer. False if that failed:
 * see close_report(). */
bool report_row(struct report *report, const struct row *row, const double *time_ms, size_t count);

/* How many rows were written, by the processes before, too. */
size_t report_rows(const struct report *report);

/* Before another program goes on in this process: its files stay open and locked. */
void keep_report_open(const struct report *report);

/* Could something not be written? Then no row will be any more, so that none is torn
 * in the middle of the file; close_report() says why. */
bool report_failed(const struct report *report);

/* Returns EXIT_OK; or EXIT_ERROR after one line if anything could not be written: a
 * full disk, a closed pipe, a file that is no longer what it was; EXIT_INTERRUPTED if a
 * signal ended a write that waited; or what the baseline says (see baseline.h). */
int close_report(struct report *report);

#endif
