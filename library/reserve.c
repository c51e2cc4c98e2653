/* reserve: provides the scratch of later calls. */
#include "solve.h"

/* The largest power of two, or 3/4 of one, below n; or 0. */
static uint64_t step_below(uint64_t n)
{
    const uint64_t power = n > 1 ? (uint64_t)1 << (63 - __builtin_clzll(n - 1)) : 0;
    return power + power / 2 < n ? power + power / 2 : power;
}

/* The scratch that calls of some kind need at most. */
struct needs {
    size_t passing, lasting;
};

/* For n, and for steps below it: fewer elements, or the same in place, may need another algorithm
 * that needs more. The steps are the limits of most choices of sorts. */
static scanbench_status add_needs(scanbench_handle *handle, struct problem problem,
                                  struct needs *needs)
{
    scanbench_status status = SCANBENCH_OK;
    for (; problem.n > 0 && status == SCANBENCH_OK; problem.n = step_below(problem.n))
        for (int kind = 0; kind < 4 && status == SCANBENCH_OK; kind++) {
            struct plan plan = {0};
            problem.unaligned = kind % 2;
            problem.in_place = kind / 2;
            status = plan_problem(handle, problem, &plan);
            size_t *most = plan.scratch == &handle->lasting ? &needs->lasting : &needs->passing;
            if (status == SCANBENCH_OK && plan.scratch_bytes > *most)
                *most = plan.scratch_bytes;
        }
    return status;
}

/* What is reserved together: scans by several operators, of one row and of many. */
struct reserved {
    enum operation op;
    enum binary_operator first, last;
    bool rows;
};

/* Fails only if the device supports nothing of it, and then says what it has of one row. */
static scanbench_status find_needs(scanbench_handle *handle, const struct reserved *reserved,
                                   const struct problem *of_one_row, struct needs *needs)
{
    scanbench_status found = SCANBENCH_ERROR_UNSUPPORTED;
    for (int o = (int)reserved->first; o <= (int)reserved->last; o++)
        for (int rows = 0; rows <= (reserved->rows ? 1 : 0); rows++) {
            struct problem problem = *of_one_row;
            problem.binary_operator = (enum binary_operator)o;
            if (rows) {
                problem.segments = SEGMENTS_ROWS;
                problem.segment_length = 1;
                problem.segment_count = problem.n;
            }
            if (takes_type(problem.binary_operator, problem.type) &&
                add_needs(handle, problem, needs) == SCANBENCH_OK)
                found = SCANBENCH_OK;
        }
    if (found != SCANBENCH_OK)
        explain_unsupported(handle, *of_one_row);
    return found;
}

static scanbench_status check_and_reserve(scanbench_handle *handle, const struct reserved *reserved,
                                          const struct task *task)
{
    struct problem problem;
    struct needs needs = {0};
    bool capturing = false;
    scanbench_status status = begin_problem(handle, task, &problem);
    if (status == SCANBENCH_OK)
        status = handle->side->enter(handle, NULL, &capturing);
    if (status == SCANBENCH_OK)
        status = find_needs(handle, reserved, &problem, &needs);
    if (status == SCANBENCH_OK)
        status = grow_scratch(handle, &handle->passing, needs.passing, capturing);
    if (status == SCANBENCH_OK)
        status = grow_scratch(handle, &handle->lasting, needs.lasting, capturing);
    return status;
}

static scanbench_status reserve(scanbench_handle *handle, const struct reserved *reserved,
                                struct task task)
{
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    handle->error[0] = '\0';
    task.op = reserved->op;
    task.binary_operator = reserved->first;
    return keep_reason(handle, check_and_reserve(handle, reserved, &task));
}

scanbench_status scanbench_reserve(scanbench_handle *handle, scanbench_operation operation,
                                   scanbench_type type, uint64_t n)
{
    static const struct reserved operations[] = {
        [SCANBENCH_SUM] = {OP_SCAN, OPERATOR_SUM, OPERATOR_SUM, false},
        [SCANBENCH_COMPACT] = {OP_COMPACT, OPERATOR_SUM, OPERATOR_SUM, false},
        [SCANBENCH_SORT] = {OP_SORT, OPERATOR_SUM, OPERATOR_SUM, false},
        [SCANBENCH_SCAN] = {OP_SCAN, OPERATOR_SUM, OPERATOR_RECURRENCE - 1, true},
        [SCANBENCH_LINEAR_RECURRENCE] = {OP_SCAN, OPERATOR_RECURRENCE, OPERATOR_RECURRENCE, true},
    };
    static const struct reserved unknown = {.op = OPERATION_COUNT};
    const bool is_known = (unsigned)operation < sizeof operations / sizeof *operations;
    const struct task task = {.given = (int)operation, .type = type, .n = n};
    return reserve(handle, is_known ? &operations[operation] : &unknown, task);
}

scanbench_status scanbench_reserve_pairs(scanbench_handle *handle, scanbench_type type,
                                         size_t value_bytes, uint64_t n)
{
    static const struct reserved pairs = {.op = OP_SORT};
    const struct task task = {
        .type = type, .value_type = value_type_of(value_bytes), .value_bytes = value_bytes, .n = n};
    return reserve(handle, &pairs, task);
}
