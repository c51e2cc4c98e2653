/* baseline.h: rows beside those of an earlier run. */
#ifndef SCANBENCH_BENCH_BASELINE_H
#define SCANBENCH_BENCH_BASELINE_H

#include "report.h"

struct baseline;

/* Reads --baseline=FILE. NULL, after one line on stderr, with `code` set. */
struct baseline *open_baseline(const struct options *options, int *code);

/* Fills baseline_ms, baseline_ratio and change, where the file has a row of the
 * same configuration with a time. */
void compare_with_baseline(struct baseline *baseline, struct row *row);

/* EXIT_OK; EXIT_SLOWER after one line, if a row was slower by more than
 * --fail-slower; EXIT_ERROR after one, if that was asked for and no row could be
 * compared. Frees the baseline, which may be NULL. */
int close_baseline(struct baseline *baseline);

/* Is a change from one time to the other more than their noise explains? The sum
 * of both, and what two runs of one program differ by though each is steady:
 * RUN_TO_RUN_PCT, or the resolution of a GPU's events. -1: faster; 1: slower. */
int real_change(double ms, double noise_pct, double baseline_ms, double baseline_noise_pct);

#define RUN_TO_RUN_PCT 2.0
#define EVENT_RESOLUTION_MS 0.0005

#endif
