/* workspace: allocates and restores the buffers of a group. */
#include "workspace.h"

#include "../base/errors.h"

#include <string.h>

static void list_buffers(struct workspace *w, struct buffer *buffers[WORKSPACE_BUFFERS])
{
    struct buffer *const all[WORKSPACE_BUFFERS] = {&w->input,        &w->output, &w->scratch,
                                                   &w->count,        &w->second, &w->input_values,
                                                   &w->output_values};
    memcpy(buffers, all, sizeof all);
}

const char *fill_data(const struct session *session, const struct input *input)
{
    struct device *device = session->device;
    const struct workspace *w = &session->workspace;
    const struct input second = second_input(input);
    const char *why = device->can->fill_input(device, input, w->input.data);
    if (why == NULL && w->second.data != NULL)
        why = device->can->fill_input(device, &second, w->second.data);
    return why;
}

/* Fills the data, and values with the indices of their keys. */
static const char *fill_inputs(const struct run *run)
{
    struct device *device = run->session->device;
    const struct workspace *w = &run->session->workspace;
    const struct input indices = index_input(run->group->values, run->group->n);
    const char *why = fill_data(run->session, &run->input);
    if (why == NULL && run->group->values != VALUES_NONE)
        why = device->can->fill_input(device, &indices, w->input_values.data);
    return why;
}

/* In a team, every device has its slice of an array. */
static const char *allocate_array(struct device *device, uint64_t n, size_t element_bytes,
                                  struct buffer *buffer)
{
    if (device->can->allocate_slices != NULL)
        return device->can->allocate_slices(device, n, element_bytes, buffer);
    return device->can->allocate(device, n * element_bytes, buffer);
}

static const char *allocate_values(const struct run *run)
{
    const struct plan_group *group = run->group;
    struct device *device = run->session->device;
    struct workspace *w = &run->session->workspace;
    const size_t bytes = value_bytes(group->values);
    if (bytes == 0)
        return NULL;
    const char *why = allocate_array(device, group->n, bytes, &w->input_values);
    return why != NULL ? why : allocate_array(device, group->n, bytes, &w->output_values);
}

size_t shared_scratch_bytes(const struct run *run)
{
    size_t most = 0;
    for (size_t e = 0; e < run->group->entry_count; e++) {
        const struct measurement *m = &run->ms[e];
        const size_t its_own = m->done ? 0 : m->task.scratch_bytes;
        most = its_own > most ? its_own : most;
    }
    return most;
}

const char *allocate_workspace(const struct run *run)
{
    const struct plan_group *group = run->group;
    struct device *device = run->session->device;
    struct workspace *w = &run->session->workspace;
    const size_t scratch = shared_scratch_bytes(run);
    const size_t bytes = element_bytes(group->type);
    const char *why = allocate_array(device, group->n, bytes, &w->input);
    if (why == NULL)
        why = allocate_array(device, output_bytes(&run->ms[0].task.problem) / bytes, bytes,
                             &w->output);
    if (why == NULL && scratch > 0)
        why = device->can->allocate(device, scratch, &w->scratch);
    const size_t second = second_bytes(&run->ms[0].task.problem);
    if (why == NULL && second > 0)
        why = device->can->allocate(device, second, &w->second);
    const size_t count = count_bytes(run->session, group->op);
    if (why == NULL && count > 0)
        why = device->can->allocate(device, count, &w->count);
    if (why == NULL)
        why = allocate_values(run);
    return why != NULL ? why : fill_inputs(run);
}

void release_workspace(struct session *session)
{
    struct buffer *buffers[WORKSPACE_BUFFERS];
    list_buffers(&session->workspace, buffers);
    if (session->device == NULL)
        return;
    for (int b = 0; b < WORKSPACE_BUFFERS; b++)
        session->device->can->release(session->device, buffers[b]);
    release_host_arrays(session->device, &session->host);
}

void forget_workspace(struct session *session)
{
    session->workspace = (struct workspace){0};
    forget_host_arrays(session->device, &session->host);
}

const char *restore_workspace(const struct run *run)
{
    struct device *device = run->session->device;
    struct buffer *buffers[WORKSPACE_BUFFERS];
    list_buffers(&run->session->workspace, buffers);
    const char *why = NULL;
    for (int b = 0; b < WORKSPACE_BUFFERS && why == NULL; b++)
        if (buffers[b]->data != NULL)
            why = device->can->write_guards(device, buffers[b]);
    return why != NULL ? why : fill_inputs(run);
}

const char *cut_scratch(const struct run *run, const struct measurement *m)
{
    struct buffer *scratch = &run->session->workspace.scratch;
    const size_t bytes = m->call.scratch_bytes;
    if (bytes > scratch->allocated)
        BUG("%s needs %zu bytes of scratch that has %zu", m->entry->name, bytes,
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
    if (why == NULL && w->output_values.data != NULL)
        why = session->device->can->poison(session->device, &w->output_values);
    return why;
}
