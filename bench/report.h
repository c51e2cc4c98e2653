/* report.h: rows, and how they are written.
 *
 * The last step of the way. One table of columns says each one's name, kind and
 * meaning; CSV, JSON, --list-columns and the documentation all come from it. */
#ifndef SCANBENCH_BENCH_REPORT_H
#define SCANBENCH_BENCH_REPORT_H

#include "options.h"

/* One row. Text: NULL or "" is empty. Number: NAN is empty. Count: a negative
 * one is empty. */
struct row {
    const char *op, *algo, *kernel, *type, *kind;
    int64_t n;
    const char *pot;
    int64_t block, threads;
    const char *device, *device_name, *cache, *input, *max, *keep, *seed;
    int64_t samples;
    double time_ms, time_min_ms, time_max_ms, time_mean_ms, time_stddev_ms, noise_pct, wall_ms;
    double copies_ms, h2d_ms, d2h_ms, first_call_ms;
    const char *queued;
    double gelem_s, gb_s, memcpy_pct, peak_pct;
    int64_t scratch_bytes, launches;
    double occupancy_pct;
    const char *check, *reason;
    double sm_clock_mhz, temperature_c;
    const char *throttled;
    const char *version, *commit, *compiler, *cuda, *driver, *host, *date, *label, *simd;
    int64_t launch, grid, launch_block, static_shared_bytes, dynamic_shared_bytes, registers;
    double share_pct;
    const char *host_memory;
    double baseline_ms, baseline_ratio;
    const char *change;
    double time_q1_ms, time_q3_ms;
    int64_t throttled_samples;
    double energy_mj;
    const char *chose;
    int64_t bytes;
};

/* A row with every column empty. */
struct row empty_row(void);

/* The row's axes and environment, and nothing measured. */
struct row row_without_measures(const struct row *row);

struct report;

/* Checks --columns, reads --baseline and opens --output; the header is written at
 * once. Returns NULL and sets `code`, after one line on stderr. */
struct report *open_report(const struct options *options, int *code);

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

/* --list-columns: name, unit and meaning of each column, a line each. */
void print_columns(FILE *out);

#endif
