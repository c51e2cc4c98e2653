/* task: makes an entry's problem on the open device, and says what it needs there. */
#include "task.h"

#include "../base/text.h"
#include "../choice.h"
#include "../device/guard.h"
#include "../device/operators.h"
#include "../names.h"
#include "../operations.h"
#include "../table.h"

unsigned used_threads(const struct session *session, const struct plan_entry *entry)
{
    return entry->threads > 0 ? entry->threads : (unsigned)session->limits.multiprocessors;
}

enum simd_path used_simd(const struct session *session, const struct plan_entry *entry)
{
    return entry->simd != SIMD_AUTO ? entry->simd : session->limits.best_simd;
}

/* The longest part of the problem that one device has. */
static struct problem slice_of(const struct problem *problem)
{
    struct problem slice = *problem;
    if (problem->device->members > 0)
        slice.n = longest_slice(problem->n, problem->device->members);
    return slice;
}

/* Chooses what works within the slices of a team: what `auto` stands for there, or on CPUs
 * `parallel`. */
static void choose_local(struct problem *problem)
{
    const struct problem slice = slice_of(problem);
    const struct resolved resolved = resolve_choice(&slice, table_algorithm);
    const struct table_row *row = table_row_named(problem->op, "parallel");
    problem->local = resolved.algorithm;
    if (problem->local == NULL && row != NULL)
        problem->local = row->on[problem->device->kind];
    problem->block = resolved.block;
    problem->scan = problem->local != NULL ? problem->local->over : NULL;
}

/* Says that `auto` stands for nothing here, and with which types it would stand for something. */
static void say_unresolved(struct task *task)
{
    char types[128] = "";
    struct problem problem = task->problem;
    for (problem.type = 0; problem.type < TYPE_COUNT; problem.type++)
        if (operator_takes(problem.binary_operator, problem.type) &&
            resolve_choice(&problem, table_algorithm).algorithm != NULL)
            append_text(types, sizeof types, "%s%s", comma_after(types), type_name(problem.type));
    snprintf(task->unresolved, sizeof task->unresolved,
             "auto has no algorithm for %s with operator %s and segments %s; it has one for %s",
             type_name(task->problem.type), operator_name(problem.binary_operator),
             segment_form_name(problem.segments), types[0] != '\0' ? types : "no type");
}

static void choose_algorithm(struct task *task)
{
    const struct resolved resolved = resolve_choice(&task->problem, table_algorithm);
    if (resolved.algorithm == NULL) {
        say_unresolved(task);
        return;
    }
    task->algorithm = resolved.algorithm;
    task->problem.block = resolved.block;
}

static size_t scratch_bytes(const struct task *task)
{
    const struct algorithm *algorithm = task->algorithm;
    const struct problem slice = slice_of(&task->problem);
    if (algorithm->scratch_bytes == NULL)
        return 0;
    const size_t bytes = algorithm->scratch_bytes(&slice);
    if (algorithm->engine == NULL || algorithm->engine->scratch_bytes == NULL)
        return bytes;
    return next_place(bytes) + algorithm->engine->scratch_bytes(&slice);
}

struct task make_task(const struct session *session, const struct plan_group *group,
                      const struct plan_entry *entry)
{
    struct task task = {.algorithm = entry->algorithm, .problem = problem_of(group)};
    struct problem *problem = &task.problem;
    problem->whole_n = group->n;
    problem->block = entry->block;
    problem->threads = used_threads(session, entry);
    problem->simd = used_simd(session, entry);
    problem->max_time_ms = session->max_time_ms;
    problem->device = &session->limits;
    const struct input input = make_input(&group->input, problem);
    problem->kept_share = operation_has(group->op, HAS_KEEP) ? kept_share(&input) : 0;
    if (task.algorithm == NULL)
        return task;
    if (entry->row->is_choice)
        choose_algorithm(&task);
    problem->stable = task.algorithm->traits & TRAIT_STABLE;
    problem->scan = task.algorithm->over;
    problem->algorithm = task.algorithm;
    if (task.algorithm->run_slices != NULL)
        choose_local(problem);
    task.scratch_bytes = scratch_bytes(&task);
    return task;
}

const char *why_impossible(const struct session *session, const struct plan_entry *entry,
                           const struct task *task)
{
    const struct problem *problem = &task->problem;
    if (task->algorithm == NULL)
        return entry->row->on[DEVICE_GPU] == NULL ? "not in this build, which has no CUDA"
                                                  : "calls a library that needs a GPU";
    if (problem->values == VALUES_U32 && problem->n > (uint64_t)1 << 32)
        return "values are indices, for which u32 is too narrow";
    if (problem->device->members > 0 && problem->segments != SEGMENTS_NONE)
        return "several devices do not share an array of segments";
    if (problem->device->members > 0 && problem->binary_operator == OPERATOR_RECURRENCE)
        return "several devices do not share a recurrence";
    const char *why = why_unsupported(task->algorithm, problem);
    if (why == NULL && task->unresolved[0] != '\0')
        why = task->unresolved;
    const struct problem slice = slice_of(problem);
    if (why == NULL && problem->local != NULL)
        why = why_unsupported(problem->local, &slice);
    if (why == NULL && session->device->can->threads_missing != NULL)
        why = session->device->can->threads_missing(session->device, problem->threads);
    return why;
}

size_t output_bytes(const struct problem *problem)
{
    const uint64_t result = result_elements(problem);
    return (result > problem->n ? result : problem->n) * element_bytes(problem->type);
}

size_t count_bytes(const struct session *session, enum operation op)
{
    if (!operation_has(op, HAS_COUNT))
        return 0;
    return (session->limits.members > 0 ? 2 : 1) * sizeof(uint64_t);
}

/* With its guard zones; 0: there is no such buffer. */
static size_t guarded_or_none(size_t bytes)
{
    return bytes > 0 ? guarded_bytes(bytes) : 0;
}

size_t buffer_bytes(const struct session *session, const struct task *task)
{
    const struct problem slice = slice_of(&task->problem);
    const size_t values = slice.n * value_bytes(slice.values);
    return guarded_bytes(slice.n * element_bytes(slice.type)) +
           guarded_bytes(output_bytes(&slice)) +
           (slice.values != VALUES_NONE ? 2 * guarded_bytes(values) : 0) +
           guarded_or_none(second_bytes(&slice)) + guarded_or_none(count_bytes(session, slice.op)) +
           guarded_or_none(task->scratch_bytes);
}

size_t needed_bytes(const struct session *session, const struct task *task, enum cache_state cache,
                    bool copies)
{
    const struct backend *can = session->device->can;
    const struct problem *problem = &task->problem;
    const size_t buffers = buffer_bytes(session, task);
    const size_t array = problem->n * (element_bytes(problem->type) + value_bytes(problem->values));
    const unsigned traits = task->algorithm != NULL ? task->algorithm->traits : 0;
    size_t bytes = buffers + (traits & TRAIT_ALLOCATES_MASK) / TRAIT_ALLOCATES_ONE * array;
    if (can->extra_bytes != NULL)
        bytes += can->extra_bytes(session->device, cache, buffers);
    if (copies && can->in_host_memory && can->measure_copies != NULL)
        bytes += 2 * (array + second_bytes(problem));
    return bytes;
}
