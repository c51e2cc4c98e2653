/* statistics: median, quartiles and noise of sorted times, and the rule when to stop. */
#include "statistics.h"

#include <math.h>

double median_noise_pct(const double *sorted, size_t count)
{
    if (count < 2)
        return 0;
    const double half = (double)count / 2, reach = 0.98 * sqrt((double)count);
    size_t low = 0, high = count - 1;
    if (count >= 6) {
        low = (size_t)fmax(0, floor(half - reach));
        high = (size_t)fmin((double)count - 1, ceil(half + reach));
    }
    const double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    return median > 0 ? 100 * (sorted[high] - sorted[low]) / 2 / median : 0;
}

static double quantile(const double *sorted, size_t count, double fraction)
{
    const double place = fraction * (double)(count - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

struct statistics summarize_sorted(const double *sorted, size_t count)
{
    struct statistics s = {.count = count};
    if (count == 0)
        return s;
    s.min = sorted[0];
    s.max = sorted[count - 1];
    s.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    s.q1 = quantile(sorted, count, 0.25);
    s.q3 = quantile(sorted, count, 0.75);
    s.noise_pct = median_noise_pct(sorted, count);
    for (size_t i = 0; i < count; i++)
        s.mean += sorted[i] / (double)count;
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (sorted[i] - s.mean) * (sorted[i] - s.mean);
    s.stddev = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    return s;
}

int enough_samples(const struct sampling *sampling, const struct statistics *statistics,
                   double spent_ms)
{
    if (sampling->samples > 0)
        return statistics->count >= sampling->samples;
    if (statistics->count < MIN_SAMPLES)
        return 0;
    if (spent_ms >= sampling->max_time_ms || statistics->count >= MAX_SAMPLES)
        return 1;
    if (spent_ms < MIN_SPAN_MS)
        return 0;
    const double measured_ms = statistics->mean * (double)statistics->count;
    return statistics->noise_pct <= sampling->max_noise_pct && measured_ms >= sampling->min_time_ms;
}

int may_drop_samples(const struct sampling *sampling, size_t left, double spent_ms)
{
    if (spent_ms < sampling->max_time_ms)
        return 1;
    return sampling->samples == 0 && left >= MIN_SAMPLES;
}
