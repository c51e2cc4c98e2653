/* turn: the warm-up of an entry, and its turns of samples. */
#include "turn.h"

#include "../../timing/clock.h"
#include "../device/verify.h"
#include "../base/errors.h"
#include "energy.h"
#include "progress.h"
#include "sampling.h"
#include "send_trace.h"
#include "series.h"
#include "workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGE_SAMPLES = 11, LEAK_CALLS = 3 };

/* Runs once more on other data. Results of earlier runs are still in output and scratch, so up
 * to here an algorithm passes even if it works only on its first call, or takes the results of
 * an earlier call for its own. */
static const char *check_with_other_data(const struct run *run, struct measurement *m)
{
    const struct session *session = run->session;
    struct device *device = session->device;
    const struct trial trial = trial_of(run, m);
    const struct input other = other_input(&run->input);
    struct verdict verdict;
    const char *why = fill_data(session, &other);
    /* First, as many calls as preceded any timed run: an algorithm that works only for a number
     * of calls must be caught too. */
    while (why == NULL && m->call.epoch + 1 < m->most_calls)
        why = device->can->run_again(device, &trial);
    if (why == NULL)
        why = poison_results(session);
    if (why == NULL)
        why = device->can->run_again(device, &trial);
    if (why == NULL)
        why = judge_result(session, m, &other, &verdict);
    if (m->done) {
        char reason[sizeof m->reason];
        snprintf(reason, sizeof reason, "on other data after the last sample: %.200s", m->reason);
        finish_row(m, "failed", reason);
    }
    return why == NULL ? restore_workspace(run) : why;
}

/* --check: an algorithm may keep memory for its next call, but not more with each. */
static const char *check_for_leaks(const struct run *run, struct measurement *m)
{
    struct device *device = run->session->device;
    const struct trial trial = trial_of(run, m);
    char text[96];
    if (!run->options->check.wanted || device->can->allocations == NULL)
        return NULL;
    const size_t before = device->can->allocations(device);
    for (int call = 0; call < LEAK_CALLS; call++) {
        const char *why = device->can->run_again(device, &trial);
        if (why != NULL)
            return why;
    }
    const size_t after = device->can->allocations(device);
    snprintf(text, sizeof text, "memory leak: %d calls left %zu allocations that were never freed",
             LEAK_CALLS, after - before);
    if (after >= before + LEAK_CALLS)
        finish_row(m, "failed", text);
    return NULL;
}

/* --check --strict: code of the user's for a GPU must run there, as the emulator sees; on a GPU its
 * launches are not seen. Of one element nothing need be computed. */
static void check_for_launches(const struct run *run, struct measurement *m)
{
    if (run->options->check.wanted && run->options->strict && m->entry->row->own_file != NULL &&
        run->session->device->can->has_blocks && run->session->device->can->simulated &&
        m->task.problem.n > 1 && m->log.count == 0)
        finish_row(m, "failed", "no kernel was launched");
}

/* Once for all rows in turn that have this reason. */
static void tell_why_not_counted(struct run *run, const char *why_not)
{
    if (why_not == NULL || run->options->quiet || strcmp(run->not_counted, why_not) == 0)
        return;
    snprintf(run->not_counted, sizeof run->not_counted, "%s", why_not);
    hide_progress();
    complain("--counts: %s; the emulator counts (--device=emulator), and where Nsight Compute may, "
             "scripts/profile.sh has it count on a GPU",
             why_not);
}

/* --counts: before the first sample, because samples have data that the seed does not tell. */
static const char *count_if_asked(struct run *run, struct measurement *m)
{
    struct device *device = run->session->device;
    const struct trial trial = trial_of(run, m);
    const char *why_not = NULL;
    if (run->options->counts == COUNTS_NOTHING || device->can->count == NULL || m->log.count == 0)
        return NULL;
    const char *why = poison_results(run->session);
    if (why == NULL)
        why = count_launches(device, &trial, &m->log, run->options->counts == COUNTS_BY_LINE,
                             &m->launch_counts, &why_not);
    tell_why_not_counted(run, why_not);
    return why == NULL ? check_result(run, m) : why;
}

/* --trace: also of a row whose result was wrong. */
static const char *trace_if_asked(const struct run *run, struct measurement *m)
{
    struct device *device = run->session->device;
    const struct trial trial = trial_of(run, m);
    if (run->options->output.trace_path == NULL || device->can->trace == NULL || !m->entry->printed)
        return NULL;
    const char *why = poison_results(run->session);
    if (why == NULL)
        why = send_trace(run, m, &trial);
    if (why != NULL)
        return why;
    return m->done ? restore_workspace(run) : check_result(run, m);
}

const char *warm_up(struct run *run, struct measurement *m)
{
    struct device *device = run->session->device;
    const struct algorithm *algorithm = m->task.algorithm;
    struct trial trial = trial_of(run, m);
    trial.cache = CACHE_HOT;
    const char *why = cut_scratch(run, m);
    if (why == NULL)
        why = poison_results(run->session);
    if (why == NULL)
        why = device->can->first_call(device, &trial, &m->log, &m->first_call_ms);
    if (why == NULL)
        why = check_result(run, m);
    if (why == NULL)
        why = trace_if_asked(run, m);
    double ignored;
    for (unsigned w = 1; w < run->sampling.warmup && why == NULL && !m->done; w++)
        why = device->can->measure_wall(device, &trial, &ignored);
    if (why == NULL && !m->done)
        why = count_if_asked(run, m);
    m->queued = !(algorithm->traits & TRAIT_SYNCHRONISES) && m->log.count <= HOLDABLE_LAUNCHES;
    return why;
}

const char *check_for_races(struct run *run, struct measurement *m)
{
    struct device *device = run->session->device;
    const struct trial trial = trial_of(run, m);
    bool found = false;
    if (device->can->find_races == NULL)
        return NULL;
    const char *why = cut_scratch(run, m);
    if (why == NULL)
        why = device->can->find_races(device, &trial, &found);
    m->done &= !found;
    return why == NULL && m->done ? restore_workspace(run) : why;
}

static int by_whole_ms(const void *a, const void *b)
{
    const double x = ((const struct team_times *)a)->whole_ms;
    const double y = ((const struct team_times *)b)->whole_ms;
    return (x > y) - (x < y);
}

/* Times the exchanges of a few runs, and keeps the times of the median run. */
static const char *measure_exchange(const struct run *run, struct measurement *m)
{
    struct device *device = run->session->device;
    const struct trial trial = trial_of(run, m);
    struct team_times times[EXCHANGE_SAMPLES] = {{0}};
    const char *why = NULL;
    const double start = clock_ms();
    const struct sampling *sampling = &run->sampling;
    const unsigned most = sampling->samples > 0 && sampling->samples < EXCHANGE_SAMPLES
                              ? sampling->samples
                              : EXCHANGE_SAMPLES;
    unsigned count = 0;
    do
        why = device->can->measure_exchange(device, &trial, &times[count++]);
    while (why == NULL && count < most && ms_since(run->session, start) < sampling->max_time_ms);
    qsort(times, count, sizeof *times, by_whole_ms);
    m->team_times = times[count / 2];
    return why;
}

/* Measured once the row's time is steady: its launches, its copies, its energy, its exchanges. What
 * they leave is verified. */
static const char *measure_extras(const struct run *run, struct measurement *m)
{
    struct session *session = run->session;
    struct device *device = session->device;
    const struct trial trial = trial_of(run, m);
    const struct sampling *sampling = &run->sampling;
    const unsigned launch_count = launch_samples(run, m);
    const bool copies = run->options->copies && device->can->measure_copies != NULL;
    const bool energy = run->options->energy && device->can->read_energy_mj != NULL;
    const bool exchange = trial.algorithm->engine != NULL;
    if (launch_count == 0 && !copies && !energy && !exchange)
        return NULL;
    const char *why = poison_results(session);
    if (why == NULL && launch_count > 0)
        why = time_launches(device, &trial, &m->log, launch_count, &m->launch_times);
    if (why == NULL && copies)
        why = time_copies(device, &trial, m->written,
                          sampling->samples > 0 ? sampling->samples : COPY_SAMPLES,
                          sampling->max_time_ms, &session->host, &m->copies);
    if (why == NULL && energy)
        why = measure_energy(device, &trial, m->statistics.median, &m->energy_mj);
    if (why == NULL && exchange)
        why = measure_exchange(run, m);
    return why == NULL ? check_result(run, m) : why;
}

static void reserve_samples(struct measurement *m, size_t count)
{
    if (count <= m->capacity)
        return;
    m->capacity = 2 * m->capacity + MAX_TURN_SAMPLES;
    m->time_ms = allocate_or_die(m->time_ms, m->capacity * sizeof *m->time_ms);
}

const char *take_turn(struct run *run, struct measurement *m)
{
    const unsigned count = turn_samples(run, m);
    const size_t all = m->statistics.count + count;
    reserve_samples(m, all);
    const char *why = take_samples(run, m, count);
    if (why != NULL || m->done || !judge_samples(run, m, all))
        return why;

    why = measure_extras(run, m);
    if (why == NULL && !m->done)
        why = check_with_other_data(run, m);
    if (why == NULL && !m->done)
        why = check_for_leaks(run, m);
    if (why == NULL && !m->done)
        check_for_launches(run, m);
    if (why == NULL && !m->done)
        finish_row(m, "passed", NULL);
    return why;
}
