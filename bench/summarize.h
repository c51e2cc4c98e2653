/* summarize.h: statistics of values as they come. */
#ifndef SCANBENCH_BENCH_SUMMARIZE_H
#define SCANBENCH_BENCH_SUMMARIZE_H

#include "../timing/statistics.h"

/* Statistics of `count` values in any order, which stay as they are; all 0 when there are
 * none. */
struct statistics summarize(const double *values, size_t count);

#endif
