/* cpu_member: the CPU as a member of a team: one process per member. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "cpu_device.h"

#include "../../timing/clock.h"
#include "../base/errors.h"
#include "../base/processes.h"
#include "cpu_threads.h"

#include <stdlib.h>

static const char *reach(struct device *device, struct device *other)
{
    (void)device;
    (void)other;
    return "the members on CPUs are processes of their own";
}

/* How many processes of this host may use the same processors, and the number of this one. */
static unsigned count_sharers(const cpu_set_t *allowed, unsigned *number)
{
    unsigned sharers = 0;
    cpu_set_t *all = gathered(allowed, sizeof *allowed);
    for (unsigned p = 0; p < processes.count; p++) {
        if (p == processes.number)
            *number = sharers;
        sharers += is_on_this_host(p) && CPU_EQUAL(&all[p], allowed);
    }
    free(all);
    return sharers;
}

/* Leaves part `number` of `count`; of too few processors for all, one. */
static void keep_part(cpu_set_t *allowed, unsigned number, unsigned count)
{
    const unsigned there = (unsigned)CPU_COUNT(allowed);
    unsigned begin = there * number / count, end = there * (number + 1) / count;
    if (there < count) {
        begin = number % there;
        end = begin + 1;
    }
    unsigned seen = 0;
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, allowed))
            continue;
        if (seen < begin || seen >= end)
            CPU_CLR(processor, allowed);
        seen++;
    }
}

/* Processes that mpirun has not bound, or has bound to the same processors. */
static void share(struct device *device, struct device_info *info, struct device_limits *limits)
{
    struct cpu_device *cpu = cpu_of(device);
    unsigned number = 0;
    const unsigned sharers = count_sharers(&cpu->allowed, &number);
    if (sharers <= 1 || CPU_COUNT(&cpu->allowed) == 0)
        return;
    keep_part(&cpu->allowed, number, sharers);
    cpu_find_first(cpu);
    sched_setaffinity(0, sizeof cpu->allowed, &cpu->allowed);
    const int processors = CPU_COUNT(&cpu->allowed);
    info->multiprocessors = processors;
    cpu->threads = cpu->threads < processors ? cpu->threads : processors;
    limits->multiprocessors =
        limits->multiprocessors < processors ? limits->multiprocessors : processors;
}

static void attach(struct device *device, struct call *call, struct launch_log *log)
{
    (void)device;
    (void)log;
    call->queue = NULL;
}

static void apply(struct device *device, void (*function)(const struct call *),
                  const struct call *call)
{
    (void)device;
    function(call);
}

static void get_ready(struct device *device, const struct trial *trial)
{
    end_openmp_threads();
    cpu_clear_results(trial);
    cpu_set_cache_state(cpu_of(device), trial);
    cpu_of(device)->marked = 0;
}

/* The work of a CPU is done when the call returns: it is never held. */
static void let_go(struct device *device)
{
    (void)device;
}

static void mark(struct device *device)
{
    struct cpu_device *cpu = cpu_of(device);
    cpu->marks_ms[cpu->marked++] = clock_ms();
}

static const char *marked_ms(struct device *device, unsigned from, unsigned to, double *ms)
{
    const struct cpu_device *cpu = cpu_of(device);
    *ms = cpu->marks_ms[to] - cpu->marks_ms[from];
    return NULL;
}

static const char *finish(struct device *device)
{
    (void)device;
    return NULL;
}

const struct member_functions cpu_as_member = {
    .reach = reach,
    .share = share,
    .attach = attach,
    .apply = apply,
    .get_ready = get_ready,
    .let_go = let_go,
    .mark = mark,
    .marked_ms = marked_ms,
    .finish = finish,
};
