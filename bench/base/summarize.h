/* summarize.h: statistics of values in any order. */
#pragma once

#include "../../timing/statistics.h"

/* Statistics of `count` values in any order, which are not modified. All 0 if there are none. */
struct statistics summarize(const double *values, size_t count);
