/* group: measures the entries of one group in turns, and handles failures of the device. */
#include "group.h"

#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../operations.h"
#include "../base/processes.h"
#include "../base/text.h"
#include "format.h"
#include "left_to_do.h"
#include "machine_state.h"
#include "possible_time.h"
#include "progress.h"
#include "run_rows.h"
#include "sampling.h"
#include "show.h"
#include "turn.h"
#include "workspace.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ---- entries that cannot run ---- */

static void skip_for_memory(const struct session *session, struct measurement *m, size_t needed,
                            size_t available)
{
    char need[32], have[32], bound[MEMORY_BOUND_BYTES], reason[sizeof m->reason];
    format_bytes((double)needed, need, sizeof need);
    format_bytes((double)available, have, sizeof have);
    format_memory_bound(session, bound);
    snprintf(reason, sizeof reason, "needs %s of memory, %s free%s", need, have, bound);
    finish_row(m, "skipped", reason);
}

static void skip_if_too_large(const struct run *run, struct measurement *m, size_t scratch)
{
    const size_t needed =
        needed_bytes(run->session, &m->task, run->group->cache, run->options->copies) + scratch -
        m->task.scratch_bytes;
    const size_t available = run->session->device->can->free_memory_bytes(run->session->device);
    if (needed > available)
        skip_for_memory(run->session, m, needed, available);
}

static void skip_if_impossible(const struct run *run, struct measurement *m)
{
    const char *why = why_impossible(run->session, m->entry, &m->task);
    if (why == NULL)
        why = input_unsuited(&run->input);
    if (why == NULL && is_endless(run, m))
        why = "other rows of it did not come to an end";
    if (why != NULL) {
        finish_row(m, "skipped", why);
        return;
    }
    skip_if_too_large(run, m, m->task.scratch_bytes);
}

/* First each entry by itself, then together with the scratch memory that all share: what an
 * algorithm allocates by itself comes on top of that. */
static void skip_impossible(const struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++)
        if (!run->ms[e].done)
            skip_if_impossible(run, &run->ms[e]);
    const size_t shared = shared_scratch_bytes(run);
    for (size_t e = 0; e < run->group->entry_count; e++)
        if (!run->ms[e].done)
            skip_if_too_large(run, &run->ms[e], shared);
}

/* ---- progress ---- */

/* The finished fraction of a row, from 0 to 1. */
static double done_share(const struct sampling *sampling, const struct measurement *m)
{
    if (m->done)
        return 1;
    if (sampling->samples > 0)
        return (double)m->statistics.count / sampling->samples;
    return fmin(m->spent_ms / sampling->max_time_ms, 0.99);
}

/* Appends what tells the data from that of other rows of the run. */
static void append_data(const struct run *run, char *text, size_t size)
{
    const struct options *options = run->options;
    const struct input_spec *input = &run->group->input;
    int shapes = 0;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++)
        shapes += options->inputs[shape];
    if (shapes > 1)
        append_text(text, size, ", %s", input_shape_name(input->shape));
    if (options->max_count > 1)
        append_text(text, size, ", max %s", input->max_text);
    if (options->segments_count > 1 && operation_has(run->group->op, HAS_SEGMENTS))
        append_text(text, size, ", segments %s", input->segments_text);
    if (options->keep_count > 1 && operation_has(run->group->op, HAS_KEEP))
        append_text(text, size, ", keep %s", input->keep_text);
}

/* The only GPU of the run needs no number. */
static void name_device(const struct run *run, char *text, size_t size)
{
    const struct device_choice device = run->group->device;
    int last = 0;
    for (size_t g = 0; g < run->plan->group_count; g++)
        if (run->plan->groups[g].device.index > last)
            last = run->plan->groups[g].device.index;
    if (last == 0)
        snprintf(text, size, "%s", device_kind_name(device.kind));
    else
        format_device(device, text, size);
}

static void tell_progress(const struct run *run, const struct measurement *m)
{
    const struct plan_group *group = run->group;
    char device[16], what[256];
    double done = (double)run->rows_done;
    for (size_t e = 0; e < group->entry_count; e++)
        if (row_wanted(&run->ms[e]))
            done += done_share(&run->options->sampling, &run->ms[e]);
    name_device(run, device, sizeof device);
    snprintf(what, sizeof what, "%s %s, n = %llu, %s, %s", operation_name(group->op),
             m->entry->name, (unsigned long long)group->n, device, cache_state_name(group->cache));
    append_data(run, what, sizeof what);
    show_progress(what, done);
}

/* ---- a device that fails ---- */

/* Sets the buffers of the call. */
static void start_call(const struct run *run, struct measurement *m)
{
    const struct workspace *w = &run->session->workspace;
    m->call = (struct call){
        .problem = m->task.problem,
        .input = w->input.data,
        .output = w->output.data,
        .count = w->count.data,
        .second = w->second.data,
        .input_values = w->input_values.data,
        .output_values = w->output_values.data,
        .scratch = w->scratch.data,
        .scratch_bytes = m->task.scratch_bytes,
        .kept = &m->kept,
    };
}

/* Releases what the algorithms keep on the device between their turns. */
static void release_algorithms(const struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++) {
        struct measurement *m = &run->ms[e];
        if (m->kept != NULL)
            m->task.algorithm->release(&m->call);
        m->kept = NULL;
    }
}

static const char *renew_workspace(const struct run *run)
{
    forget_workspace(run->session);
    const char *why = allocate_workspace(run);
    for (size_t e = 0; e < run->group->entry_count; e++)
        if (!run->ms[e].done)
            start_call(run, &run->ms[e]);
    return why;
}

/* A failure of the device ends the row, once the workspace, with what the row needs of it, can be
 * used again. Sets run->lost if nothing can run any more. */
static void device_failed(struct run *run, struct measurement *m, const char *why)
{
    char reason[sizeof m->reason - sizeof DEVICE_WAS_LOST], full[sizeof m->reason];
    snprintf(reason, sizeof reason, "%s",
             why);           /* `why` is valid only until the device's next call */
    release_algorithms(run); /* before the reset frees it */
    const struct backend *can = run->session->device->can;
    const enum recovery recovery = can->recover(run->session->device);
    m->lost |= recovery != DEVICE_USABLE;
    /* In the emulator the reason says what the kernel did, and no hardware is in doubt. */
    const bool by_kernel = can->simulated && strncmp(reason, "run: ", strlen("run: ")) == 0;
    snprintf(full, sizeof full, "%s%s", m->lost && !by_kernel ? DEVICE_WAS_LOST : "", reason);
    const char *none = NULL;
    if (recovery == DEVICE_RESET)
        none = renew_workspace(run);
    else
        run->lost = recovery == DEVICE_LOST || restore_workspace(run) != NULL;
    if (!m->done && !interrupted()) /* a wrong result takes precedence */
        finish_row(m, "error", full);
    if (none != NULL)
        fail_rows_left(run, none);
}

/* ---- an algorithm that does not return ---- */

/* Called by another thread, after an interruption. */
static void end_within_algorithm(void *context)
{
    struct run *run = context;
    hide_progress();
    write_group(run);
    results_end_group(run->results);
    unlock_gpus(run->clocks);
    run->state->result = EXIT_INTERRUPTED;
    run->state->finished = true;
    _exit(EXIT_OK);
}

static bool is_own(const struct measurement *m)
{
    return m->task.algorithm->family == FAMILY_USER;
}

/* How long an algorithm may take for its first calls or a turn; 0: as long as it likes. Ours end. A
 * turn has about ten calls, and one of the user's in the emulator may take seconds for 2^20
 * elements. */
static double time_limit_ms(const struct run *run, const struct measurement *m)
{
    static const double LEAST_MS = 60000, ROWS = 20;
    const double whole = run->session->device->can->simulated ? 1 << 20 : 1 << 28;
    if (run->options->timeout_ms > 0 || !is_own(m))
        return run->options->timeout_ms;
    return fmax(LEAST_MS, ROWS * run->options->sampling.max_time_ms) *
           fmax(1, (double)run->group->n / whole);
}

/* Tells the parent what runs. What the user's code did to memory may also show later, while
 * another algorithm runs. */
static void note_start(struct run *run, const struct measurement *m)
{
    struct run_state *state = run->state;
    mark_output(run->results, m->entry->name); /* fails if the entry before closed descriptors */
    state->running = (int)(m - run->ms);
    if (is_own(m) || state->suspect == NO_ENTRY || !is_own(&run->ms[state->suspect]))
        state->suspect = state->running;
    state->inside = true;
    set_limit(state, time_limit_ms(run, m));
}

static void note_end(struct run_state *state)
{
    state->end_ms = 0; /* limit_ms stays, for the end of the process */
    state->inside = false;
}

/* Several processes would wait for each other. */
static const char *run_algorithm(struct run *run, struct measurement *m,
                                 const char *(*function)(struct run *run, struct measurement *m))
{
    if (processes.count > 1)
        return function(run, m);
    note_start(run, m);
    enter_algorithm(end_within_algorithm, run);
    const char *why = function(run, m);
    leave_algorithm();
    note_end(run->state);
    return why;
}

/* ---- measuring ---- */

static bool stopped(const struct run *run)
{
    return run->lost || !all_processes(!interrupted());
}

static void show_if_asked(const struct run *run, const struct measurement *m)
{
    if (run->options->show == 0 || !row_wanted(m))
        return;
    hide_progress();
    show_result(run->session, &m->call.problem, m->entry->name, m->written, run->options->show);
}

static void warm_up_all(struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count && !stopped(run); e++) {
        struct measurement *m = &run->ms[e];
        if (m->done)
            continue;
        tell_progress(run, m);
        start_call(run, m);
        const char *why = run_algorithm(run, m, warm_up);
        if (why != NULL)
            device_failed(run, m, why);
        else
            show_if_asked(run, m);
        if (!run->options->check.wanted || stopped(run))
            continue;
        why = run_algorithm(run, m, check_for_races);
        if (why != NULL)
            device_failed(run, m, why);
    }
}

static void take_turns(struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count && !stopped(run); e++) {
        struct measurement *m = &run->ms[e];
        if (m->done)
            continue;
        tell_progress(run, m);
        const char *why = run_algorithm(run, m, take_turn);
        if (why != NULL)
            device_failed(run, m, why);
    }
}

/* Warm-ups first, then turns in round-robin order, so that drift of the machine affects all
 * entries alike. */
static void measure_entries(struct run *run)
{
    struct speed_limits limits = {NAN, NAN, NAN, SIZE_MAX};
    warm_up_all(run);
    if (!stopped(run))
        limits = find_speed_limits(run->session, run->group);
    while (!stopped(run) && !all_done(run))
        take_turns(run);
    doubt_times(run, &limits);
}

/* The memory that was free could not be allocated. */
static void allocation_failed(struct run *run, const char *why)
{
    fail_rows_left(run, why);
    const enum recovery recovery = run->session->device->can->recover(run->session->device);
    run->lost = recovery == DEVICE_LOST;
    if (recovery == DEVICE_RESET)
        forget_workspace(run->session);
}

static void measure_group(struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++)
        run->ms[e].task = make_task(run->session, run->group, run->ms[e].entry);
    skip_impossible(run);
    if (all_done(run))
        return;
    const char *why = allocate_workspace(run);
    if (why != NULL)
        allocation_failed(run, why);
    else
        measure_entries(run);
    release_workspace(run->session);
    release_algorithms(run);
}

/* --counts: why its columns stay empty, as far as is known before. */
static void tell_if_not_counted(const struct run *run)
{
    const struct backend *can = run->session->device->can;
    const enum counting counts = run->options->counts;
    if (counts == COUNTS_NOTHING || !can->has_blocks)
        return;
    if (can->count == NULL) {
        hide_progress();
        complain("--counts: this build does not count; it has sanitizers, or its compiler lacks "
                 "-fsanitize=thread");
    } else if (counts == COUNTS_BY_LINE && can->count_lines == NULL) {
        hide_progress();
        complain("--counts=lines: only the emulator tells lines apart (--device=emulator)");
    }
}

/* --trace: why its page has no run. */
static void tell_if_not_traced(const struct run *run)
{
    if (run->options->output.trace_path == NULL || run->session->device->can->trace != NULL)
        return;
    hide_progress();
    complain("--trace: this build does not trace; it has sanitizers, or its compiler lacks "
             "-fsanitize=thread");
}

/* Before the first measurement on a kind of device. */
static void tell_of_disturbances(struct run *run)
{
    char text[DISTURBANCE_BYTES];
    bool *told = &run->state->told_of[run->group->device.kind];
    if (*told || run->options->quiet)
        return;
    *told = true;
    tell_if_not_counted(run);
    tell_if_not_traced(run);
    find_disturbances("", run->session, run->options->lock_clocks, text);
    if (text[0] != '\0') {
        hide_progress();
        complain("times may vary: %s", text);
    }
}

/* Is it a row to count that did not pass? */
static bool misses(const struct measurement *m)
{
    return m->entry->printed && (m->had || m->done) &&
           !(m->had ? m->had_passed : check_is(m, "passed"));
}

static void note_miss(struct run *run, const struct measurement *m)
{
    if (run->missed++ == 0)
        snprintf(run->first_missed, sizeof run->first_missed, "%s %s, n = %llu: %s%s%s",
                 operation_name(run->group->op), m->entry->name, (unsigned long long)run->group->n,
                 m->had || m->check == NULL ? "skipped" : m->check,
                 m->reason[0] != '\0' ? ", " : "", m->reason);
}

int run_group(struct run *run)
{
    start_measurements(run);
    run->sampling = device_sampling(run->options, backend_of(run->group->device.kind));
    const char *why = open_session(run->session, run->group->device, run->options);
    const bool any_left = skip_rows_there(run);
    if (why != NULL)
        fail_rows_left(run, why);
    else if (any_left) {
        tell_of_disturbances(run);
        measure_group(run);
    }
    if (run->group->reference)
        note_reference(run);
    hide_progress();
    int code = write_group(run);
    results_end_group(run->results);
    if (run->lost)
        note_entries(run);
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        run->rows_done += row_wanted(m);
        if (misses(m))
            note_miss(run, m);
        note_endless_row(run, m);
        code = worse_exit_code(code, m->left_alone ? EXIT_ERROR : EXIT_OK);
        code = worse_exit_code(code, m->had_failed ? EXIT_WRONG_ANSWER : EXIT_OK);
    }
    free_measurements(run);
    return code;
}
