/* statistics.h: statistics of a set of times. Pure functions. */
#pragma once

#include <stddef.h>

struct statistics {
    size_t count;
    double median, min, max, mean;
    double q1, q3;    /* quartiles, interpolated between two values (R's type 7) */
    double stddev;    /* of the sample, with n-1 in the denominator; 0 for one sample */
    double noise_pct; /* uncertainty of the median: see median_noise_pct */
};

/* Statistics of `count` values in ascending order; all 0 if there are none. */
struct statistics summarize_sorted(const double *sorted, size_t count);

/* The uncertainty of the median in percent of it: half the width of the distribution-free 95 %
 * confidence interval, which lies between the order statistics of ranks count/2 -+ 0.98
 * sqrt(count) (Conover, Practical Nonparametric Statistics, 3.2). `sorted` is ascending. With
 * fewer than 6 values no such interval reaches 95 %, and the whole range is used. 0 for fewer
 * than 2. */
double median_noise_pct(const double *sorted, size_t count);

/* When to stop measuring one row. */
struct sampling {
    unsigned samples;     /* exact number of samples; 0: the rules below decide */
    unsigned warmup;      /* untimed runs before the first sample, at least 1 */
    double max_noise_pct; /* stop once the noise is below this */
    double min_time_ms;   /* least time to measure before stopping */
    double max_time_ms;   /* stop once this much wall time was spent */
};

/* The fewest samples of a row without --samples, and the least time they are spread over.
 * Samples within a few milliseconds agree with each other but not with those of the next run,
 * since clocks and the load from other users change more slowly. */
enum { MIN_SAMPLES = 11, MAX_SAMPLES = 100000, MIN_SPAN_MS = 100 };

/* May samples be dropped because the device was throttled? `left` is the number that would
 * remain. Once the time is up, only if enough remain. */
int may_drop_samples(const struct sampling *sampling, size_t left, double spent_ms);

/* Do these statistics suffice to stop, after `spent_ms` of wall time? */
int enough_samples(const struct sampling *sampling, const struct statistics *statistics,
                   double spent_ms);
