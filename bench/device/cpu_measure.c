/* cpu_measure: runs algorithms and measures their wall time. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "cpu_device.h"

#include "../../timing/clock.h"
#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "cpu_threads.h"
#include "fenced_memory.h"
#include "look.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { CACHE_LINE_BYTES = 64, WHOLE_LOOK_BYTES = 4 << 20 };

/* Pins this thread to one processor while an algorithm is measured. Not for a library's
 * algorithm: the threads it starts would inherit the restriction. */
static void pin(const struct cpu_device *cpu, const struct algorithm *algorithm, bool on)
{
    if (algorithm->family != FAMILY_LIBRARY && CPU_COUNT(&cpu->allowed) > 0)
        sched_setaffinity(0, sizeof cpu->first, on ? &cpu->first : &cpu->allowed);
}

static void set_up_scratch(const struct trial *trial)
{
    trial->call->epoch = 0;
    if (trial->algorithm->prepare != NULL)
        trial->algorithm->prepare(trial->call);
}

/* Scratch is never zero by chance, as memory fresh from the system would be. */
static void poison_scratch(const struct call *call)
{
    if (call->scratch != NULL)
        memset(call->scratch, POISON_BYTE, call->scratch_bytes);
}

static void prepare(const struct trial *trial)
{
    watch_fences(trial->algorithm->name);
    trial->call->queue = NULL;
    poison_scratch(trial->call);
    set_up_scratch(trial);
}

const char *cpu_prepare(struct device *device, const struct trial *trial)
{
    (void)device;
    prepare(trial);
    return NULL;
}

static double timed_run_ms(const struct trial *trial)
{
    const double start = clock_ms();
    if (trial->scratch == SCRATCH_FRESH)
        set_up_scratch(trial);
    trial->call->epoch++;
    trial->algorithm->run(trial->call);
    return clock_ms() - start;
}

static size_t sweep_bytes(const struct cpu_device *cpu)
{
    return 2 * cpu->cache_bytes;
}

/* Are arrays of this size flushed line by line, instead of displaced by a sweep? */
static bool flushes_lines(const struct cpu_device *cpu, enum cache_state cache, size_t bytes)
{
#ifdef __x86_64__
    return cache == CACHE_COLD && bytes <= sweep_bytes(cpu);
#else
    (void)cpu;
    (void)cache;
    (void)bytes;
    return false;
#endif
}

size_t cpu_extra_bytes(struct device *device, enum cache_state cache, size_t bytes)
{
    const struct cpu_device *cpu = cpu_of(device);
    const bool sweeps =
        cache != CACHE_HOT && cpu->sweep == NULL && !flushes_lines(cpu, cache, bytes);
    return sweeps ? sweep_bytes(cpu) : 0;
}

#ifdef __x86_64__
/* The __builtin_cpu_supports() of some compilers does not know it. */
static bool has_clflushopt(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & bit_CLFLUSHOPT) != 0;
}

/* These flushes need not be in order, so the processor does many at a time. */
__attribute__((target("clflushopt"))) static void flush_unordered(const char *line, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
        _mm_clflushopt((void *)(line + i));
}
#endif

/* Flushes data from all caches with the instruction for that. */
static void flush_lines(const void *data, size_t bytes)
{
#ifdef __x86_64__
    const char *line = data;
    if (has_clflushopt())
        flush_unordered(line, bytes);
    else
        for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
            _mm_clflush(line + i);
    _mm_mfence();
#else
    (void)data;
    (void)bytes;
#endif
}

/* Displaces all cache contents by reading or writing more than the caches hold. Also used for
 * arrays much larger than the caches, since it costs less than flushing each of their lines. */
static void sweep_caches(struct cpu_device *cpu, bool dirty)
{
    const size_t bytes = sweep_bytes(cpu);
    if (cpu->sweep == NULL) {
        cpu->sweep = allocate_or_die(NULL, bytes);
        memset(cpu->sweep, 1, bytes);
    }
    volatile unsigned char *line = cpu->sweep;
    for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
        if (dirty)
            line[i] = (unsigned char)i;
        else
            (void)line[i];
}

void cpu_set_cache_state(struct cpu_device *cpu, const struct trial *trial)
{
    const struct algorithm *algorithm = trial->algorithm;
    const struct call *call = trial->call;
    if (trial->cache == CACHE_HOT)
        return;
    const size_t bytes = call->problem.n * element_bytes(call->problem.type);
    const size_t values = call->problem.n * value_bytes(call->problem.values);
    const size_t scratch =
        algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(&call->problem) : 0;
    const size_t second = second_bytes(&call->problem);
    if (!flushes_lines(cpu, trial->cache, 2 * (bytes + values) + second + scratch)) {
        sweep_caches(cpu, trial->cache == CACHE_DIRTY);
        return;
    }
    flush_lines(call->input, bytes);
    flush_lines(call->output, bytes);
    flush_lines(call->second, second);
    flush_lines(call->input_values, values);
    flush_lines(call->output_values, values);
    flush_lines(call->scratch, scratch);
}

/* What prepare() sets up in each run is poisoned as well. */
void cpu_clear_results(const struct trial *trial)
{
    const struct view view = view_of(trial);
    if (trial->cache == CACHE_HOT) {
        for (unsigned k = 0; k < LOOK_PLACES && view.n > 0; k++)
            poison_place(&view, k);
        return;
    }
    if (view.n > 0)
        memset(view.output, POISON_BYTE, view_bytes(&view));
    if (view.values != NULL)
        memset(view.values, POISON_BYTE, view.n * value_bytes(view.value_type));
    if (view.count != NULL)
        memset(view.count, POISON_BYTE, sizeof *view.count);
    if (trial->scratch == SCRATCH_FRESH)
        poison_scratch(trial->call);
}

const char *cpu_look(struct device *device, const struct trial *trial, bool whole,
                     struct look *look)
{
    const struct view view = view_of(trial);
    *look = (struct look){0};
    for (unsigned k = 0; k < LOOK_PLACES && view.n > 0; k++)
        look_at(&view, k, look);
    if (whole)
        look->whole = cpu_placed_digest(device, &view);
    return NULL;
}

/* ---- what a run touches ---- */

/* Closes the margins of all arrays, and the input to writes, while an untimed run works on them, or
 * opens them again. Timed runs would pay for the change. */
static bool close_arrays(const struct call *call, bool close)
{
    const struct {
        const void *data;
        bool read_only;
    } all[] = {
        {call->input, true},          {call->output, false},      {call->count, false},
        {call->second, true},         {call->input_values, true}, {call->scratch, false},
        {call->output_values, false},
    };
    bool done = true;
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        void *data = (void *)all[a].data;
        if (data != NULL)
            done &= close ? fenced_close(data, all[a].read_only) : fenced_open(data);
    }
    return done;
}

const char *cpu_touched(struct device *device)
{
    return fenced_touch(device->reason, sizeof device->reason) ? device->reason : NULL;
}

/* All arrays are opened again whatever could be closed. */
static const char *run_closed(struct device *device, const struct trial *trial, double *ms)
{
    const bool closed = close_arrays(trial->call, true);
    *ms = timed_run_ms(trial);
    if (close_arrays(trial->call, false) && closed)
        return NULL;
    snprintf(device->reason, sizeof device->reason, "cannot protect memory: %s", strerror(errno));
    return device->reason;
}

const char *cpu_first_call(struct device *device, const struct trial *trial, struct launch_log *log,
                           double *wall_ms)
{
    prepare(trial);
    log->count = 0;
    return run_closed(device, trial, wall_ms);
}

const char *cpu_run_again(struct device *device, const struct trial *trial)
{
    double ignored;
    return run_closed(device, trial, &ignored);
}

/* Reading an array that the caches hold takes little beside bringing them into their state. */
static bool looks_at_all(const struct trial *trial)
{
    const struct view view = view_of(trial);
    return trial->cache != CACHE_HOT && view_bytes(&view) <= WHOLE_LOOK_BYTES;
}

/* Does it run on the threads of the pool? */
static bool runs_in_pool(const struct algorithm *algorithm)
{
    return (algorithm->family == FAMILY_OWN || algorithm->family == FAMILY_CEILING) &&
           algorithm->traits & TRAIT_HAS_THREADS;
}

/* OpenMP's threads spin for a while after a loop, on processors that a run needs. They are ended
 * before a run of what does not use them. Users' code may use them. */
static void choose_threads(const struct trial *trial)
{
    const struct algorithm *algorithm = trial->algorithm;
    if (algorithm->family != FAMILY_USER && !(algorithm->traits & TRAIT_OPENMP))
        end_openmp_threads();
    else if (algorithm->traits & TRAIT_HAS_THREADS)
        start_team(trial->call->problem.threads);
}

/* Between hot runs the places are in the caches already. Helpers spin after a look or another
 * algorithm, so those that a run does not use are sent to sleep before it. Threads of OpenMP are
 * woken before a run that uses them: on 16 cores a scan took 43 ms if they were asleep. */
static void time_runs(struct device *device, const struct trial *trial, double *time_ms,
                      struct look *looks, unsigned count)
{
    const bool whole = looks_at_all(trial);
    for (unsigned i = 0; i < count; i++) {
        cpu_clear_results(trial);
        rest_helpers(runs_in_pool(trial->algorithm) ? trial->call->problem.threads : 1);
        cpu_set_cache_state(cpu_of(device), trial);
        if (trial->algorithm->traits & TRAIT_OPENMP)
            start_team(trial->call->problem.threads);
        time_ms[i] = timed_run_ms(trial);
        cpu_look(device, trial, whole, &looks[i]);
    }
}

const char *cpu_measure(struct device *device, const struct trial *trial, double *time_ms,
                        struct look *looks, unsigned count)
{
    choose_threads(trial);
    pin(cpu_of(device), trial->algorithm, true);
    if (trial->cache == CACHE_HOT)
        timed_run_ms(trial);
    time_runs(device, trial, time_ms, looks, count);
    pin(cpu_of(device), trial->algorithm, false);
    return NULL;
}

const char *cpu_measure_wall(struct device *device, const struct trial *trial, double *wall_ms)
{
    struct look ignored;
    prepare(trial);
    return cpu_measure(device, trial, wall_ms, &ignored, 1);
}
