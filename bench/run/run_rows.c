/* run_rows: fills rows from measurements and writes them. */
#include "run_rows.h"

#include "../operations.h"
#include "../base/processes.h"
#include "../base/summarize.h"
#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../rows/columns.h"
#include "format.h"
#include "version.h"

#include <stdio.h>
#include <unistd.h>

static const char *const YES_NO[2] = {"no", "yes"};

/* ---- known before measuring: axes and environment ---- */

static void fill_texts(const struct run *run, struct row_texts *texts)
{
    format_max(&run->group->input, texts->max, sizeof texts->max);
    format_device(run->group->device, texts->device, sizeof texts->device);
    snprintf(texts->seed, sizeof texts->seed, "%llu", (unsigned long long)run->options->seed);
    if (gethostname(texts->host, sizeof texts->host) != 0)
        texts->host[0] = '\0';
    texts->host[sizeof texts->host - 1] = '\0';
}

/* What shares the array; empty for one device by itself, which was asked for without --gpus. */
static void fill_team(struct row *row, const struct run *run, const struct plan_entry *entry)
{
    const struct device_choice device = run->group->device;
    const unsigned members = run->group->reference ? 1 : device.members;
    if (members == 0)
        return;
    if (backend_of(device.kind)->has_blocks)
        row->gpus = (int64_t)members * processes.count;
    row->ranks = processes.count;
    row->nodes = processes.hosts;
    if (entry->row->of_team)
        row->engine = entry->name;
}

static void fill_axes(struct row *row, const struct run *run, const struct plan_entry *entry)
{
    const struct options *options = run->options;
    const struct plan_group *group = run->group;
    const struct backend *can = backend_of(group->device.kind); /* the device may not be open */
    row->op = operation_name(group->op);
    row->algo = entry->name;
    row->type = type_name(group->type);
    row->kind = operation_has(group->op, HAS_KIND) ? kind_name(group->kind) : NULL;
    row->operator= operator_name(group->binary_operator);
    row->segments = operation_has(group->op, HAS_SEGMENTS) ? group->input.segments_text
                                                           : segment_form_name(SEGMENTS_NONE);
    row->n = (int64_t)group->n;
    row->pot = YES_NO[is_power_of_two(group->n)];
    row->block = entry->block > 0 ? (int64_t)entry->block : -1;
    row->threads = can->has_threads ? (int64_t)used_threads(run->session, entry) : -1;
    row->cache = cache_state_name(group->cache);
    row->scratch = scratch_state_name(options->scratch);
    row->input = input_shape_name(group->input.shape);
    row->keep = operation_has(group->op, HAS_KEEP) ? group->input.keep_text : NULL;
    row->values = value_type_name(group->values);
    if (options->copies && can->measure_copies != NULL)
        row->host_memory = options->pinned ? "pinned" : "pageable";
    fill_team(row, run, entry);
    if (entry->algorithm != NULL && entry->algorithm->traits & TRAIT_HAS_SIMD)
        row->simd = simd_path_name(used_simd(run->session, entry));
}

struct row make_row(const struct run *run, const struct plan_entry *entry, struct row_texts *texts)
{
    struct row row = empty_row();
    fill_texts(run, texts);
    fill_axes(&row, run, entry);
    row.device = texts->device;
    row.simulated = backend_of(run->group->device.kind)->simulated;
    row.max = texts->max;
    row.device_name = run->session->info.name;
    row.seed = texts->seed;
    row.version = SCANBENCH_VERSION;
    row.commit = SCANBENCH_COMMIT;
    if (entry->algorithm != NULL && entry->algorithm->library_version != NULL)
        row.library_version = entry->algorithm->library_version();
    row.compiler = SCANBENCH_COMPILER;
    row.cuda = run->session->info.runtime;
    row.driver = run->session->driver;
    row.host = texts->host;
    row.label = run->options->label;
    if (are_clocks_locked(run->clocks, run->group->device))
        row.clocks = "locked";
    return row;
}

/* ---- measured ---- */

static void fill_statistics(struct row *row, const struct statistics *s)
{
    row->samples = (int64_t)s->count;
    row->time_ms = s->median;
    row->time_min_ms = s->min;
    row->time_max_ms = s->max;
    row->time_mean_ms = s->mean;
    row->time_stddev_ms = s->stddev;
    row->noise_pct = s->noise_pct;
    row->time_q1_ms = s->q1;
    row->time_q3_ms = s->q3;
}

static void fill_times(struct row *row, const struct run *run, const struct measurement *m)
{
    fill_statistics(row, &m->statistics);
    row->wall_ms =
        m->wall_count > 0 ? summarize(m->wall_ms, m->wall_count).median : m->statistics.median;
    if (m->copies.count > 0) {
        row->copies_ms = summarize(m->copies.whole_ms, m->copies.count).median;
        row->h2d_ms = summarize(m->copies.h2d_ms, m->copies.count).median;
        row->d2h_ms = summarize(m->copies.d2h_ms, m->copies.count).median;
    }
    row->first_call_ms = m->first_call_ms;
    row->energy_mj = m->energy_mj;
    if (m->gpu.throttled >= 0)
        row->throttled_samples = (int64_t)m->throttled_samples;
    if (run->sampling.samples == 0)
        row->steady = YES_NO[m->statistics.noise_pct <= run->sampling.max_noise_pct];
    if (run->session->device->can->hides_latency)
        row->queued = YES_NO[m->queued];
}

/* Throughput, and its fraction of what the memory can do. */
static void fill_speed(struct row *row, const struct run *run, const struct measurement *m)
{
    const uint64_t n = run->group->n;
    const double time_ms = m->statistics.median;
    const double peak_gb_s = run->session->info.peak_gb_s;
    const struct statistics memcpy_times = memcpy_statistics(run, m);
    if (n == 0 || !(time_ms > 0) || m->task.algorithm->result == RESULT_NOTHING)
        return;
    const double bytes = copies_input(m->task.algorithm)
                             ? copied_bytes(&m->call.problem)
                             : operation_bytes(&m->call.problem, m->written);
    row->bytes = (int64_t)bytes;
    row->gelem_s = (double)n / time_ms / 1e6;
    row->gb_s = bytes / time_ms / 1e6;
    if (memcpy_times.median > 0) {
        row->memcpy_pct = 100 * memcpy_times.median / time_ms;
        row->memcpy_unsteady =
            run->sampling.samples == 0 && !(memcpy_times.noise_pct <= run->sampling.max_noise_pct);
    }
    if (peak_gb_s > 0)
        row->peak_pct = 100 * row->gb_s / peak_gb_s;
}

static void fill_team_times(struct row *row, const struct run *run, const struct measurement *m)
{
    if (m->task.algorithm->engine == NULL)
        return;
    row->exchange_ms = m->team_times.exchange_ms;
    row->imbalance_pct = m->team_times.imbalance_pct;
    const double alone_ms = run->state->reference_ms[run->group->cache];
    row->efficiency_pct = 100 * alone_ms / ((double)row->gpus * m->statistics.median);
}

static void fill_launches(struct row *row, const struct run *run, const struct measurement *m)
{
    /* Launches inside a library are not seen; of a team's, one member's count. */
    const enum family family = m->task.algorithm->family;
    const bool unseen = family == FAMILY_LIBRARY ||
                        (family == FAMILY_USER && !run->session->device->can->simulated);
    if (m->log.count == 0 && unseen)
        return;
    const struct launch_record *longest = longest_launch(&m->log, &m->launch_times);
    row->launches = (int64_t)m->log.count;
    fill_all_counts(row, &m->launch_counts, m->call.problem.n);
    if (longest != NULL)
        row->occupancy_pct = longest->occupancy_pct;
}

/* ---- one row per launch ---- */

/* A launch's row shares the axes and environment of its run. */
static struct row launch_row(const struct row *whole, const struct measurement *m, unsigned launch)
{
    const struct launch_times *times = &m->launch_times;
    const struct launch_record *record = &m->log.record[launch];
    const struct statistics s = launch_statistics(times, launch);
    struct row row = row_without_measures(whole);
    fill_statistics(&row, &s);
    row.kernel = record->kernel;
    row.launch = launch + 1;
    row.grid = (int64_t)record->blocks;
    row.launch_block = record->threads;
    row.static_shared_bytes = (int64_t)record->static_shared_bytes;
    row.dynamic_shared_bytes = (int64_t)record->dynamic_shared_bytes;
    row.registers = record->registers > 0 ? record->registers : -1;
    row.occupancy_pct = record->occupancy_pct;
    row.queued = whole->queued != NULL ? YES_NO[times->queued] : NULL;
    const struct launch_traffic *traffic = &record->traffic;
    const uint64_t bytes = traffic->bytes + traffic->bytes_per_result * m->written;
    if (bytes > 0 && s.median > 0) {
        row.bytes = (int64_t)bytes;
        row.gb_s = (double)bytes / s.median / 1e6;
    }
    row.share_pct = launch_share_pct(times, launch);
    fill_launch_counts(&row, &m->launch_counts, launch, m->call.problem.n);
    return row;
}

/* --kernels: writes the launches after the row of their run. */
static void write_launches(const struct run *run, const struct row *whole,
                           const struct measurement *m)
{
    const struct launch_times *times = &m->launch_times;
    for (unsigned i = 0; i < times->launches; i++) {
        const struct row row = launch_row(whole, m, i);
        results_add(run->results, NO_ENTRY, &row, times->time_ms + (size_t)i * times->samples,
                    times->samples);
    }
    if (times->launches < m->log.count && !run->options->quiet)
        complain("%s %s: it launches %llu kernels; only the first %u have rows", whole->op,
                 whole->algo, (unsigned long long)m->log.count, times->launches);
}

/* ---- one row per line ---- */

/* --counts=lines: writes the lines after the launches of their run. */
static void write_lines(const struct run *run, const struct row *whole, const struct measurement *m)
{
    for (size_t i = 0; i < m->launch_counts.line_count; i++) {
        const struct line_counts *line = &m->launch_counts.lines[i];
        struct row row = row_without_measures(whole);
        row.kernel = line->kernel;
        row.line = line->line;
        fill_line_counts(&row, line, m->call.problem.n);
        results_add(run->results, NO_ENTRY, &row, NULL, 0);
    }
}

/* ---- rows ---- */

/* What `auto` stood for, as "lookback block 256". */
static const char *format_choice(const struct task *task, struct row_texts *texts)
{
    const char *name = task->algorithm->name;
    if (task->problem.block > 0)
        snprintf(texts->chose, sizeof texts->chose, "%s block %u", name, task->problem.block);
    else
        snprintf(texts->chose, sizeof texts->chose, "%s", name);
    return texts->chose;
}

/* A row of a file of the user's went wrong: --check says more. */
static void tell_of_check(const struct run *run, const struct measurement *m)
{
    const char *file = m->entry->row->own_file;
    const bool wrong = check_is(m, "failed") || check_is(m, "error");
    if (file == NULL || !wrong || run->options->check.wanted || run->options->quiet ||
        run->state->told_of_check)
        return;
    run->state->told_of_check = true;
    complain("what is wrong: %s --check --algo=%s", run->options->output.program, file);
}

void send_row(const struct run *run, const struct measurement *m)
{
    const bool passed = check_is(m, "passed");
    struct row_texts texts;
    struct row row = make_row(run, m->entry, &texts);
    row.check = m->check;
    row.reason = m->reason;
    if (passed) {
        fill_times(&row, run, m);
        fill_speed(&row, run, m);
        fill_team_times(&row, run, m);
        if (m->entry->row->is_choice)
            row.chose = format_choice(&m->task, &texts);
        if (run->session->device->can->has_blocks)
            fill_launches(&row, run, m);
    }
    row.scratch_bytes = m->task.algorithm == NULL ? -1 : (int64_t)m->task.scratch_bytes;
    row.sm_clock_mhz = m->gpu.sm_clock_mhz;
    row.temperature_c = m->gpu.temperature_c;
    row.throttled = m->gpu.throttled >= 0 ? YES_NO[m->gpu.throttled] : NULL;
    row.date = m->date;
    results_add(run->results, (int)(m - run->ms), &row, m->time_ms,
                passed ? m->statistics.count : 0);
    if (run->options->kernels && passed)
        write_launches(run, &row, m);
    if (passed)
        write_lines(run, &row, m);
    tell_of_check(run, m);
}

/* A failed memcpy may have no row that says so, and without it the other rows lack memcpy_pct. */
static int tell_of_unprinted(const struct run *run)
{
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        const bool failed = check_is(m, "failed");
        if (row_wanted(m) || !(failed || check_is(m, "error")))
            continue;
        complain("%s %s, n = %llu, to compare with: %s", operation_name(run->group->op),
                 m->entry->name, (unsigned long long)run->group->n, m->reason);
        return failed ? EXIT_WRONG_ANSWER : EXIT_ERROR;
    }
    return EXIT_OK;
}

/* After an interruption the memcpy that a row is compared with may not be measured yet. Such a row
 * is not finished: --resume measures it again. */
static bool lacks_memcpy(const struct run *run, const struct measurement *m)
{
    if (!interrupted() || !check_is(m, "passed"))
        return false;
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *copy = &run->ms[e];
        if (copies_input(copy->entry->algorithm) && !copy->done &&
            copy->task.problem.threads == m->task.problem.threads)
            return true;
    }
    return false;
}

int write_group(const struct run *run)
{
    int code = EXIT_OK;
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        if (!m->done || !row_wanted(m) || lacks_memcpy(run, m))
            continue;
        send_row(run, m);
        if (check_is(m, "failed"))
            code = EXIT_WRONG_ANSWER;
        else if (check_is(m, "error"))
            code =
                worse_exit_code(code, run->options->check.wanted ? EXIT_WRONG_ANSWER : EXIT_ERROR);
    }
    return code == EXIT_OK ? tell_of_unprinted(run) : code;
}
