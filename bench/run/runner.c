#include "runner.h"

#include "../../timing/clock.h"
#include "../../timing/gpu_state.h"
#include "../device/elements.h"
#include "../rows/columns.h"
#include "energy.h"
#include "../errors.h"
#include "../interrupt.h"
#include "launch_times.h"
#include "possible_time.h"
#include "progress.h"
#include "show.h"
#include "session.h"
#include "version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HOLDABLE_LAUNCHES = 500, /* more would not fit the queue of a held stream */
    TURN_MS = 50,            /* about how long one algorithm keeps the device */
    WALL_SAMPLES = 11,
    LAUNCH_SAMPLES = 21,    /* of each launch by itself; fewer where they take long */
    THROTTLE_CHECK_MS = 20, /* between two looks at whether the GPU is throttled */
    EMULATOR_SAMPLES = 3,   /* its times say nothing of a GPU: a few are enough */
};

/* One entry of a group while it is being measured. */
struct measurement {
    const struct plan_entry *entry;
    struct call call;
    void *kept; /* by the algorithm, between its calls */
    struct launch_log log;
    struct launch_times launch_times;
    struct copy_samples copies;
    double *time_ms; /* samples so far */
    size_t capacity;
    struct statistics statistics;
    double wall_ms[WALL_SAMPLES];
    unsigned wall_count;
    double first_call_ms, spent_ms;
    double energy_mj;
    size_t summarized;        /* as many samples as the statistics are of */
    size_t trusted;           /* samples before the last look at the GPU's clocks */
    size_t throttled_samples; /* dropped */
    double looked_ms;         /* when that was, in spent_ms */
    uint32_t most_calls;      /* of a series of timed runs */
    uint64_t written;         /* elements of the result */
    struct gpu_state gpu;
    bool queued, done;
    bool lost;       /* the device, with this row */
    bool left_alone; /* --resume: it has lost the device too often */
    bool had;        /* --resume: its row is in the file already */
    const char *check;
    char reason[256];
    char date[32];
};

/* ---- outcomes ---- */

static void finish_row(struct measurement *m, const char *check, const char *reason)
{
    m->done = true;
    m->check = check;
    snprintf(m->reason, sizeof m->reason, "%s", reason != NULL ? reason : "");
    const time_t now = time(NULL);
    struct tm utc;
    strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

/* What a wrong algorithm did to the input, or beside the buffers, must not be
 * laid to the next one's charge. */
static const char *restore_workspace(const struct session *session, const struct input *input)
{
    const struct workspace *w = &session->workspace;
    const struct buffer *const buffers[] = {&w->input, &w->output, &w->scratch, &w->count};
    const char *why = NULL;
    for (int b = 0; b < 4 && why == NULL; b++)
        if (buffers[b]->data != NULL)
            why = session->backend->write_guards(buffers[b]);
    return why != NULL ? why : session->backend->fill_input(input, w->input.data);
}

/* ---- one algorithm at a time ---- */

/* Lets an algorithm see no more than the scratch it asked for, though others of
 * its group may have more. */
static const char *cut_scratch(struct session *session, const struct measurement *m)
{
    struct buffer *scratch = &session->workspace.scratch;
    const size_t bytes = m->call.scratch_bytes;
    if (bytes > scratch->allocated)
        BUG("%s needs %zu bytes of scratch that has %zu", m->entry->row->name, bytes,
            scratch->allocated);
    return scratch->data != NULL ? session->backend->resize(scratch, bytes) : NULL;
}

/* Poisons what the run must write. */
static const char *poison(const struct session *session)
{
    const struct workspace *w = &session->workspace;
    const char *why = session->backend->poison(&w->output);
    if (why == NULL && w->count.data != NULL)
        why = session->backend->poison(&w->count);
    return why;
}

/* Checks what the last run() made of `input`. A wrong result finishes the row. */
static const char *judge_result(const struct session *session, struct measurement *m,
                                const struct input *input, struct verdict *verdict)
{
    if (m->entry->algorithm->hand_over != NULL)
        m->entry->algorithm->hand_over(&m->call);
    const char *why = verify(session->backend, &m->call.problem, m->entry->algorithm->result, input,
                             &session->workspace, verdict);
    if (why == NULL && !verdict->passed)
        finish_row(m, "failed", verdict->reason);
    return why;
}

static const char *check_result(const struct session *session, struct measurement *m,
                                const struct input *input)
{
    struct verdict verdict;
    const char *why = judge_result(session, m, input, &verdict);
    m->written = verdict.written;
    return why == NULL && m->done ? restore_workspace(session, input) : why;
}

/* One more run on other data. What ran before left its results in output and scratch:
 * an algorithm that only works when first called, or takes for its own what an earlier
 * call has left, is right until here. */
static const char *check_with_other_data(const struct session *session, struct measurement *m,
                                         const struct input *input)
{
    const struct backend *backend = session->backend;
    const struct input other = other_input(input);
    struct verdict verdict;
    const char *why = backend->fill_input(&other, session->workspace.input.data);
    /* As many calls as any timed run had before it: what works for some calls and no longer
     * must be seen, too. */
    while (why == NULL && m->call.epoch + 1 < m->most_calls)
        why = backend->run_again(m->entry->algorithm, &m->call);
    if (why == NULL)
        why = poison(session);
    if (why == NULL)
        why = backend->run_again(m->entry->algorithm, &m->call);
    if (why == NULL)
        why = judge_result(session, m, &other, &verdict);
    if (m->done) {
        char reason[sizeof m->reason];
        snprintf(reason, sizeof reason, "on other data after the last sample: %.200s", m->reason);
        finish_row(m, "failed", reason);
    }
    return why == NULL ? restore_workspace(session, input) : why;
}

/* The warm-up: the first call, verified, and as many more as were asked for. */
static const char *warm_up(const struct options *options, struct session *session,
                           struct measurement *m, const struct input *input)
{
    const struct backend *backend = session->backend;
    const struct algorithm *algorithm = m->entry->algorithm;
    const char *why = cut_scratch(session, m);
    if (why == NULL)
        why = poison(session);
    if (why == NULL)
        why = backend->first_call(algorithm, &m->call, &m->log, &m->first_call_ms);
    if (why == NULL)
        why = check_result(session, m, input);
    double ignored;
    for (unsigned w = 1; w < options->sampling.warmup && why == NULL && !m->done; w++)
        why = backend->measure_wall(algorithm, &m->call, CACHE_HOT, &ignored);
    m->queued = !(algorithm->traits & TRAIT_SYNCHRONISES) && m->log.count <= HOLDABLE_LAUNCHES;
    return why;
}

static struct sampling sampling_of(const struct options *options, enum device_kind kind)
{
    struct sampling sampling = options->sampling;
    if (kind == DEVICE_EMULATOR && sampling.samples == 0)
        sampling.samples = EMULATOR_SAMPLES;
    return sampling;
}

/* How many samples to take in one turn. */
static unsigned turn_samples(const struct measurement *m, const struct sampling *sampling,
                             enum cache_state cache)
{
    const struct statistics *s = &m->statistics;
    /* What a sample costs, putting the caches into their state included. */
    const double cost_ms = s->count > 0 ? m->spent_ms / (double)s->count : TURN_MS;
    double count = TURN_MS / fmax(cost_ms, 1e-6);
    if (sampling->samples == 0 && s->count >= MIN_SAMPLES)
        count = fmin(count, (sampling->max_time_ms - m->spent_ms) / fmax(cost_ms, 1e-6));
    if (cache == CACHE_HOT && m->queued)
        count = fmin(count, HOLDABLE_LAUNCHES / (double)(m->log.count + 2));
    if (sampling->samples > 0)
        count = fmin(count, (double)sampling->samples - (double)s->count);
    return (unsigned)fmin(fmax(count, 1), MAX_TURN_SAMPLES);
}

/* How often to time a row's launches; 0: not at all. Without --kernels once, if
 * that is what the whole's occupancy depends on. */
static unsigned launch_samples(const struct options *options, const struct backend *backend,
                               const struct measurement *m, const struct sampling *sampling)
{
    if (backend->measure_launches == NULL || m->log.count == 0)
        return 0;
    if (!options->kernels)
        return backend->kind == DEVICE_GPU && m->log.count > 1;
    const double fit = sampling->max_time_ms / fmax(m->statistics.median, 1e-6);
    const double count = sampling->samples > 0 ? sampling->samples : fmax(3, fit);
    return (unsigned)fmin(count, LAUNCH_SAMPLES);
}

/* Looks now and then whether the GPU is held below its clocks. If so the samples
 * since the last look are dropped, and taken again while there is time; once it is
 * up they are kept, if there were too few without them, and the row says so. */
static void drop_throttled(const struct session *session, const struct sampling *sampling,
                           struct measurement *m, bool enough)
{
    if (m->spent_ms - m->looked_ms < THROTTLE_CHECK_MS && !enough)
        return;
    const size_t count = m->statistics.count;
    m->gpu = read_gpu_state(session->info.pci_bus_id);
    m->looked_ms = m->spent_ms;
    if (m->gpu.throttled == 1 && may_drop_samples(sampling, m->trusted, m->spent_ms)) {
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

/* Takes `count` samples into account; true: they are enough. */
static bool judge_samples(const struct session *session, const struct sampling *sampling,
                          struct measurement *m, size_t count)
{
    const double start = clock_ms();
    const bool summarized = time_to_summarize(sampling, m, count);
    m->statistics.count = count;
    if (summarized) {
        m->statistics = summarize(m->time_ms, count);
        m->summarized = count;
    }
    m->spent_ms += clock_ms() - start;
    const bool enough = summarized && enough_samples(sampling, &m->statistics, m->spent_ms);
    if (session->backend->kind != DEVICE_GPU)
        return enough;
    drop_throttled(session, sampling, m, enough);
    return enough && enough_samples(sampling, &m->statistics, m->spent_ms);
}

/* What is measured once a row is steady: its launches, its copies, its energy. */
static const char *measure_extras(const struct options *options, struct session *session,
                                  const struct sampling *sampling, struct measurement *m,
                                  enum cache_state cache)
{
    const struct backend *backend = session->backend;
    const struct algorithm *algorithm = m->entry->algorithm;
    const unsigned launch_count = launch_samples(options, backend, m, sampling);
    const char *why = NULL;
    if (launch_count > 0)
        why = time_launches(backend, algorithm, &m->call, &m->log, cache, m->queued, launch_count,
                            &m->launch_times);
    if (why == NULL && options->copies && backend->measure_copies != NULL)
        why = time_copies(backend, algorithm, &m->call, m->written,
                          sampling->samples > 0 ? sampling->samples : COPY_SAMPLES,
                          sampling->max_time_ms, &session->host, &m->copies);
    if (why == NULL && options->energy && backend->kind == DEVICE_GPU)
        why = measure_energy(backend, algorithm, &m->call, m->statistics.median, read_gpu_energy_mj,
                             session->info.pci_bus_id, &m->energy_mj);
    return why;
}

/* One turn of one algorithm; verifies the output when it was the last. */
static const char *take_turn(const struct options *options, struct session *session,
                             struct measurement *m, const struct input *input,
                             enum cache_state cache)
{
    const struct backend *backend = session->backend;
    const struct algorithm *algorithm = m->entry->algorithm;
    const struct sampling sampling = sampling_of(options, backend->kind);
    const unsigned count = turn_samples(m, &sampling, cache);
    const size_t had = m->statistics.count;
    if (had + count > m->capacity) {
        m->capacity = 2 * m->capacity + MAX_TURN_SAMPLES;
        m->time_ms = allocate_or_die(m->time_ms, m->capacity * sizeof *m->time_ms);
    }

    const double start = clock_ms();
    const char *why = cut_scratch(session, m);
    if (why == NULL && backend->kind != DEVICE_CPU && m->wall_count < WALL_SAMPLES) {
        why = backend->measure_wall(algorithm, &m->call, cache, &m->wall_ms[m->wall_count]);
        m->wall_count++;
    }
    if (why == NULL)
        why = poison(session);
    if (why == NULL)
        why = backend->measure(algorithm, &m->call, cache, m->queued, m->time_ms + had, count);
    m->most_calls = m->call.epoch > m->most_calls ? m->call.epoch : m->most_calls;
    m->spent_ms += clock_ms() - start;
    if (why != NULL)
        return why;

    if (!judge_samples(session, &sampling, m, had + count))
        return NULL;
    why = measure_extras(options, session, &sampling, m, cache);
    if (why == NULL)
        why = check_result(session, m, input);
    if (why == NULL && !m->done)
        why = check_with_other_data(session, m, input);
    if (why == NULL && !m->done)
        finish_row(m, "passed", NULL);
    return why;
}

/* ---- rows ---- */

static const char *const YES_NO[2] = {"no", "yes"};

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

static void fill_times(struct row *row, const struct session *session,
                       const struct plan_group *group, const struct measurement *m,
                       double memcpy_ms)
{
    const struct statistics *s = &m->statistics;
    fill_statistics(row, s);
    row->wall_ms = m->wall_count > 0 ? summarize(m->wall_ms, m->wall_count).median : s->median;
    if (m->copies.count > 0) {
        row->copies_ms = summarize(m->copies.whole_ms, m->copies.count).median;
        row->h2d_ms = summarize(m->copies.h2d_ms, m->copies.count).median;
        row->d2h_ms = summarize(m->copies.d2h_ms, m->copies.count).median;
    }
    row->first_call_ms = m->first_call_ms;
    row->energy_mj = m->energy_mj;
    if (m->gpu.throttled >= 0)
        row->throttled_samples = (int64_t)m->throttled_samples;
    if (session->backend->kind == DEVICE_GPU)
        row->queued = YES_NO[m->queued];
    if (group->n == 0 || !(s->median > 0) || m->entry->algorithm->result == RESULT_NOTHING)
        return;
    const double bytes = operation_bytes(&m->call.problem, m->written);
    row->bytes = (int64_t)bytes;
    row->gelem_s = (double)group->n / s->median / 1e6;
    row->gb_s = bytes / s->median / 1e6;
    if (memcpy_ms > 0)
        row->memcpy_pct = 100 * memcpy_ms / s->median;
    if (session->info.peak_gb_s > 0)
        row->peak_pct = 100 * row->gb_s / session->info.peak_gb_s;
}

static void fill_launches(struct row *row, const struct measurement *m)
{
    /* What a library launches is not seen. */
    if (m->log.count == 0 && m->entry->algorithm->family == FAMILY_LIBRARY)
        return;
    const struct launch_record *longest = longest_launch(&m->log, &m->launch_times);
    row->launches = (int64_t)m->log.count;
    if (longest != NULL)
        row->occupancy_pct = longest->occupancy_pct;
}

/* --kernels: a row for each launch, after that of the whole, whose axes and
 * environment it shares. */
static void write_launches(const struct options *options, const struct row *whole,
                           const struct measurement *m, struct report *report)
{
    const struct launch_times *times = &m->launch_times;
    for (unsigned i = 0; i < times->launches; i++) {
        const struct launch_record *record = &m->log.record[i];
        const struct statistics s = launch_statistics(times, i);
        struct row row = row_without_measures(whole);
        fill_statistics(&row, &s);
        row.kernel = record->kernel;
        row.launch = i + 1;
        row.grid = (int64_t)record->blocks;
        row.launch_block = record->threads;
        row.static_shared_bytes = (int64_t)record->static_shared_bytes;
        row.dynamic_shared_bytes = (int64_t)record->dynamic_shared_bytes;
        row.registers = record->registers > 0 ? record->registers : -1;
        row.occupancy_pct = record->occupancy_pct;
        row.queued = whole->queued != NULL ? YES_NO[times->queued] : NULL;
        const struct launch_traffic *traffic = &record->traffic;
        const uint64_t bytes = traffic->bytes + traffic->bytes_a_result * m->written;
        if (bytes > 0 && s.median > 0) {
            row.bytes = (int64_t)bytes;
            row.gb_s = (double)bytes / s.median / 1e6;
        }
        if (m->statistics.median > 0)
            row.share_pct = 100 * s.median / m->statistics.median;
        report_row(report, &row, times->time_ms + (size_t)i * times->samples, times->samples);
    }
    if (times->launches < m->log.count && !options->quiet)
        complain("%s %s: it launches %llu kernels; rows are written for the first %u", whole->op,
                 whole->algo, (unsigned long long)m->log.count, times->launches);
}

/* What a row's texts are made of that nobody else keeps. */
struct row_texts {
    char device[16], seed[24], host[128], chose[64];
};

/* A row with its axes and its environment: what is known before it is measured. */
static struct row make_row(const struct options *options, const struct session *session,
                           const struct plan_group *group, const struct plan_entry *entry,
                           struct row_texts *texts)
{
    struct row row = empty_row();
    format_device(group->device, texts->device, sizeof texts->device);
    snprintf(texts->seed, sizeof texts->seed, "%llu", (unsigned long long)options->input.seed);
    if (gethostname(texts->host, sizeof texts->host) != 0)
        texts->host[0] = '\0';
    texts->host[sizeof texts->host - 1] = '\0';
    row.op = operation_name(group->op);
    row.algo = entry->row->name;
    row.type = type_name(group->type);
    row.kind = group->op == OP_SCAN ? kind_name(group->kind) : NULL;
    row.n = (int64_t)group->n;
    row.pot = YES_NO[is_power_of_two(group->n)];
    row.block = entry->block > 0 ? (int64_t)entry->block : -1;
    row.threads = group->device.kind == DEVICE_CPU
                      ? (int64_t)entry_problem(session, group, entry).threads
                      : -1;
    row.device = texts->device;
    row.device_name = session->info.name;
    row.cache = cache_state_name(group->cache);
    row.input = input_shape_name(options->input.shape);
    row.max = options->input.max_text;
    row.keep = group->op == OP_COMPACT ? options->input.keep_text : NULL;
    row.seed = texts->seed;
    row.version = SCANBENCH_VERSION;
    row.commit = SCANBENCH_COMMIT;
    row.compiler = SCANBENCH_COMPILER;
    row.cuda = session->info.runtime;
    row.driver = session->driver;
    row.host = texts->host;
    row.label = options->label;
    if (options->copies && group->device.kind != DEVICE_CPU)
        row.host_memory = options->pinned ? "pinned" : "pageable";
    if (entry->algorithm != NULL && entry->algorithm->traits & TRAIT_HAS_SIMD)
        row.simd = simd_path_name(entry_problem(session, group, entry).simd);
    return row;
}

static void write_row(const struct options *options, const struct session *session,
                      const struct plan_group *group, const struct measurement *m, double memcpy_ms,
                      struct report *report)
{
    struct row_texts texts;
    struct row row = make_row(options, session, group, m->entry, &texts);
    row.check = m->check;
    row.reason = m->reason;
    if (strcmp(m->check, "passed") == 0) {
        fill_times(&row, session, group, m, memcpy_ms);
        if (format_choice(m->entry, texts.chose, sizeof texts.chose))
            row.chose = texts.chose;
        if (session->backend->kind != DEVICE_CPU)
            fill_launches(&row, m);
    }
    row.scratch_bytes =
        m->entry->algorithm == NULL ? -1 : (int64_t)entry_scratch_bytes(session, group, m->entry);
    row.sm_clock_mhz = m->gpu.sm_clock_mhz;
    row.temperature_c = m->gpu.temperature_c;
    row.throttled = m->gpu.throttled >= 0 ? YES_NO[m->gpu.throttled] : NULL;
    row.date = m->date;
    const bool passed = strcmp(m->check, "passed") == 0;
    report_row(report, &row, m->time_ms, passed ? m->statistics.count : 0);
    if (options->kernels && passed)
        write_launches(options, &row, m, report);
}

/* ---- a group ---- */

static void skip_for_memory(struct measurement *m, size_t needed, size_t available)
{
    char need[32], have[32], reason[128];
    format_bytes((double)needed, need, sizeof need);
    format_bytes((double)available, have, sizeof have);
    snprintf(reason, sizeof reason, "needs %s of memory, %s free", need, have);
    finish_row(m, "skipped", reason);
}

static void skip_impossible(const struct session *session, const struct plan_group *group,
                            const struct input *input, struct measurement *m)
{
    const char *why = entry_unsupported(session, group, m->entry);
    if (why == NULL)
        why = input_unsuited(input);
    if (why != NULL) {
        finish_row(m, "skipped", why);
        return;
    }
    const size_t needed = entry_bytes(session, group, m->entry);
    const size_t available = session->backend->free_memory_bytes();
    if (needed > available)
        skip_for_memory(m, needed, available);
}

static void release_workspace(struct session *session)
{
    struct workspace *w = &session->workspace;
    struct buffer *const buffers[] = {&w->input, &w->output, &w->scratch, &w->count};
    for (int b = 0; b < 4; b++)
        if (session->backend != NULL)
            session->backend->release(buffers[b]);
    if (session->backend != NULL)
        release_host_arrays(session->backend, &session->host);
}

/* Input and output, and scratch for the most demanding entry that is left. */
static const char *allocate_workspace(struct session *session, const struct plan_group *group,
                                      const struct measurement *ms, const struct input *input)
{
    const struct backend *backend = session->backend;
    struct workspace *w = &session->workspace;
    size_t scratch = 0;
    for (size_t e = 0; e < group->entry_count; e++) {
        const size_t bytes = ms[e].done ? 0 : entry_scratch_bytes(session, group, ms[e].entry);
        scratch = bytes > scratch ? bytes : scratch;
    }
    const size_t bytes = group->n * element_bytes(group->type);
    const char *why = backend->allocate(bytes, &w->input);
    if (why == NULL)
        why = backend->allocate(bytes, &w->output);
    if (why == NULL && scratch > 0)
        why = backend->allocate(scratch, &w->scratch);
    if (why == NULL && group->op == OP_COMPACT)
        why = backend->allocate(sizeof(uint64_t), &w->count);
    return why != NULL ? why : backend->fill_input(input, w->input.data);
}

static void start_call(const struct session *session, const struct plan_group *group,
                       struct measurement *m)
{
    m->call = (struct call){
        .problem = entry_problem(session, group, m->entry),
        .input = session->workspace.input.data,
        .output = session->workspace.output.data,
        .count = session->workspace.count.data,
        .scratch = session->workspace.scratch.data,
        .scratch_bytes = entry_scratch_bytes(session, group, m->entry),
        .kept = &m->kept,
    };
}

static bool all_done(const struct measurement *ms, size_t count)
{
    for (size_t e = 0; e < count; e++)
        if (!ms[e].done)
            return false;
    return true;
}

/* Of all groups so far, for the progress line. */
static size_t rows_done;

/* How much of a row is done, from 0 to 1. */
static double done_share(const struct options *options, const struct measurement *m)
{
    const struct sampling *sampling = &options->sampling;
    if (m->done)
        return 1;
    if (sampling->samples > 0)
        return (double)m->statistics.count / sampling->samples;
    return fmin(m->spent_ms / sampling->max_time_ms, 0.99);
}

static void tell_progress(const struct options *options, const struct plan_group *group,
                          const struct measurement *ms, size_t e)
{
    char device[16], what[128];
    double done = (double)rows_done;
    for (size_t i = 0; i < group->entry_count; i++)
        if (ms[i].entry->printed && !ms[i].had)
            done += done_share(options, &ms[i]);
    format_device(group->device, device, sizeof device);
    snprintf(what, sizeof what, "%s %s, n = %llu, %s, %s", operation_name(group->op),
             ms[e].entry->row->name, (unsigned long long)group->n, device,
             cache_state_name(group->cache));
    show_progress(what, done);
}

static void fail_group(const struct plan_group *group, struct measurement *ms, const char *why)
{
    for (size_t e = 0; e < group->entry_count; e++)
        if (!ms[e].done)
            finish_row(&ms[e], "error", why);
}

/* What algorithms keep between their turns, to the device. */
static void release_algorithms(struct measurement *ms, size_t count)
{
    for (size_t e = 0; e < count; e++) {
        if (ms[e].kept != NULL)
            ms[e].entry->algorithm->release(&ms[e].call);
        ms[e].kept = NULL;
    }
}

/* The device was reset: what was on it is gone, and must not be released any more. */
static void forget_workspace(struct session *session)
{
    session->workspace = (struct workspace){0};
    forget_host_arrays(session->backend, &session->host);
}

static const char *renew_workspace(struct session *session, const struct plan_group *group,
                                   struct measurement *ms, const struct input *input)
{
    forget_workspace(session);
    const char *why = allocate_workspace(session, group, ms, input);
    for (size_t e = 0; e < group->entry_count; e++)
        if (!ms[e].done)
            start_call(session, group, &ms[e]);
    return why;
}

/* A failure of the device ends the row. False: nothing can be run any more. */
static bool device_failed(struct session *session, const struct plan_group *group,
                          struct measurement *ms, struct measurement *m, const struct input *input,
                          const char *why)
{
    char reason[sizeof m->reason - sizeof DEVICE_WAS_LOST], full[sizeof m->reason];
    snprintf(reason, sizeof reason, "%s", why); /* it stands until the next call */
    release_algorithms(ms, group->entry_count); /* while what they hold is theirs */
    const enum recovery recovery = session->backend->recover();
    m->lost = recovery != DEVICE_USABLE;
    snprintf(full, sizeof full, "%s%s", recovery == DEVICE_USABLE ? "" : DEVICE_WAS_LOST, reason);
    if (!m->done) /* a wrong result says more */
        finish_row(m, "error", full);
    if (recovery == DEVICE_RESET) {
        const char *none = renew_workspace(session, group, ms, input);
        if (none != NULL)
            fail_group(group, ms, none);
        return true;
    }
    return recovery == DEVICE_USABLE && restore_workspace(session, input) == NULL;
}

/* Warm-ups first, then turns, round-robin, so that a drift of the machine hits
 * all alike. False: the device is lost. */
static bool measure_group(const struct options *options, struct session *session,
                          const struct plan_group *group, struct measurement *ms,
                          const struct input *input, struct speed_limits *limits)
{
    bool usable = true;
    for (size_t e = 0; e < group->entry_count && usable && !interrupted(); e++) {
        if (ms[e].done)
            continue;
        tell_progress(options, group, ms, e);
        start_call(session, group, &ms[e]);
        const char *why = warm_up(options, session, &ms[e], input);
        if (why != NULL)
            usable = device_failed(session, group, ms, &ms[e], input, why);
        else if (options->show > 0 && ms[e].entry->printed && !ms[e].had) {
            hide_progress();
            show_result(session, &ms[e].call.problem, ms[e].entry->row->name, ms[e].written,
                        options->show);
        }
    }
    if (usable && !interrupted())
        *limits = find_speed_limits(session, group);
    while (usable && !interrupted() && !all_done(ms, group->entry_count))
        for (size_t e = 0; e < group->entry_count && usable && !interrupted(); e++) {
            const char *why = NULL;
            if (!ms[e].done)
                tell_progress(options, group, ms, e);
            if (!ms[e].done)
                why = take_turn(options, session, &ms[e], input, group->cache);
            if (why != NULL)
                usable = device_failed(session, group, ms, &ms[e], input, why);
        }
    return usable;
}

/* What memcpy took with as many threads; all 0: it was not measured. */
static struct statistics memcpy_statistics(const struct session *session,
                                           const struct plan_group *group,
                                           const struct measurement *ms,
                                           const struct plan_entry *entry)
{
    const unsigned threads = entry_problem(session, group, entry).threads;
    for (size_t e = 0; e < group->entry_count; e++)
        if (strcmp(ms[e].entry->row->name, "memcpy") == 0 && ms[e].check != NULL &&
            strcmp(ms[e].check, "passed") == 0 &&
            entry_problem(session, group, ms[e].entry).threads == threads)
            return ms[e].statistics;
    return (struct statistics){0};
}

/* A quarter of the samples that cannot be, and the row is no result. `memcpy_ms`: the lower
 * quartile of memcpy on as many threads. */
static void doubt_time(const struct speed_limits *limits, struct measurement *m, double memcpy_ms)
{
    const struct algorithm *algorithm = m->entry->algorithm;
    const struct problem *p = &m->call.problem;
    if (m->check == NULL || strcmp(m->check, "passed") != 0 || p->n == 0 ||
        algorithm->result == RESULT_NOTHING)
        return;
    const double copied = 2.0 * (double)p->n * (double)element_bytes(p->type);
    const double memcpy_gb_s =
        algorithm->result != RESULT_COPY && memcpy_ms > 0 ? copied / memcpy_ms / 1e6 : NAN;
    char why[128];
    if (impossible_time(limits, memcpy_gb_s, operation_bytes(p, m->written), m->statistics.q1, why,
                        sizeof why))
        finish_row(m, "failed", why);
}

/* memcpy is the last of its group, and judged first: others are compared with it. */
static void doubt_times(const struct session *session, const struct plan_group *group,
                        struct measurement *ms, const struct speed_limits *limits)
{
    for (size_t e = group->entry_count; e-- > 0;)
        doubt_time(limits, &ms[e], memcpy_statistics(session, group, ms, ms[e].entry).q1);
}

/* memcpy may have no row of its own that would say that it failed, and why the others
 * lack memcpy_pct. */
static int tell_of_unprinted(const struct plan_group *group, const struct measurement *ms)
{
    for (size_t e = 0; e < group->entry_count; e++) {
        const bool printed = ms[e].entry->printed && !ms[e].had;
        const bool failed = ms[e].check != NULL && strcmp(ms[e].check, "failed") == 0;
        const bool error = ms[e].check != NULL && strcmp(ms[e].check, "error") == 0;
        if (printed || !(failed || error))
            continue;
        complain("%s %s, n = %llu, to compare with: %s", operation_name(group->op),
                 ms[e].entry->row->name, (unsigned long long)group->n, ms[e].reason);
        return failed ? EXIT_WRONG_ANSWER : EXIT_ERROR;
    }
    return EXIT_OK;
}

/* Writes the group's rows. What an interruption or a lost device left undone has
 * no row, so that --resume would run it. */
static int write_group(const struct options *options, const struct session *session,
                       const struct plan_group *group, const struct measurement *ms,
                       struct report *report)
{
    int code = EXIT_OK;
    for (size_t e = 0; e < group->entry_count; e++) {
        if (!ms[e].done || !ms[e].entry->printed || ms[e].had)
            continue;
        write_row(options, session, group, &ms[e],
                  memcpy_statistics(session, group, ms, ms[e].entry).median, report);
        if (strcmp(ms[e].check, "failed") == 0)
            code = EXIT_WRONG_ANSWER;
        else if (strcmp(ms[e].check, "error") == 0)
            code = worse_exit_code(code, EXIT_ERROR);
    }
    return code == EXIT_OK ? tell_of_unprinted(group, ms) : code;
}

static void free_measurement(struct measurement *m)
{
    free(m->time_ms);
    free_launch_times(&m->launch_times);
}

/* --resume: how often a row may lose the device before it is left alone. */
enum { MOST_LOSSES = 2 };

/* A row that loses the device again and again would keep the others from being run. */
static bool left_alone(const struct report *report, const struct row *row)
{
    const unsigned losses = report_lost_count(report, row);
    if (losses < MOST_LOSSES || report_has_row(report, row))
        return false;
    char times[24] = "twice";
    if (losses > 2)
        snprintf(times, sizeof times, "%u times", losses);
    complain("%s %s, n = %lld: lost the device %s before; left alone (remove its rows to run it "
             "again)",
             row->op, row->algo, (long long)row->n, times);
    return true;
}

/* --resume: marks what the file has. memcpy is measured all the same, to compare
 * the others with. False: nothing is left to do. */
static bool skip_rows_there(const struct options *options, const struct session *session,
                            const struct plan_group *group, struct measurement *ms,
                            const struct report *report, const char *entries)
{
    bool any_left = false;
    for (size_t e = 0; e < group->entry_count; e++) {
        struct row_texts texts;
        const struct row row = make_row(options, session, group, ms[e].entry, &texts);
        const bool to_do = entries[e] == ENTRY_TO_DO;
        ms[e].left_alone = to_do && ms[e].entry->printed && left_alone(report, &row);
        const bool alone = entries[e] == ENTRY_LOST_DEVICE || ms[e].left_alone;
        ms[e].had = alone || entries[e] == ENTRY_DONE ||
                    (ms[e].entry->printed && report_has_row(report, &row));
        ms[e].done = alone || (ms[e].had && strcmp(ms[e].entry->row->name, "memcpy") != 0);
        any_left |= ms[e].entry->printed && !ms[e].had;
        leave_out_of_progress(to_do && ms[e].had);
    }
    return any_left;
}

/* The device is lost: what another process has to know of the group. */
static void note_entries(const struct plan_group *group, const struct measurement *ms,
                         char *entries)
{
    for (size_t e = 0; e < group->entry_count; e++) {
        const bool to_do = !ms[e].done && !ms[e].had;
        const bool error = ms[e].check != NULL && strcmp(ms[e].check, "error") == 0;
        if (error || ms[e].lost)
            entries[e] = ENTRY_LOST_DEVICE;
        else if (entries[e] == ENTRY_TO_DO)
            entries[e] = to_do || !ms[e].entry->printed ? ENTRY_TO_DO : ENTRY_DONE;
    }
}

/* Measures what is left of a group in memory of its own. False: the device is lost. */
static bool run_entries(const struct options *options, struct session *session,
                        const struct plan_group *group, struct measurement *ms,
                        const struct input *input)
{
    struct speed_limits limits = {NAN, NAN, NAN, SIZE_MAX};
    bool usable = true;
    for (size_t e = 0; e < group->entry_count; e++)
        if (!ms[e].done)
            skip_impossible(session, group, input, &ms[e]);
    if (all_done(ms, group->entry_count))
        return true;
    const char *why = allocate_workspace(session, group, ms, input);
    if (why == NULL) {
        usable = measure_group(options, session, group, ms, input, &limits);
        doubt_times(session, group, ms, &limits);
    } else {
        fail_group(group, ms, why);
        const enum recovery recovery = session->backend->recover();
        usable = recovery != DEVICE_LOST;
        if (recovery == DEVICE_RESET)
            forget_workspace(session);
    }
    release_workspace(session);
    release_algorithms(ms, group->entry_count);
    return usable;
}

/* Runs one group. `lost` is set if the device cannot be used any more. `entries` says what
 * another process did of it, and then what this one did; see continuation.h. */
static int run_group(const struct options *options, struct session *session,
                     struct plan_group *group, struct report *report, char *entries, bool *lost)
{
    struct measurement *ms = allocate_or_die(NULL, group->entry_count * sizeof *ms);
    memset(ms, 0, group->entry_count * sizeof *ms);
    const struct problem base = {.op = group->op, .type = group->type, .n = group->n};
    const struct input input = make_input(&options->input, &base);
    for (size_t e = 0; e < group->entry_count; e++) {
        ms[e].entry = &group->entries[e];
        ms[e].gpu = (struct gpu_state){NAN, NAN, -1};
        ms[e].energy_mj = NAN;
    }

    const char *why = open_session(session, group->device, options);
    const bool any_left = skip_rows_there(options, session, group, ms, report, entries);
    if (why != NULL) {
        fail_group(group, ms, why);
    } else if (any_left) {
        resolve_choices(session, group);
        *lost = !run_entries(options, session, group, ms, &input);
    }
    hide_progress();
    int code = write_group(options, session, group, ms, report);
    if (*lost)
        note_entries(group, ms, entries);
    for (size_t e = 0; e < group->entry_count; e++) {
        rows_done += ms[e].entry->printed && !ms[e].had;
        code = worse_exit_code(code, ms[e].left_alone ? EXIT_ERROR : EXIT_OK);
        free_measurement(&ms[e]);
    }
    free(ms);
    return code;
}

static size_t printed_rows(const struct plan *plan)
{
    size_t count = 0;
    for (size_t g = 0; g < plan->group_count; g++)
        for (size_t e = 0; e < plan->groups[g].entry_count; e++)
            count += plan->groups[g].entries[e].printed;
    return count;
}

/* Is anything left to do, from the group at hand on? */
static bool something_left(const struct plan *plan, const struct continuation *state)
{
    const struct plan_group *group = &plan->groups[state->group];
    for (size_t e = 0; e < group->entry_count; e++)
        if (group->entries[e].printed && state->entries[e] == ENTRY_TO_DO)
            return true;
    return state->group + 1 < plan->group_count;
}

/* The device is lost for this process; another gets it back. Returns if there is nothing
 * left to do, or no other process to be had. */
static void go_on_without(const struct plan *plan, struct continuation *state,
                          const struct report *report)
{
    if (interrupted() || report_failed(report) || !something_left(plan, state))
        return;
    state->rows = report_rows(report);
    state->groups = plan->group_count;
    complain("the device is lost for this process; another goes on with the rest");
    keep_report_open(report);
    go_on_in_new_process(state);
    if (!interrupted())
        complain("no other process can be started; the rows before are kept");
}

/* How many rows of the plan another process has done. */
static size_t rows_of_predecessor(const struct plan *plan, const struct continuation *state)
{
    size_t count = 0;
    for (size_t g = 0; state->going_on && g < plan->group_count && g <= state->group; g++)
        for (size_t e = 0; e < plan->groups[g].entry_count; e++)
            count += plan->groups[g].entries[e].printed &&
                     (g < state->group || state->entries[e] != ENTRY_TO_DO);
    return count;
}

int run_plan(const struct options *options, struct plan *plan, struct report *report)
{
    struct session session = {0};
    struct continuation state = options->continuation;
    bool lost = false;
    rows_done = rows_of_predecessor(plan, &state);
    start_progress(options, printed_rows(plan));
    for (; state.group < plan->group_count; state.group++) {
        struct plan_group *group = &plan->groups[state.group];
        if (interrupted() || report_failed(report))
            break;
        if (group->entry_count > CONTINUATION_ENTRIES)
            BUG("%zu entries in a group", group->entry_count);
        if (!state.going_on)
            memset(state.entries, ENTRY_TO_DO, group->entry_count);
        state.going_on = false;
        state.entries[group->entry_count] = '\0';
        state.code = worse_exit_code(
            state.code, run_group(options, &session, group, report, state.entries, &lost));
        if (lost)
            break;
    }
    if (lost) {
        state.code = worse_exit_code(state.code, EXIT_ERROR);
        go_on_without(plan, &state, report);
    }
    close_session(&session);
    return interrupted() ? EXIT_INTERRUPTED : state.code;
}
