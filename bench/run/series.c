/* series: takes samples on new data, and compares what each of them left. */
#define _DEFAULT_SOURCE /* getentropy */
#include "series.h"

#include "../../timing/clock.h"
#include "../device/look.h"
#include "../device/random.h"
#include "../device/verify.h"
#include "../base/errors.h"
#include "workspace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct trial trial_of(const struct run *run, struct measurement *m)
{
    return (struct trial){
        .algorithm = m->task.algorithm,
        .call = &m->call,
        .cache = run->group->cache,
        .queued = m->queued,
        .scratch = run->options->scratch,
    };
}

/* ---- data ---- */

/* Not from --seed, or an algorithm could foresee it. In a team the same in all processes; a double
 * holds 53 bits. */
static uint64_t unforeseeable(const struct session *session)
{
    uint64_t number;
    if (getentropy(&number, sizeof number) != 0)
        number = random_bits((uint64_t)getpid(), (uint64_t)(clock_ms() * 1e6));
    number >>= 11;
    const struct backend *can = session->device->can;
    return can->agree != NULL ? (uint64_t)can->agree(session->device, (double)number) : number;
}

/* Fills one element anew; in a team, where it is one of somebody's, all of them. */
static const char *fill_element(const struct run *run, uint64_t index)
{
    struct device *device = run->session->device;
    if (device->can->allocate_slices != NULL)
        return fill_data(run->session, &run->input);
    const struct input one = input_slice(&run->input, index, index + 1);
    char *array = run->session->workspace.input.data;
    return device->can->fill_input(device, &one, array + index * element_bytes(run->input.type));
}

static const char *fill_anew(struct run *run)
{
    struct session *session = run->session;
    session->host.stale = true;
    run->input = varied_input(&run->input, unforeseeable(session));
    const char *why = fill_data(session, &run->input);
    return why == NULL ? poison_results(session) : why;
}

/* Whoever knows the old result, but does not read all of the input, is wrong from here on. */
static const char *change_one_element(struct run *run)
{
    struct session *session = run->session;
    const uint64_t before = run->input.nudged;
    session->host.stale = true;
    run->input = nudged_input(&run->input, unforeseeable(session));
    const char *why = NULL;
    if (before > 0)
        why = fill_element(run, before - 1);
    if (why == NULL && run->input.nudged > 0)
        why = fill_element(run, run->input.nudged - 1);
    return why == NULL ? poison_results(session) : why;
}

/* ---- full checks ---- */

/* Calls hand_over(), and fails the row if it does a part of the work. */
static const char *hand_over(const struct session *session, struct measurement *m)
{
    const struct algorithm *algorithm = m->task.algorithm;
    struct device *device = session->device;
    const struct trial trial = {.algorithm = algorithm, .call = &m->call};
    struct look before, after;
    if (view_of(&trial).n <= 1) {
        algorithm->hand_over(&m->call);
        return NULL;
    }
    const char *why = device->can->look(device, &trial, true, &before);
    algorithm->hand_over(&m->call);
    if (why == NULL)
        why = device->can->look(device, &trial, true, &after);
    if (why == NULL && before.whole != after.whole)
        finish_row(m, "failed", "output: changed by hand_over(), which may only copy a count");
    return why;
}

const char *judge_result(const struct session *session, struct measurement *m,
                         const struct input *input, struct verdict *verdict)
{
    const char *why = m->task.algorithm->hand_over != NULL ? hand_over(session, m) : NULL;
    *verdict = (struct verdict){0};
    if (why == NULL && !m->done)
        why = verify(session->device, &m->call.problem, m->task.algorithm->result, input,
                     &session->workspace, verdict);
    if (why == NULL && !m->done && !verdict->passed)
        finish_row(m, "failed", verdict->reason);
    const struct backend *can = session->device->can;
    const char *touched = can->touched != NULL ? can->touched(session->device) : NULL;
    if (why == NULL && !m->done && touched != NULL)
        finish_row(m, "failed", touched);
    return why;
}

const char *check_result(const struct run *run, struct measurement *m)
{
    struct verdict verdict;
    const char *why = judge_result(run->session, m, &run->input, &verdict);
    m->written = verdict.written;
    return why == NULL && m->done ? restore_workspace(run) : why;
}

/* ---- looks ---- */

/* Values of equal keys may be in any order unless the sort is stable, but none is left out. */
static bool same_values(const struct trial *trial, const struct look *got,
                        const struct look *wanted, unsigned k)
{
    const struct problem *problem = &trial->call->problem;
    const uint64_t poison = poison_bits(value_element(problem->values));
    if (problem->stable || trial->algorithm->result == RESULT_COPY)
        return got->value[k] == wanted->value[k];
    return (got->value[k] == poison) == (wanted->value[k] == poison);
}

/* Says where a look differs from that of the sample that was verified. Returns false if it does
 * not. */
static bool differs(const struct run *run, const struct trial *trial, const struct look *got,
                    const struct look *wanted, char *what, size_t size)
{
    const struct view view = view_of(trial);
    const bool in_a_team = run->session->device->can->allocate_slices != NULL;
    char got_text[40], wanted_text[40];
    if (view.n == 0)
        return false;
    for (unsigned k = 0; k < LOOK_PLACES && !in_a_team; k++) {
        const unsigned long long place = look_place(&view, k);
        if (got->element[k] != wanted->element[k]) {
            format_element(view.type, got->element[k], got_text, sizeof got_text);
            format_element(view.type, wanted->element[k], wanted_text, sizeof wanted_text);
            snprintf(what, size, "output[%llu]: got %s, wanted %s", place, got_text, wanted_text);
            return true;
        }
        if (!same_values(trial, got, wanted, k)) {
            snprintf(what, size, "values[%llu]: got %" PRIu64 ", wanted %" PRIu64, place,
                     got->value[k], wanted->value[k]);
            return true;
        }
    }
    if (got->count != wanted->count) {
        snprintf(what, size, "count: got %" PRIu64 ", wanted %" PRIu64, got->count, wanted->count);
        return true;
    }
    snprintf(what, size, "output: not that of the next sample verified in full");
    return got->whole != wanted->whole ||
           (in_a_team && memcmp(got->element, wanted->element, sizeof got->element) != 0);
}

/* Fails the row if a sample left something else than the one that was verified. */
static const char *compare_looks(const struct run *run, struct measurement *m,
                                 const struct trial *trial, const char *which,
                                 const struct look *got, const struct look *wanted)
{
    char what[128], reason[sizeof m->reason];
    if (m->done || !differs(run, trial, got, wanted, what, sizeof what))
        return NULL;
    snprintf(reason, sizeof reason, "%s: %s", which, what);
    finish_row(m, "failed", reason);
    return restore_workspace(run);
}

/* ---- samples ---- */

static void name_data(const struct run *run, struct measurement *m)
{
    const size_t used = strlen(m->reason);
    snprintf(m->reason + used, sizeof m->reason - used, "; data as of --seed=%" PRIu64,
             run->input.seed);
}

/* Takes samples on the same data, the last of which is verified in full. */
static const char *take_series(const struct run *run, struct measurement *m,
                               const struct trial *trial, double *time_ms, unsigned count,
                               struct look *verified)
{
    struct device *device = run->session->device;
    struct look looks[MAX_TURN_SAMPLES];
    const double start = clock_ms();
    const char *why = device->can->measure(device, trial, time_ms, looks, count);
    m->most_calls = m->call.epoch > m->most_calls ? m->call.epoch : m->most_calls;
    m->spent_ms += ms_since(run->session, start);
    if (why == NULL)
        why = check_result(run, m);
    *verified = looks[count - 1];
    for (unsigned i = 0; i + 1 < count && why == NULL; i++) {
        char which[32];
        snprintf(which, sizeof which, "sample %u of %u", i + 1, count);
        why = compare_looks(run, m, trial, which, &looks[i], verified);
    }
    return why;
}

/* On the data of the series before, whose result is known. */
static const char *take_wall_sample(const struct run *run, struct measurement *m,
                                    const struct trial *trial, const struct look *verified)
{
    struct device *device = run->session->device;
    if (!device->can->has_own_time || m->wall_count >= WALL_SAMPLES)
        return NULL;
    const char *why = poison_results(run->session);
    const double start = clock_ms();
    if (why == NULL)
        why = device->can->measure_wall(device, trial, &m->wall_ms[m->wall_count++]);
    m->spent_ms += ms_since(run->session, start);
    struct look look;
    if (why == NULL)
        why = device->can->look(device, trial, verified->whole != 0, &look);
    return why == NULL ? compare_looks(run, m, trial, "sample of wall_ms", &look, verified) : why;
}

const char *take_samples(struct run *run, struct measurement *m, unsigned count)
{
    struct session *session = run->session;
    struct trial trial = trial_of(run, m);
    struct look verified;
    double *time_ms = m->time_ms + m->statistics.count;
    const double start = clock_ms(), spent_before = m->spent_ms;
    const unsigned first = count > 1 ? 1 + (unsigned)(unforeseeable(session) % (count - 1)) : 1;
    trial.places = unforeseeable(session);
    const char *why = cut_scratch(run, m);
    if (why == NULL)
        why = session->device->can->prepare(session->device, &trial);
    if (why == NULL) /* only now, or prepare() could do the work */
        why = fill_anew(run);
    if (why == NULL)
        why = take_series(run, m, &trial, time_ms, first, &verified);
    if (why == NULL && !m->done)
        why = take_wall_sample(run, m, &trial, &verified);
    if (why == NULL && !m->done && first < count)
        why = change_one_element(run);
    if (why == NULL && !m->done && first < count)
        why = take_series(run, m, &trial, time_ms + first, count - first, &verified);
    if (m->done)
        name_data(run, m);
    m->check_ms = ms_since(session, start) - (m->spent_ms - spent_before);
    return why;
}
