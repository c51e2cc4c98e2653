/* session: opens devices and says what an entry needs there. */
#include "session.h"

#include "../operations.h"
#include "../choice.h"
#include "../device/guard.h"
#include "../device/backends.h"
#include "../errors.h"
#include "../names.h"

#include <stdio.h>

/* Clocks that cannot be locked do not prevent the run: its rows say what they were. */
static void lock_clocks(struct session *session)
{
    const char *why = lock_gpu_clocks(session->info.pci_bus_id, &session->clocks);
    char device[16];
    format_device(session->which, device, sizeof device);
    if (why != NULL)
        complain("--lock-clocks: %s: %s; its clocks stay as they are", device, why);
}

const char *open_session(struct session *session, struct device_choice device,
                         const struct options *options)
{
    if (session->device != NULL && session->which.kind == device.kind &&
        session->which.index == device.index)
        return NULL;
    close_session(session);
    const struct backend *backend = backend_of(device.kind);
    const char *why = backend->open(device.index, options->input.seed, &session->info,
                                    &session->limits, &session->device);
    if (why != NULL)
        return why;
    session->which = device;
    session->limits.kind = device.kind;
    session->limits.name = session->info.name;
    session->max_time_ms = options->sampling.max_time_ms;
    session->input = options->input;
    session->host.pinned = options->pinned;
    if (backend->read_driver != NULL)
        backend->read_driver(session->driver, sizeof session->driver);
    if (options->lock_clocks && backend->read_driver != NULL)
        lock_clocks(session);
    return NULL;
}

void close_session(struct session *session)
{
    unlock_gpu_clocks(&session->clocks);
    if (session->device != NULL)
        session->device->can->close(session->device);
    *session = (struct session){0};
}

struct problem entry_problem(const struct session *session, const struct plan_group *group,
                             const struct plan_entry *entry)
{
    struct problem problem = {
        .op = group->op,
        .type = group->type,
        .kind = group->kind,
        .n = group->n,
        .block = entry->block > 0 ? entry->block : entry->chosen_block,
        .threads = entry->threads > 0 ? entry->threads : (unsigned)session->limits.multiprocessors,
        .simd = entry->simd != SIMD_AUTO ? entry->simd : session->limits.best_simd,
        .max_time_ms = session->max_time_ms,
        .scan = entry->algorithm != NULL ? entry->algorithm->over : NULL,
        .device = &session->limits,
    };
    const struct input input = make_input(&session->input, &problem);
    problem.kept_share = operation_has(group->op, HAS_KEEP) ? kept_share(&input) : 0;
    return problem;
}

void resolve_choices(const struct session *session, struct plan_group *group)
{
    for (size_t e = 0; e < group->entry_count; e++) {
        struct plan_entry *entry = &group->entries[e];
        if (!entry->row->is_choice || entry->algorithm == NULL)
            continue;
        const struct problem problem = entry_problem(session, group, entry);
        const struct resolved resolved = resolve_choice(&problem);
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
    const struct problem problem = entry_problem(session, group, entry);
    if (entry->algorithm == NULL || entry->algorithm->scratch_bytes == NULL)
        return 0;
    return entry->algorithm->scratch_bytes(&problem);
}

size_t entry_bytes(const struct session *session, const struct plan_group *group,
                   const struct plan_entry *entry)
{
    const size_t input = guarded_bytes(group->n * element_bytes(group->type));
    const size_t output = guarded_bytes(output_bytes(group));
    const size_t scratch = entry_scratch_bytes(session, group, entry);
    const size_t count = operation_has(group->op, HAS_COUNT) ? guarded_bytes(sizeof(uint64_t)) : 0;
    return input + output + count + (scratch > 0 ? guarded_bytes(scratch) : 0);
}

const char *entry_unsupported(const struct session *session, const struct plan_group *group,
                              const struct plan_entry *entry)
{
    if (entry->algorithm == NULL)
        return entry->row->on[DEVICE_GPU] == NULL ? "not in this build, which has no CUDA"
                                                  : "calls a library that needs a GPU";
    const struct problem problem = entry_problem(session, group, entry);
    const char *why =
        entry->algorithm->supports != NULL ? entry->algorithm->supports(&problem) : NULL;
    if (why == NULL && session->device->can->threads_missing != NULL)
        why = session->device->can->threads_missing(session->device, problem.threads);
    return why;
}

void format_device(struct device_choice device, char *text, size_t size)
{
    const char *name = device_kind_name(device.kind);
    if (backend_of(device.kind)->numbered)
        snprintf(text, size, "%s%d", name, device.index);
    else
        snprintf(text, size, "%s", name);
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
