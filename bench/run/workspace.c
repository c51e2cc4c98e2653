/* workspace: allocates and restores the buffers of a group. */
#include "workspace.h"

#include "../errors.h"

/* In a team, every device has its slice of an array. */
static const char *allocate_array(struct device *device, enum element_type type, uint64_t n,
                                  struct buffer *buffer)
{
    if (device->can->allocate_slices != NULL)
        return device->can->allocate_slices(device, n, element_bytes(type), buffer);
    return device->can->allocate(device, n * element_bytes(type), buffer);
}

const char *allocate_workspace(const struct group_run *run)
{
    const struct plan_group *group = run->group;
    struct device *device = run->session->device;
    struct workspace *w = &run->session->workspace;
    size_t scratch = 0;
    for (size_t e = 0; e < group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        const size_t bytes = m->done ? 0 : entry_scratch_bytes(run->session, group, m->entry);
        scratch = bytes > scratch ? bytes : scratch;
    }
    const char *why = allocate_array(device, group->type, group->n, &w->input);
    if (why == NULL)
        why = allocate_array(device, group->type, output_bytes(group) / element_bytes(group->type),
                             &w->output);
    if (why == NULL && scratch > 0)
        why = device->can->allocate(device, scratch, &w->scratch);
    const size_t count = count_bytes(run->session, group);
    if (why == NULL && count > 0)
        why = device->can->allocate(device, count, &w->count);
    return why != NULL ? why : device->can->fill_input(device, &run->input, w->input.data);
}

void release_workspace(struct session *session)
{
    struct workspace *w = &session->workspace;
    struct buffer *const buffers[] = {&w->input, &w->output, &w->scratch, &w->count};
    if (session->device == NULL)
        return;
    for (int b = 0; b < 4; b++)
        session->device->can->release(session->device, buffers[b]);
    release_host_arrays(session->device, &session->host);
}

void forget_workspace(struct session *session)
{
    session->workspace = (struct workspace){0};
    forget_host_arrays(session->device, &session->host);
}

const char *restore_workspace(const struct group_run *run)
{
    struct device *device = run->session->device;
    const struct workspace *w = &run->session->workspace;
    const struct buffer *const buffers[] = {&w->input, &w->output, &w->scratch, &w->count};
    const char *why = NULL;
    for (int b = 0; b < 4 && why == NULL; b++)
        if (buffers[b]->data != NULL)
            why = device->can->write_guards(device, buffers[b]);
    return why != NULL ? why : device->can->fill_input(device, &run->input, w->input.data);
}

const char *cut_scratch(const struct group_run *run, const struct measurement *m)
{
    struct buffer *scratch = &run->session->workspace.scratch;
    const size_t bytes = m->call.scratch_bytes;
    if (bytes > scratch->allocated)
        BUG("%s needs %zu bytes of scratch that has %zu", m->entry->row->name, bytes,
            scratch->allocated);
    return scratch->data != NULL
               ? run->session->device->can->resize(run->session->device, scratch, bytes)
               : NULL;
}

const char *poison_results(const struct session *session)
{
    const struct workspace *w = &session->workspace;
    const char *why = session->device->can->poison(session->device, &w->output);
    if (why == NULL && w->count.data != NULL)
        why = session->device->can->poison(session->device, &w->count);
    return why;
}
