/* task: checks the arguments of a call. */
#include "task.h"

/* The numbers of the types are part of the ABI, and independent of the order in types.def. */
static bool find_type(scanbench_type type, enum element_type *found)
{
    static const enum element_type types[] = {
#define TYPE(NAME, ...) [SCANBENCH_##NAME] = TYPE_##NAME,
#include "../bench/types.def"
    };
    if ((unsigned)type >= sizeof types / sizeof *types)
        return false;
    *found = types[type];
    return true;
}

bool takes_type(enum binary_operator binary_operator, enum element_type type)
{
    static const bool takes[OPERATOR_COUNT][TYPE_COUNT] = {
#define OPERAND(OPERATOR, TYPE, ...) [OPERATOR_##OPERATOR][TYPE_##TYPE] = true,
#include "../bench/operands.def"
#define TYPE(NAME, ...) [OPERATOR_RECURRENCE][TYPE_##NAME] = true,
#include "../bench/types.def"
    };
    return binary_operator < OPERATOR_COUNT && takes[binary_operator][type];
}

enum value_type value_type_of(size_t bytes)
{
    return bytes == sizeof(uint32_t)   ? VALUES_U32
           : bytes == sizeof(uint64_t) ? VALUES_U64
                                       : VALUE_TYPE_COUNT;
}

scanbench_status begin_problem(const struct task *task, struct problem *problem)
{
    *problem = (struct problem){.op = task->op,
                                .kind = task->kind,
                                .binary_operator = task->binary_operator,
                                .values = task->value_type,
                                .n = task->n};
    if (task->op == OPERATION_COUNT || !find_type(task->type, &problem->type) ||
        task->value_type == VALUE_TYPE_COUNT || task->kind >= KIND_COUNT ||
        !takes_type(task->binary_operator, problem->type))
        return SCANBENCH_ERROR_TYPE;
    if (task->row > 0 && task->row < task->n) {
        problem->segments = SEGMENTS_ROWS;
        problem->segment_length = task->row;
        problem->segment_count = task->n / task->row + (task->n % task->row != 0);
    }
    if (why_unsolvable(problem) != NULL)
        return SCANBENCH_ERROR_TYPE;
    const uint64_t most =
        PTRDIFF_MAX / 16 / (element_bytes(problem->type) + value_bytes(problem->values));
    return task->n > most ? SCANBENCH_ERROR_SIZE : SCANBENCH_OK;
}

static bool is_aligned(const void *pointer, size_t bytes)
{
    return (uintptr_t)pointer % bytes == 0;
}

bool are_aligned(const struct arrays *arrays, size_t bytes)
{
    return is_aligned(arrays->input, bytes) && is_aligned(arrays->output, bytes);
}

bool is_in_place(const struct arrays *arrays)
{
    return arrays->bytes > 0 && arrays->input == arrays->output;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return a_bytes > 0 && b_bytes > 0 && (uintptr_t)a < (uintptr_t)b + b_bytes &&
           (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/* Is anything of the others overwritten? */
static bool overwrites(const struct arrays *arrays, const struct arrays *others, uint64_t n)
{
    const size_t bytes = n * arrays->bytes, of_others = n * others->bytes;
    return overlap(arrays->output, bytes, others->input, of_others) ||
           overlap(arrays->output, bytes, others->output, of_others);
}

static scanbench_status check_arrays(const struct arrays *arrays, uint64_t n)
{
    if (arrays->bytes == 0)
        return SCANBENCH_OK;
    if (n > 0 && (arrays->input == NULL || arrays->output == NULL))
        return SCANBENCH_ERROR_NULL;
    if (!are_aligned(arrays, arrays->bytes))
        return SCANBENCH_ERROR_ALIGNMENT;
    return !is_in_place(arrays) &&
                   overlap(arrays->input, n * arrays->bytes, arrays->output, n * arrays->bytes)
               ? SCANBENCH_ERROR_OVERLAP
               : SCANBENCH_OK;
}

/* The count of a compaction lies in neither of its arrays. */
static scanbench_status check_count(const struct task *task)
{
    const struct arrays *elements = &task->elements;
    const size_t bytes = task->n * elements->bytes, count_bytes = sizeof *task->count;
    if (task->op != OP_COMPACT)
        return SCANBENCH_OK;
    if (task->count == NULL)
        return SCANBENCH_ERROR_NULL;
    if (!is_aligned(task->count, count_bytes))
        return SCANBENCH_ERROR_ALIGNMENT;
    return overlap(task->count, count_bytes, elements->input, bytes) ||
                   overlap(task->count, count_bytes, elements->output, bytes)
               ? SCANBENCH_ERROR_OVERLAP
               : SCANBENCH_OK;
}

scanbench_status check_task(const struct task *task)
{
    const struct arrays *elements = &task->elements, *values = &task->values;
    scanbench_status status = check_arrays(elements, task->n);
    if (status == SCANBENCH_OK)
        status = check_arrays(values, task->n);
    if (status == SCANBENCH_OK)
        status = check_arrays(&task->second, task->n);
    if (status == SCANBENCH_OK)
        status = check_count(task);
    if (status != SCANBENCH_OK)
        return status;
    return overwrites(elements, values, task->n) || overwrites(values, elements, task->n)
               ? SCANBENCH_ERROR_OVERLAP
               : SCANBENCH_OK;
}

bool replaces_input(const struct task *task)
{
    return is_in_place(&task->elements) || is_in_place(&task->values) || is_in_place(&task->second);
}
