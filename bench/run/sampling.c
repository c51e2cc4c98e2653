/* sampling: decides how many samples a row takes, and when to stop. */
#include "sampling.h"

#include "../base/summarize.h"
#include "../../timing/clock.h"

#include <math.h>

enum {
    TURN_MS = 50,           /* approximate length of a turn, longer if its checks are */
    LAUNCH_SAMPLES = 21,    /* of each single launch; fewer if they take long */
    THROTTLE_CHECK_MS = 20, /* between two checks whether the GPU is throttled */
    EMULATOR_SAMPLES = 3,   /* its times mean nothing for a GPU, so a few are enough */
};

struct sampling device_sampling(const struct options *options, const struct backend *backend)
{
    struct sampling sampling = options->sampling;
    if (sampling.samples == 0 && backend->simulated)
        sampling.samples = EMULATOR_SAMPLES;
    else if (sampling.samples == 0)
        sampling.samples = options->check.samples;
    return sampling;
}

unsigned turn_samples(const struct run *run, const struct measurement *m)
{
    const struct sampling *sampling = &run->sampling;
    const struct statistics *s = &m->statistics;
    const bool simulated = run->session->device->can->simulated;
    /* The cost of a sample, including the preparation of the caches. */
    const double first_ms = simulated ? 0 : TURN_MS;
    const double cost_ms = s->count > 0 ? m->spent_ms / (double)s->count : first_ms;
    double count = fmax(TURN_MS, m->check_ms) / fmax(cost_ms, 1e-6);
    if (sampling->samples == 0 && s->count >= MIN_SAMPLES)
        count = fmin(count, (sampling->max_time_ms - m->spent_ms) / fmax(cost_ms, 1e-6));
    if (run->group->cache == CACHE_HOT && m->queued)
        count = fmin(count, HOLDABLE_LAUNCHES / (double)(m->log.count + 4));
    if (sampling->samples > 0)
        count = fmin(count, (double)sampling->samples - (double)s->count);
    return (unsigned)fmin(fmax(count, 1), MAX_TURN_SAMPLES);
}

unsigned launch_samples(const struct run *run, const struct measurement *m)
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

/* Checks at intervals whether the GPU is throttled. If so, the samples since the last check are
 * dropped, and taken again while there is time. Once the time is up they are kept if too few
 * remain without them, and the row says so. */
static void drop_throttled(const struct run *run, struct measurement *m, bool enough)
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
        m->gpu.throttled = 0; /* the throttled samples are gone */
    }
    m->trusted = m->statistics.count;
}

/* Sorting all samples in every turn would soon take longer than taking them. Until the end is
 * near, the statistics are renewed after every 5 % more samples. */
static bool time_to_summarize(const struct sampling *sampling, const struct measurement *m,
                              size_t count)
{
    if (sampling->samples > 0)
        return count >= sampling->samples;
    return m->spent_ms >= sampling->max_time_ms || count >= MAX_SAMPLES ||
           (double)count >= 1.05 * (double)m->summarized;
}

bool judge_samples(const struct run *run, struct measurement *m, size_t count)
{
    const double start = clock_ms();
    const bool summarized = time_to_summarize(&run->sampling, m, count);
    m->statistics.count = count;
    if (summarized) {
        m->statistics = summarize(m->time_ms, count);
        m->summarized = count;
    }
    m->spent_ms += ms_since(run->session, start);
    const bool enough = summarized && enough_samples(&run->sampling, &m->statistics, m->spent_ms);
    if (run->session->device->can->read_state == NULL)
        return enough;
    drop_throttled(run, m, enough);
    return enough && enough_samples(&run->sampling, &m->statistics, m->spent_ms);
}
