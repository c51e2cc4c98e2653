/* summarize: statistics of an unsorted array. */
#include "summarize.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct statistics summarize(const double *values, size_t count)
{
    if (count == 0)
        return summarize_sorted(NULL, 0);
    double *sorted = allocate_or_die(NULL, count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    const struct statistics statistics = summarize_sorted(sorted, count);
    free(sorted);
    return statistics;
}
