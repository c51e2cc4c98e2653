/* team_measure: runs algorithms on the members of a team, and times them together. */
#include "team.h"

#include "../../timing/clock.h"
#include "../base/errors.h"
#include "../base/processes.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>

static const struct member_functions *functions_of(const struct team_device *team, unsigned m)
{
    return team->member[m]->can->as_member;
}

static void *part_of(const void *array, unsigned m)
{
    return array != NULL ? ((struct slices *)array)->of[m].data : NULL;
}

/* Makes each member's call from that of the whole. */
static void make_calls(struct team_device *team, const struct trial *trial)
{
    const struct call *whole = trial->call;
    const struct algorithm *algorithm = trial->algorithm;
    struct team *t = &team->team;
    t->engine = algorithm->engine;
    t->mark = NULL;
    for (unsigned m = 0; m < t->here; m++) {
        struct call *call = &team->call[m];
        *call = *whole;
        call->problem.n = slice_start(whole->problem.n, t->size, t->first + m + 1) -
                          slice_start(whole->problem.n, t->size, t->first + m);
        call->input = part_of(whole->input, m);
        call->output = part_of(whole->output, m);
        call->count = part_of(whole->count, m);
        call->input_values = part_of(whole->input_values, m);
        call->output_values = part_of(whole->output_values, m);
        call->scratch = part_of(whole->scratch, m);
        call->kept = &team->kept[m];
        functions_of(team, m)->attach(team->member[m], call, NULL);
    }
    if (algorithm->engine != NULL) {
        struct problem problem = whole->problem;
        problem.n = longest_slice(problem.n, t->size);
        t->engine_place = next_place(algorithm->scratch_bytes(&problem));
    }
}

static const char *finish_all(struct team_device *team)
{
    const char *why = NULL;
    for (unsigned m = 0; m < team->team.here; m++) {
        const char *its_own = functions_of(team, m)->finish(team->member[m]);
        if (its_own != NULL && why == NULL)
            why = failure_of(team, m, its_own);
    }
    return agree_on(team, why);
}

static const char *poison_scratch(struct team_device *team)
{
    const char *why = NULL;
    struct buffer scratch;
    for (unsigned m = 0; m < team->team.here && why == NULL; m++) {
        struct device *member = team->member[m];
        scratch =
            (struct buffer){.data = team->call[m].scratch, .bytes = team->call[m].scratch_bytes};
        if (scratch.data != NULL)
            why = member->can->poison(member, &scratch);
    }
    return agree_on(team, why);
}

/* No member may store in another's scratch before that is set up. */
static const char *prepare(struct team_device *team, const struct trial *trial)
{
    make_calls(team, trial);
    trial->call->epoch = 0;
    const char *why = poison_scratch(team);
    for (unsigned m = 0; m < team->team.here && trial->algorithm->prepare != NULL; m++)
        functions_of(team, m)->apply(team->member[m], trial->algorithm->prepare, &team->call[m]);
    if (team->team.engine != NULL && team->team.engine->prepare != NULL)
        team->team.engine->prepare(&team->team);
    const char *unfinished = finish_all(team);
    return why != NULL ? why : unfinished;
}

static void run(struct team_device *team, const struct trial *trial)
{
    trial->call->epoch++;
    for (unsigned m = 0; m < team->team.here; m++)
        team->call[m].epoch = trial->call->epoch;
    if (trial->algorithm->run_slices != NULL)
        trial->algorithm->run_slices(&team->team);
    for (unsigned m = 0; m < team->team.here && trial->algorithm->run != NULL; m++)
        functions_of(team, m)->apply(team->member[m], trial->algorithm->run, &team->call[m]);
}

static void mark_all(const struct team *t)
{
    struct team_device *team = t->harness;
    if (++team->marked > MOST_MARKS)
        BUG("more than %d marks in a run", MOST_MARKS);
    for (unsigned m = 0; m < t->here; m++)
        functions_of(team, m)->mark(team->member[m]);
}

/* One run between two marks, from a common start. If its work can be queued, every device is held
 * until all have all of theirs, and the processes meet before they let go. Otherwise they meet
 * before they begin. */
static const char *run_marked(struct team_device *team, const struct trial *trial)
{
    const bool held = trial->queued && team->can.hides_latency;
    const char *why = NULL;
    team->marked = 0;
    for (unsigned m = 0; m < team->team.here; m++) {
        struct trial its_own = *trial;
        its_own.call = &team->call[m];
        functions_of(team, m)->get_ready(team->member[m], &its_own);
    }
    if (!held) {
        why = finish_all(team);
        meet_processes();
    }
    if (why != NULL)
        return why;
    team->began_ms = clock_ms();
    mark_all(&team->team);
    run(team, trial);
    mark_all(&team->team);
    if (held)
        meet_processes();
    for (unsigned m = 0; m < team->team.here && held; m++)
        functions_of(team, m)->let_go(team->member[m]);
    return finish_all(team);
}

/* What one member did in a run. */
struct member_time {
    double whole_ms, exchange_ms;
};

static const char *read_marks(struct team_device *team, unsigned m, struct member_time *time)
{
    const struct member_functions *can = functions_of(team, m);
    double ms = 0;
    const char *why = can->marked_ms(team->member[m], 0, team->marked - 1, &time->whole_ms);
    time->exchange_ms = 0;
    for (unsigned mark = 1; mark + 2 < team->marked && why == NULL; mark += 2) {
        why = can->marked_ms(team->member[m], mark, mark + 1, &ms);
        time->exchange_ms += ms;
    }
    return why;
}

/* Combines the times of all members, in all processes. */
static const char *read_times(struct team_device *team, struct team_times *times)
{
    const struct team *t = &team->team;
    struct member_time mine[MOST_MEMBERS] = {{0}};
    const char *why = NULL;
    double work_ms = 0, longest_ms = 0;
    for (unsigned m = 0; m < t->here && why == NULL; m++)
        why = read_marks(team, m, &mine[m]);
    why = agree_on(team, why);
    struct member_time *all = gathered(mine, t->here * sizeof *mine);
    *times = (struct team_times){0};
    for (unsigned k = 0; k < t->size; k++) {
        const double work = all[k].whole_ms - all[k].exchange_ms;
        if (all[k].whole_ms > times->whole_ms)
            times->whole_ms = all[k].whole_ms;
        if (all[k].exchange_ms > times->exchange_ms)
            times->exchange_ms = all[k].exchange_ms;
        longest_ms = work > longest_ms ? work : longest_ms;
        work_ms += work;
    }
    if (team->marked == 2)
        times->exchange_ms = NAN;
    if (work_ms > 0)
        times->imbalance_pct = 100 * (longest_ms / (work_ms / t->size) - 1);
    free(all);
    return why;
}

const char *team_first_call(struct device *device, const struct trial *trial,
                            struct launch_log *log, double *wall_ms)
{
    struct team_device *team = team_of(device);
    log->count = 0;
    const char *why = prepare(team, trial);
    if (why != NULL)
        return why;
    functions_of(team, 0)->attach(team->member[0], &team->call[0], log);
    const double start = clock_ms();
    run(team, trial);
    why = finish_all(team);
    *wall_ms = clock_ms() - start;
    functions_of(team, 0)->attach(team->member[0], &team->call[0], NULL);
    return why;
}

const char *team_run_again(struct device *device, const struct trial *trial)
{
    struct team_device *team = team_of(device);
    make_calls(team, trial);
    run(team, trial);
    return finish_all(team);
}

const char *team_run_many(struct device *device, const struct trial *trial, unsigned count)
{
    struct team_device *team = team_of(device);
    const char *why = prepare(team, trial);
    for (unsigned i = 0; i < count && why == NULL; i++)
        run(team, trial);
    return why == NULL ? finish_all(team) : why;
}

const char *team_prepare(struct device *device, const struct trial *trial)
{
    return prepare(team_of(device), trial);
}

/* What all members see, in all processes, added up: equal sums stand for equal looks. */
static void add_look(struct look *sum, const struct look *seen, unsigned member)
{
    for (unsigned k = 0; k < LOOK_PLACES; k++) {
        sum->element[k] += random_bits(member, seen->element[k]);
        sum->value[k] += random_bits(member, seen->value[k]);
    }
    sum->count += seen->count;
    sum->whole += random_bits(member, seen->whole);
}

const char *team_look(struct device *device, const struct trial *trial, bool whole,
                      struct look *look)
{
    struct team_device *team = team_of(device);
    const struct team *t = &team->team;
    struct look mine = {0}, seen;
    struct trial its_own = *trial;
    const char *why = NULL;
    for (unsigned m = 0; m < t->here && why == NULL; m++) {
        its_own.call = &team->call[m];
        why = team->member[m]->can->look(team->member[m], &its_own, whole, &seen);
        add_look(&mine, &seen, t->first + m);
    }
    why = agree_on(team, why);
    struct look *all = gathered(&mine, sizeof mine);
    *look = (struct look){0};
    for (unsigned p = 0; p < processes.count; p++)
        add_look(look, &all[p], p);
    free(all);
    return why;
}

const char *team_measure(struct device *device, const struct trial *trial, double *time_ms,
                         struct look *looks, unsigned count)
{
    struct team_device *team = team_of(device);
    struct team_times times = {0};
    const char *why = NULL;
    make_calls(team, trial);
    if (trial->cache == CACHE_HOT) {
        run(team, trial);
        why = finish_all(team);
    }
    for (unsigned i = 0; i < count && why == NULL; i++) {
        why = run_marked(team, trial);
        if (why == NULL)
            why = read_times(team, &times);
        time_ms[i] = times.whole_ms;
        if (why == NULL)
            why = team_look(device, trial, trial->cache != CACHE_HOT, &looks[i]);
    }
    return why;
}

const char *team_measure_wall(struct device *device, const struct trial *trial, double *wall_ms)
{
    struct team_device *team = team_of(device);
    struct trial unheld = *trial;
    unheld.queued = false;
    const char *why = prepare(team, trial);
    if (why == NULL)
        why = run_marked(team, &unheld);
    *wall_ms = clock_ms() - team->began_ms;
    return why;
}

const char *team_measure_exchange(struct device *device, const struct trial *trial,
                                  struct team_times *times)
{
    struct team_device *team = team_of(device);
    const char *why = prepare(team, trial);
    team->team.mark = mark_all;
    if (why == NULL)
        why = run_marked(team, trial);
    if (why == NULL)
        why = read_times(team, times);
    return why;
}
