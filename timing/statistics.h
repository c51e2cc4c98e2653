/* statistics.h: what a set of timings says. Pure functions. */
#ifndef SCANBENCH_TIMING_STATISTICS_H
#define SCANBENCH_TIMING_STATISTICS_H

#include <stddef.h>

struct statistics {
    size_t count;
    double median, min, max, mean;
    double q1, q3;    /* quartiles: between two values in proportion (R's type 7) */
    double stddev;    /* of the sample, n-1 below the bar; 0 for one sample */
    double noise_pct; /* how far off the median may be: see median_noise_pct */
};

/* Statistics of `count` values that rise; all 0 when there are none. */
struct statistics summarize_sorted(const double *sorted, size_t count);

/* The uncertainty of the median in percent of it: half the width of the
 * distribution-free 95 % confidence interval, which runs between the order
 * statistics of ranks count/2 -+ 0.98 sqrt(count) (Conover, Practical
 * Nonparametric Statistics, 3.2). `sorted` rises. With fewer than 6 values no
 * interval holds 95 %, and the whole range is taken. 0 for fewer than 2. */
double median_noise_pct(const double *sorted, size_t count);

/* When to stop measuring one row. */
struct sampling {
    unsigned samples;     /* exactly so many; 0: the rules below decide */
    unsigned warmup;      /* untimed runs first, at least 1 */
    double max_noise_pct; /* stop when the noise is below */
    double min_time_ms;   /* but not before this much time was measured */
    double max_time_ms;   /* and at the latest once this much was spent */
};

/* The fewest samples of a row whose number is not given, and over how much time they
 * are spread at least: the samples of a few milliseconds agree with each other, and
 * not with those of the next run, for clocks and neighbours change more slowly. */
enum { MIN_SAMPLES = 11, MAX_SAMPLES = 100000, MIN_SPAN_MS = 100 };

/* May samples be dropped, because the device was held back when they were taken?
 * `left` would be left. Not once the time is up, unless there are enough of those. */
int may_drop_samples(const struct sampling *sampling, size_t left, double spent_ms);

/* Is it time to stop, with these statistics, after `spent_ms` of wall time? */
int enough_samples(const struct sampling *sampling, const struct statistics *statistics,
                   double spent_ms);

#endif
