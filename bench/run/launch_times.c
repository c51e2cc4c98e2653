/* launch_times: times each launch of a run() separately. */
#include "launch_times.h"

#include "../base/summarize.h"
#include "../base/errors.h"

#include <math.h>
#include <stdlib.h>

static unsigned kept_launches(const struct launch_log *log)
{
    return log->count < LAUNCH_LOG_RECORDS ? (unsigned)log->count : LAUNCH_LOG_RECORDS;
}

const char *time_launches(struct device *device, const struct trial *trial,
                          const struct launch_log *log, unsigned samples,
                          struct launch_times *times)
{
    const unsigned launches = kept_launches(log);
    double *run = allocate_or_die(NULL, launches * sizeof *run);
    *times = (struct launch_times){
        .launches = launches,
        .samples = samples,
        .queued = trial->queued && log->count <= HOLDABLE_MARKED_LAUNCHES,
        .time_ms = allocate_or_die(NULL, (size_t)launches * samples * sizeof *times->time_ms),
        .all_ms = allocate_or_die(NULL, samples * sizeof *times->all_ms),
    };
    struct trial held = *trial;
    held.queued = times->queued;
    const char *why = NULL;
    for (unsigned s = 0; s < samples && why == NULL; s++) {
        why = device->can->measure_launches(device, &held, run, launches);
        times->all_ms[s] = 0;
        for (unsigned i = 0; i < launches && why == NULL; i++) {
            times->time_ms[i * samples + s] = run[i];
            times->all_ms[s] += run[i];
        }
    }
    free(run);
    if (why != NULL)
        free_launch_times(times);
    return why;
}

struct statistics launch_statistics(const struct launch_times *times, unsigned launch)
{
    return summarize(times->time_ms + (size_t)launch * times->samples, times->samples);
}

double launch_share_pct(const struct launch_times *times, unsigned launch)
{
    const double *time_ms = times->time_ms + (size_t)launch * times->samples;
    double shares = 0;
    unsigned count = 0;
    for (unsigned s = 0; s < times->samples; s++)
        if (times->all_ms[s] > 0) {
            shares += time_ms[s] / times->all_ms[s];
            count++;
        }
    return count > 0 ? 100 * shares / count : NAN;
}

const struct launch_record *longest_launch(const struct launch_log *log,
                                           const struct launch_times *times)
{
    const struct launch_record *longest = NULL;
    double most = -1;
    for (unsigned i = 0; i < kept_launches(log); i++) {
        const struct launch_record *record = &log->record[i];
        const double weight = i < times->launches ? launch_statistics(times, i).median
                                                  : (double)record->blocks * record->threads;
        if (weight > most) {
            most = weight;
            longest = record;
        }
    }
    return longest;
}

void free_launch_times(struct launch_times *times)
{
    free(times->time_ms);
    free(times->all_ms);
    *times = (struct launch_times){0};
}
