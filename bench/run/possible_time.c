/* possible_time: bounds on the time of a run, from launches, cores and memory bandwidth. */
#include "possible_time.h"

#include "../registry.h"

#include "../base/summarize.h"

#include <math.h>
#include <stdio.h>

enum {
    CORE_GB_S = 1000,             /* more than 64 bytes in and 64 out per cycle, at any clock */
    CACHES_THAT_HOLD_NOTHING = 4, /* data this many times the cache size is mostly not cached */
};

/* Margins: some of the data may be cached after all. And if memcpy is the only measure of the
 * bandwidth, it may have been slowed down by other users of the machine. */
static const double BANDWIDTH_MARGIN = 1.5, MEMCPY_MARGIN = 4;
/* With a smaller ratio, the clock cannot tell an empty kernel from none. */
static const double TELLING_RATIO = 1.3;
/* Resolution of the coarsest clocks: shorter times mean nothing. */
static const double CLOCK_TICK_MS = 1e-4;

static void launch_nothing(const struct call *call)
{
    (void)call;
}

static const struct algorithm *find_empty_kernel(enum device_kind kind)
{
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct algorithm *algorithm = table_row(r)->on[kind];
        if (algorithm != NULL && algorithm->result == RESULT_NOTHING)
            return algorithm;
    }
    return NULL;
}

static double shortest_ms(const struct session *session, const struct algorithm *algorithm,
                          enum cache_state cache)
{
    struct call call = {.problem = {.n = 1, .device = &session->limits}};
    double time_ms[MAX_TURN_SAMPLES];
    struct look looks[MAX_TURN_SAMPLES];
    const struct trial trial = {algorithm, &call, cache, .queued = true};
    struct device *device = session->device;
    if (device->can->prepare(device, &trial) != NULL ||
        device->can->measure(device, &trial, time_ms, looks, MAX_TURN_SAMPLES) != NULL)
        return NAN;
    return summarize(time_ms, MAX_TURN_SAMPLES).min;
}

/* The midpoint between the times of no kernel and of an empty one. */
static double find_idle_ms(const struct session *session, const struct plan_group *group)
{
    static const struct algorithm nothing = {.name = "nothing", .run = launch_nothing};
    const struct algorithm *empty = find_empty_kernel(group->device.kind);
    if (session->device->can->simulated || empty == NULL)
        return NAN;
    const double nothing_ms = shortest_ms(session, &nothing, group->cache);
    const double empty_ms = shortest_ms(session, empty, group->cache);
    return empty_ms > TELLING_RATIO * nothing_ms ? (nothing_ms + empty_ms) / 2 : NAN;
}

struct speed_limits find_speed_limits(const struct session *session, const struct plan_group *group)
{
    const struct device_info *info = &session->info;
    const struct backend *can = session->device->can;
    const double bytes_per_cycle = can->core_bytes_per_cycle;
    const double core_gb_s =
        bytes_per_cycle > 0 ? bytes_per_cycle * info->clock_mhz / 1e3 : CORE_GB_S;
    return (struct speed_limits){
        .idle_ms = find_idle_ms(session, group),
        .chip_gb_s = core_gb_s > 0 ? core_gb_s * info->multiprocessors : NAN,
        .memory_gb_s = info->peak_gb_s > 0 ? info->peak_gb_s : NAN,
        /* On a CPU with several last-level caches, the size of only one is known, so it is
         * unknown how much data they hold together unless they are flushed. */
        .cache_bytes = can->one_cache || group->cache == CACHE_COLD ? info->cache_bytes : SIZE_MAX,
    };
}

bool impossible_time(const struct speed_limits *limits, double memcpy_gb_s, double bytes,
                     double time_ms, char *why, size_t size)
{
    const double gb_s = bytes / (time_ms + CLOCK_TICK_MS) / 1e6;
    const double memory_gb_s = isnan(limits->memory_gb_s)
                                   ? MEMCPY_MARGIN * memcpy_gb_s
                                   : BANDWIDTH_MARGIN * fmax(limits->memory_gb_s, memcpy_gb_s);
    const bool past_caches = bytes >= CACHES_THAT_HOLD_NOTHING * (double)limits->cache_bytes;
    /* Comparisons with NAN are false. */
    if (time_ms < limits->idle_ms)
        snprintf(why, size, "impossible: %.3g us; an empty kernel takes longer", time_ms * 1e3);
    else if (gb_s > limits->chip_gb_s)
        snprintf(why, size, "impossible: %.3g GB/s; the device's cores move %.3g GB/s at most",
                 gb_s, limits->chip_gb_s);
    else if (past_caches && gb_s > memory_gb_s)
        snprintf(why, size, "impossible: %.3g GB/s; the device's memory moves %.3g GB/s at most",
                 gb_s, memory_gb_s);
    else
        return false;
    return true;
}

/* A row fails if a quarter of its samples are impossible. `memcpy_ms`: lower quartile of memcpy
 * with as many threads. */
static void doubt_time(const struct speed_limits *of_device, struct measurement *m,
                       double memcpy_ms)
{
    const struct algorithm *algorithm = m->task.algorithm;
    struct speed_limits limits = *of_device;
    const struct problem *p = &m->call.problem;
    if (!check_is(m, "passed") || p->n == 0 || algorithm->result == RESULT_NOTHING)
        return;
    const double copied = copied_bytes(p);
    const double memcpy_gb_s =
        !copies_input(algorithm) && memcpy_ms > 0 ? copied / memcpy_ms / 1e6 : NAN;
    /* A copy is no kernel: a tool that watches kernels slows down the empty one alone. */
    if (copies_input(algorithm))
        limits.idle_ms = NAN;
    const double moved = copies_input(algorithm) ? copied : operation_bytes(p, m->written);
    char why[128];
    if (impossible_time(&limits, memcpy_gb_s, moved, m->statistics.q1, why, sizeof why))
        finish_row(m, "failed", why);
}

/* memcpy is the last of its group, but judged first, since others are compared with it. */
void doubt_times(const struct run *run, const struct speed_limits *limits)
{
    for (size_t e = run->group->entry_count; e-- > 0;)
        doubt_time(limits, &run->ms[e], memcpy_statistics(run, &run->ms[e]).q1);
}
