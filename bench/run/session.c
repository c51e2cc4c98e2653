/* session: opens devices and says what an entry needs there. */
#include "session.h"

#include "../../timing/clock.h"
#include "../operations.h"
#include "../choice.h"
#include "../device/guard.h"
#include "../device/host_memory.h"
#include "../device/backends.h"
#include "../device/team_device.h"
#include "../base/errors.h"
#include "../table.h"
#include "../names.h"

#include <stdio.h>

const char *open_session(struct session *session, struct device_choice device,
                         const struct options *options)
{
    if (session->device != NULL && session->which.kind == device.kind &&
        session->which.index == device.index && session->which.members == device.members)
        return NULL;
    close_session(session);
    const struct backend *backend = backend_of(device.kind);
    const char *why = device.members > 0
                          ? open_team(backend, device.index, device.members, options->seed,
                                      &session->info, &session->limits, &session->device)
                          : backend->open(device.index, options->seed, &session->info,
                                          &session->limits, &session->device);
    if (why != NULL)
        return why;
    session->which = device;
    session->limits.kind = device.kind;
    session->limits.name = session->info.name;
    session->max_time_ms = options->sampling.max_time_ms;
    session->host.pinned = options->pinned;
    if (backend->read_driver != NULL)
        backend->read_driver(session->driver, sizeof session->driver);
    return NULL;
}

void close_session(struct session *session)
{
    if (session->device != NULL)
        session->device->can->close(session->device);
    *session = (struct session){0};
}

/* The longest part of n elements that one device holds. */
static uint64_t elements_per_device(const struct session *session, uint64_t n)
{
    return session->limits.members > 0 ? longest_slice(n, session->limits.members) : n;
}

/* Chooses what works within the slices of a team: what `auto` stands for there, or on CPUs
 * `parallel`. */
static void choose_local(const struct session *session, struct problem *problem)
{
    struct problem slice = *problem;
    slice.n = elements_per_device(session, problem->n);
    const struct resolved resolved = resolve_choice(&slice, table_algorithm);
    const struct table_row *row = table_row_named(problem->op, "parallel");
    problem->local = resolved.algorithm;
    if (problem->local == NULL && row != NULL)
        problem->local = row->on[session->limits.kind];
    problem->block = resolved.block;
    problem->scan = problem->local != NULL ? problem->local->over : NULL;
}

struct problem entry_problem(const struct session *session, const struct plan_group *group,
                             const struct plan_entry *entry)
{
    struct problem problem = {
        .op = group->op,
        .type = group->type,
        .kind = group->kind,
        .values = group->values,
        .stable = entry->algorithm != NULL && entry->algorithm->traits & TRAIT_STABLE,
        .n = group->n,
        .whole_n = group->n,
        .block = entry->block > 0 ? entry->block : entry->chosen_block,
        .threads = entry->threads > 0 ? entry->threads : (unsigned)session->limits.multiprocessors,
        .simd = entry->simd != SIMD_AUTO ? entry->simd : session->limits.best_simd,
        .max_time_ms = session->max_time_ms,
        .scan = entry->algorithm != NULL ? entry->algorithm->over : NULL,
        .device = &session->limits,
    };
    const struct input input = make_input(&group->input, &problem);
    problem.kept_share = operation_has(group->op, HAS_KEEP) ? kept_share(&input) : 0;
    if (entry->algorithm != NULL && entry->algorithm->run_slices != NULL)
        choose_local(session, &problem);
    return problem;
}

void resolve_choices(const struct session *session, struct plan_group *group)
{
    for (size_t e = 0; e < group->entry_count; e++) {
        struct plan_entry *entry = &group->entries[e];
        if (!entry->row->is_choice || entry->algorithm == NULL)
            continue;
        const struct problem problem = entry_problem(session, group, entry);
        const struct resolved resolved = resolve_choice(&problem, table_algorithm);
        if (resolved.algorithm == NULL)
            continue;
        entry->algorithm = resolved.algorithm;
        entry->chosen_block = resolved.block;
    }
}

bool format_choice(const struct plan_entry *entry, char *text, size_t size)
{
    if (!entry->row->is_choice)
        return false;
    if (entry->chosen_block > 0)
        snprintf(text, size, "%s block %u", entry->algorithm->name, entry->chosen_block);
    else
        snprintf(text, size, "%s", entry->algorithm->name);
    return true;
}

size_t output_bytes(const struct plan_group *group)
{
    const struct problem problem = {.op = group->op, .n = group->n};
    const uint64_t result = result_elements(&problem);
    return (result > group->n ? result : group->n) * element_bytes(group->type);
}

size_t entry_scratch_bytes(const struct session *session, const struct plan_group *group,
                           const struct plan_entry *entry)
{
    struct problem problem = entry_problem(session, group, entry);
    const struct algorithm *algorithm = entry->algorithm;
    if (algorithm == NULL || algorithm->scratch_bytes == NULL)
        return 0;
    problem.n = elements_per_device(session, problem.n);
    const size_t bytes = algorithm->scratch_bytes(&problem);
    if (algorithm->engine == NULL || algorithm->engine->scratch_bytes == NULL)
        return bytes;
    return next_place(bytes) + algorithm->engine->scratch_bytes(&problem);
}

size_t count_bytes(const struct session *session, const struct plan_group *group)
{
    if (!operation_has(group->op, HAS_COUNT))
        return 0;
    return (session->limits.members > 0 ? 2 : 1) * sizeof(uint64_t);
}

double ms_since(const struct session *session, double start_ms)
{
    const struct backend *can = session->device->can;
    const double ms = clock_ms() - start_ms;
    return can->agree != NULL ? can->agree(session->device, ms) : ms;
}

size_t entry_bytes(const struct session *session, const struct plan_group *group,
                   const struct plan_entry *entry)
{
    struct plan_group part = *group;
    part.n = elements_per_device(session, group->n);
    const size_t input = guarded_bytes(part.n * element_bytes(group->type));
    const size_t output = guarded_bytes(output_bytes(&part));
    const size_t scratch = entry_scratch_bytes(session, group, entry);
    const size_t count = count_bytes(session, group);
    const size_t values = part.n * value_bytes(group->values);
    return input + output + (group->values != VALUES_NONE ? 2 * guarded_bytes(values) : 0) +
           (count > 0 ? guarded_bytes(count) : 0) + (scratch > 0 ? guarded_bytes(scratch) : 0);
}

size_t needed_bytes(const struct session *session, const struct plan_group *group,
                    const struct plan_entry *entry, bool copies)
{
    const struct backend *can = session->device->can;
    const size_t buffers = entry_bytes(session, group, entry);
    const size_t array = group->n * (element_bytes(group->type) + value_bytes(group->values));
    const unsigned traits = entry->algorithm != NULL ? entry->algorithm->traits : 0;
    size_t bytes = buffers + (traits & TRAIT_ALLOCATES_MASK) / TRAIT_ALLOCATES_ONE * array;
    if (can->extra_bytes != NULL)
        bytes += can->extra_bytes(session->device, group->cache, buffers);
    if (copies && can->in_host_memory && can->measure_copies != NULL)
        bytes += 2 * array;
    return bytes;
}

void format_memory_bound(const struct session *session, char text[MEMORY_BOUND_BYTES])
{
    char bytes[32];
    text[0] = '\0';
    if (!session->device->can->in_host_memory)
        return;
    const struct host_memory host = read_host_memory("");
    format_bytes((double)host.limit_bytes, bytes, sizeof bytes);
    if (host.limit[0] != '\0')
        snprintf(text, MEMORY_BOUND_BYTES, " (%s is %s)", host.limit, bytes);
}

const char *entry_unsupported(const struct session *session, const struct plan_group *group,
                              const struct plan_entry *entry)
{
    if (entry->algorithm == NULL)
        return entry->row->on[DEVICE_GPU] == NULL ? "not in this build, which has no CUDA"
                                                  : "calls a library that needs a GPU";
    if (group->values == VALUES_U32 && group->n > (uint64_t)1 << 32)
        return "values are indices, for which u32 is too narrow";
    const struct problem problem = entry_problem(session, group, entry);
    const char *why = why_unsupported(entry->algorithm, &problem);
    struct problem slice = problem;
    slice.n = elements_per_device(session, problem.n);
    if (why == NULL && problem.local != NULL)
        why = why_unsupported(problem.local, &slice);
    if (why == NULL && session->device->can->threads_missing != NULL)
        why = session->device->can->threads_missing(session->device, problem.threads);
    return why;
}

void format_device(struct device_choice device, char *text, size_t size)
{
    const char *name = device_kind_name(device.kind);
    if (backend_of(device.kind)->numbered && device.members == 0)
        snprintf(text, size, "%s%d", name, device.index);
    else
        snprintf(text, size, "%s", name);
}

void format_max(const struct input_spec *input, char *text, size_t size)
{
    if (input->max_text[0] != '\0')
        snprintf(text, size, "%s", input->max_text);
    else
        snprintf(text, size, "%llu", (unsigned long long)input->max);
}

void format_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
}
