/* solve: chooses the algorithm for a call, provides its scratch and runs it. */
#include "solve.h"

#include <stdio.h>

/* Arrays of this alignment can be accessed as the algorithms prefer. */
enum { PACK_BYTES = 16 };

/* ---- Calls ---- */

scanbench_status plan_problem(scanbench_handle *handle, struct problem problem, struct plan *plan)
{
    problem.threads = handle->threads;
    problem.simd = handle->limits.best_simd;
    problem.device = &handle->limits;
    const struct resolved resolved = handle->side->choose(&problem);
    const struct algorithm *algorithm = resolved.algorithm;
    if (algorithm == NULL)
        return SCANBENCH_ERROR_UNSUPPORTED;
    problem.block = resolved.block;
    plan->problem = problem;
    plan->algorithm = algorithm;
    plan->scratch = algorithm->traits & TRAIT_LASTING_SCRATCH ? &handle->lasting : &handle->passing;
    plan->scratch_bytes = algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(&problem) : 0;
    return SCANBENCH_OK;
}

void explain_unsupported(scanbench_handle *handle, struct problem problem)
{
    static const char *const operators[OPERATOR_COUNT] = {
#define OPERATOR(NAME, name, ...) [OPERATOR_##NAME] = #name,
#include "../bench/operators.def"
    };
    static const char *const types[TYPE_COUNT] = {
#define TYPE(NAME, name, ...) [TYPE_##NAME] = #name,
#include "../bench/types.def"
    };
    if (problem.op != OP_SCAN)
        return;
    struct plan ignored;
    char list[128] = "no type";
    size_t length = 0;
    for (int type = 0; type < TYPE_COUNT; type++) {
        problem.type = (enum element_type)type;
        if (takes_type(problem.binary_operator, problem.type) && length < sizeof list &&
            plan_problem(handle, problem, &ignored) == SCANBENCH_OK)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length > 0 ? ", " : "", types[type]);
    }
    refuse(handle, SCANBENCH_ERROR_UNSUPPORTED, "%s: %s%s is there for %s",
           scanbench_status_text(SCANBENCH_ERROR_UNSUPPORTED), operators[problem.binary_operator],
           problem.segments != SEGMENTS_NONE ? " over rows" : "", list);
}

static bool is_prepared(const scanbench_handle *handle, const struct plan *plan)
{
    const struct problem *last = &handle->prepared_for, *problem = &plan->problem;
    return handle->prepared == plan->algorithm && last->type == problem->type &&
           last->kind == problem->kind && last->values == problem->values &&
           last->binary_operator == problem->binary_operator && last->n == problem->n &&
           last->block == problem->block && last->unaligned == problem->unaligned &&
           last->in_place == problem->in_place;
}

/* Lasting scratch needs no preparation beyond its zeros. Other scratch is prepared again for
 * another problem and, once there are graphs, for each call: a graph may have used it since. */
static scanbench_status run(scanbench_handle *handle, const struct plan *plan, struct call *call,
                            void *stream)
{
    if (plan->scratch == &handle->lasting)
        return handle->side->run(handle, plan->algorithm, call, false, stream);
    const bool prepare = handle->captured || !is_prepared(handle, plan);
    if (prepare)
        handle->epoch = 0;
    handle->prepared = NULL;
    call->epoch = ++handle->epoch;
    const scanbench_status status =
        handle->side->run(handle, plan->algorithm, call, prepare, stream);
    if (status == SCANBENCH_OK) {
        handle->prepared = plan->algorithm;
        handle->prepared_for = plan->problem;
    }
    return status;
}

/* Replaces the input by a copy of it, in `memory`, if it is the output as well. */
static scanbench_status copy_input(scanbench_handle *handle, const struct arrays *arrays,
                                   uint64_t n, char *memory, const void **input, void *stream)
{
    if (!is_in_place(arrays))
        return SCANBENCH_OK;
    *input = memory;
    return handle->side->copy(handle, memory, arrays->input, n * arrays->bytes, stream);
}

/* Replaces inputs that the algorithm cannot replace by its output. */
static scanbench_status copy_inputs(scanbench_handle *handle, const struct plan *plan,
                                    struct call *call, const struct task *task, bool capturing)
{
    const size_t bytes = next_place(task->n * task->elements.bytes);
    if (!replaces_input(task) || task->n == 0 || works_in_place(plan->algorithm, &plan->problem))
        return SCANBENCH_OK;
    const size_t others = task->n * (task->values.bytes + task->second.bytes);
    scanbench_status status = grow_scratch(handle, &handle->copy, bytes + others, capturing);
    char *memory = handle->copy.memory;
    if (status == SCANBENCH_OK)
        status = copy_input(handle, &task->elements, task->n, memory, &call->input, task->stream);
    if (status == SCANBENCH_OK)
        status = copy_input(handle, &task->values, task->n, memory + bytes, &call->input_values,
                            task->stream);
    if (status == SCANBENCH_OK)
        status =
            copy_input(handle, &task->second, task->n, memory + bytes, &call->second, task->stream);
    return status;
}

static scanbench_status run_task(scanbench_handle *handle, const struct task *task,
                                 struct problem problem, bool capturing)
{
    struct plan plan;
    void *kept = NULL;
    problem.in_place = replaces_input(task);
    scanbench_status status = plan_problem(handle, problem, &plan);
    if (status == SCANBENCH_ERROR_UNSUPPORTED)
        explain_unsupported(handle, problem);
    if (status == SCANBENCH_OK)
        status = grow_scratch(handle, plan.scratch, plan.scratch_bytes, capturing);
    if (status != SCANBENCH_OK)
        return status;
    struct call call = {.problem = plan.problem,
                        .input = task->elements.input,
                        .output = task->elements.output,
                        .second = task->second.input,
                        .input_values = task->values.input,
                        .output_values = task->values.output,
                        .scratch = plan.scratch->memory,
                        .scratch_bytes = plan.scratch_bytes,
                        .kept = &kept};
    if (task->count != NULL)
        status = handle->side->place_count(handle, task->count, &call.count);
    if (status == SCANBENCH_OK)
        status = copy_inputs(handle, &plan, &call, task, capturing);
    if (status == SCANBENCH_OK)
        status = run(handle, &plan, &call, task->stream);
    if (status == SCANBENCH_OK && call.count != task->count)
        status =
            handle->side->fetch_count(handle, task->count, call.count, task->stream, capturing);
    return status;
}

static scanbench_status check_and_run(scanbench_handle *handle, struct task *task)
{
    struct problem problem;
    bool capturing = false;
    scanbench_status status = begin_problem(handle, task, &problem);
    if (status != SCANBENCH_OK)
        return status;
    task->elements.bytes = element_bytes(problem.type);
    task->values.bytes = value_bytes(problem.values);
    if (problem.binary_operator == OPERATOR_RECURRENCE)
        task->second.bytes = element_bytes(problem.type);
    status = check_task(handle, task);
    if (status == SCANBENCH_OK)
        status = handle->side->enter(handle, task->stream, &capturing);
    if (status != SCANBENCH_OK)
        return status;
    handle->captured |= capturing;
    problem.unaligned = !are_aligned(&task->elements, PACK_BYTES) ||
                        !are_aligned(&task->values, PACK_BYTES) ||
                        !are_aligned(&task->second, PACK_BYTES);
    return run_task(handle, task, problem, capturing);
}

scanbench_status keep_reason(scanbench_handle *handle, scanbench_status status)
{
    if (status != SCANBENCH_OK && handle->error[0] == '\0')
        return refuse(handle, status, "%s", scanbench_status_text(status));
    return status;
}

scanbench_status solve_task(scanbench_handle *handle, struct task task)
{
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    handle->error[0] = '\0';
    return keep_reason(handle, check_and_run(handle, &task));
}
