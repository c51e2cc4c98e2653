/* baseline.h: compares rows with those of an earlier run. */
#pragma once

#include "report.h"

struct baseline;

/* Reads --baseline=FILE. On failure sets `code` and returns NULL, after one line on stderr. */
struct baseline *open_baseline(const struct output_spec *spec, int *code);

/* Fills baseline_ms, baseline_ratio and change if the file has a row of the same configuration
 * with a time. The last such row counts; if the file names builds and devices, baseline_ms is
 * the median of all its rows by the same build on the same device. Of the emulator,
 * counts are compared instead, and close_baseline() says what differs. Returns whether the row is
 * slower than --fail-slower allows. */
bool compare_with_baseline(struct baseline *baseline, struct row *row);

/* What the row measures, and by how much it was slower than the baseline: "scan serial, n = 4096,
 * type=i32, kind=exclusive: 2 ms, 100.0 % slower than 1 ms", with all axes that it has, except
 * those of the default that older files lack. */
void describe_slowdown(const struct row *row, char *text, size_t size);

/* Frees the baseline, which may be NULL. */
void free_baseline(struct baseline *baseline);

/* The same after a run. Returns EXIT_OK; EXIT_SLOWER, after one line, if a row was slower by more
 * than --fail-slower; EXIT_ERROR, after one line, if --fail-slower was given and no row could be
 * compared, or with --strict any row could not. */
int close_baseline(struct baseline *baseline);

/* The runs of one configuration in a baseline. */
struct past_runs {
    size_t count;
    double median_ms, min_ms, max_ms;
    double noise_pct;   /* the largest of the runs */
    double one_run_pct; /* what find_one_run_pct says of the configuration */
};

/* Does a time differ from all past ones by more than noise explains? The allowance is the noise
 * of both, plus the variation between runs of one program, each of which may be steady:
 * RUN_TO_RUN_PCT, and the spread of the past runs. With fewer than ENOUGH_RUNS past runs that
 * spread is unknown, so the allowance is at least RUN_TO_RUN_MS, and for one past run also
 * one_run_pct. Returns -1: faster; 1: slower; 0: neither. */
int real_change(double ms, double noise_pct, const struct past_runs *past);

/* By how many percent processes of one build were seen to differ at this n on this kind of device,
 * by the table one_run.def; the most of all for a device of no kind in it. */
double find_one_run_pct(const char *device, int64_t n);

#define RUN_TO_RUN_PCT 2.0
#define RUN_TO_RUN_MS 0.0005 /* the resolution of some GPUs' events */
enum { ENOUGH_RUNS = 5 };
