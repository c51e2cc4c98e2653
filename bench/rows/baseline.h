/* baseline.h: rows beside those of an earlier run. */
#ifndef SCANBENCH_BENCH_ROWS_BASELINE_H
#define SCANBENCH_BENCH_ROWS_BASELINE_H

#include "report.h"

struct baseline;

/* Reads --baseline=FILE. NULL, after one line on stderr, with `code` set. */
struct baseline *open_baseline(const struct output_spec *spec, int *code);

/* Fills baseline_ms, baseline_ratio and change, where the file has a row of the
 * same configuration with a time. The last such row counts, and with it, as the median,
 * those by the same build on the same device, if the file says which those are. */
void compare_with_baseline(struct baseline *baseline, struct row *row);

/* EXIT_OK; EXIT_SLOWER after one line, if a row was slower by more than
 * --fail-slower; EXIT_ERROR after one, if that was asked for and no row could be
 * compared. Frees the baseline, which may be NULL. */
int close_baseline(struct baseline *baseline);

/* The runs of one configuration that a baseline has. */
struct past_runs {
    size_t count;
    double median_ms, min_ms, max_ms;
    double noise_pct; /* the largest of them */
};

/* Is a time further from all of the past ones than noise explains? That is the noise of
 * both, and what runs of one program differ by though each is steady: RUN_TO_RUN_PCT,
 * and as much as the past ones do; of fewer than ENOUGH_RUNS nobody knows how much that
 * is, so then RUN_TO_RUN_MS at least. -1: faster; 1: slower. */
int real_change(double ms, double noise_pct, const struct past_runs *past);

#define RUN_TO_RUN_PCT 2.0
#define RUN_TO_RUN_MS 0.0005 /* the resolution of some GPUs' events */
enum { ENOUGH_RUNS = 5 };

#endif
