/* cpu_member: the CPU as a member of a team: one process per member. */
#include "cpu_device.h"

#include "../../timing/clock.h"

static const char *reach(struct device *device, struct device *other)
{
    (void)device;
    (void)other;
    return "the members on CPUs are processes of their own";
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
    .attach = attach,
    .apply = apply,
    .get_ready = get_ready,
    .let_go = let_go,
    .mark = mark,
    .marked_ms = marked_ms,
    .finish = finish,
};
