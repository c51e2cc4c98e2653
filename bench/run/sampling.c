#include "sampling.h"

#include "../summarize.h"
#include "../../timing/clock.h"

#include <math.h>

enum {
    TURN_MS = 50,           /* about how long one algorithm keeps the device */
    LAUNCH_SAMPLES = 21,    /* of each launch by itself; fewer where they take long */
    THROTTLE_CHECK_MS = 20, /* between two looks at whether the GPU is throttled */
    EMULATOR_SAMPLES = 3,   /* its times say nothing of a GPU: a few are enough */
};

struct sampling device_sampling(const struct sampling *asked, const struct backend *backend)
{
    struct sampling sampling = *asked;
    if (backend->simulated && sampling.samples == 0)
        sampling.samples = EMULATOR_SAMPLES;
    return sampling;
}

unsigned turn_samples(const struct group_run *run, const struct measurement *m)
{
    const struct sampling *sampling = &run->sampling;
    const struct statistics *s = &m->statistics;
    /* What a sample costs, putting the caches into their state included. */
    const double cost_ms = s->count > 0 ? m->spent_ms / (double)s->count : TURN_MS;
    double count = TURN_MS / fmax(cost_ms, 1e-6);
    if (sampling->samples == 0 && s->count >= MIN_SAMPLES)
        count = fmin(count, (sampling->max_time_ms - m->spent_ms) / fmax(cost_ms, 1e-6));
    if (run->group->cache == CACHE_HOT && m->queued)
        count = fmin(count, HOLDABLE_LAUNCHES / (double)(m->log.count + 2));
    if (sampling->samples > 0)
        count = fmin(count, (double)sampling->samples - (double)s->count);
    return (unsigned)fmin(fmax(count, 1), MAX_TURN_SAMPLES);
}

unsigned launch_samples(const struct group_run *run, const struct measurement *m)
{
    const struct backend *can = run->session->device->can;
    const struct sampling *sampling = &run->sampling;
    if (can->measure_launches == NULL || m->log.count == 0)
        return 0;
    if (!run->options->kernels)
        return !can->simulated && m->log.count > 1;
    const double fit = sampling->max_time_ms / fmax(m->statistics.median, 1e-6);
    const double count = sampling->samples > 0 ? sampling->samples : fmax(3, fit);
    return (unsigned)fmin(count, LAUNCH_SAMPLES);
}

/* Looks now and then whether the GPU is held below its clocks. If so the samples
 * since the last look are dropped, and taken again while there is time; once it is
 * up they are kept, if there were too few without them, and the row says so. */
static void drop_throttled(const struct group_run *run, struct measurement *m, bool enough)
{
    struct device *device = run->session->device;
    if (m->spent_ms - m->looked_ms < THROTTLE_CHECK_MS && !enough)
        return;
    const size_t count = m->statistics.count;
    m->gpu = device->can->read_state(device);
    m->looked_ms = m->spent_ms;
    if (m->gpu.throttled == 1 && may_drop_samples(&run->sampling, m->trusted, m->spent_ms)) {
        m->throttled_samples += count - m->trusted;
        m->statistics = summarize(m->time_ms, m->trusted);
        m->gpu.throttled = 0; /* nothing of that is left */
    }
    m->trusted = m->statistics.count;
}

/* Sorting all samples at every turn would soon take longer than taking them: until
 * the end is near they are looked at when there are 5 % more. */
static bool time_to_summarize(const struct sampling *sampling, const struct measurement *m,
                              size_t count)
{
    if (sampling->samples > 0)
        return count >= sampling->samples;
    return m->spent_ms >= sampling->max_time_ms || count >= MAX_SAMPLES ||
           (double)count >= 1.05 * (double)m->summarized;
}

bool judge_samples(const struct group_run *run, struct measurement *m, size_t count)
{
    const double start = clock_ms();
    const bool summarized = time_to_summarize(&run->sampling, m, count);
    m->statistics.count = count;
    if (summarized) {
        m->statistics = summarize(m->time_ms, count);
        m->summarized = count;
    }
    m->spent_ms += clock_ms() - start;
    const bool enough = summarized && enough_samples(&run->sampling, &m->statistics, m->spent_ms);
    if (run->session->device->can->read_state == NULL)
        return enough;
    drop_throttled(run, m, enough);
    return enough && enough_samples(&run->sampling, &m->statistics, m->spent_ms);
}
