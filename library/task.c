/* task: checks the arguments of a call. */
#include "task.h"

#include <inttypes.h>

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

/* Is there what the call asks for? */
static scanbench_status find_names(scanbench_handle *handle, const struct task *task,
                                   struct problem *problem)
{
    const scanbench_status status = SCANBENCH_ERROR_TYPE;
    if (task->op == OPERATION_COUNT)
        return refuse(handle, status, "operation is %d: it must be a scanbench_operation",
                      task->given);
    if (task->binary_operator == OPERATOR_COUNT)
        return refuse(handle, status, "op is %d: it must be a scanbench_operator", task->given);
    if (task->kind != SCANBENCH_EXCLUSIVE && task->kind != SCANBENCH_INCLUSIVE)
        return refuse(handle, status, "kind is %d: it must be a scanbench_kind", (int)task->kind);
    if (!find_type(task->type, &problem->type))
        return refuse(handle, status, "type is %d: it must be a scanbench_type", (int)task->type);
    if (!takes_type(task->binary_operator, problem->type))
        return refuse(handle, status, "type is %d: it must be of integers, as op is %d",
                      (int)task->type, task->given);
    if (task->value_type == VALUE_TYPE_COUNT)
        return refuse(handle, status, "value_bytes is %zu: it must be 4 or 8", task->value_bytes);
    return SCANBENCH_OK;
}

scanbench_status begin_problem(scanbench_handle *handle, const struct task *task,
                               struct problem *problem)
{
    *problem = (struct problem){.op = task->op,
                                .kind = task->kind == SCANBENCH_EXCLUSIVE ? KIND_EXCLUSIVE
                                                                          : KIND_INCLUSIVE,
                                .binary_operator = task->binary_operator,
                                .values = task->value_type,
                                .n = task->n};
    const scanbench_status status = find_names(handle, task, problem);
    if (status != SCANBENCH_OK)
        return status;
    if (task->row > 0 && task->row < task->n) {
        problem->segments = SEGMENTS_ROWS;
        problem->segment_length = task->row;
        problem->segment_count = task->n / task->row + (task->n % task->row != 0);
    }
    const char *why = why_unsolvable(problem);
    if (why != NULL)
        return refuse(handle, SCANBENCH_ERROR_TYPE, "type is %d: %s", (int)task->type, why);
    const uint64_t most =
        PTRDIFF_MAX / 16 / (element_bytes(problem->type) + value_bytes(problem->values));
    if (task->n > most)
        return refuse(handle, SCANBENCH_ERROR_SIZE, "n is %" PRIu64 ": it must be at most %" PRIu64,
                      task->n, most);
    return SCANBENCH_OK;
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

/* An argument that is memory. */
struct argument {
    const char *name;
    const void *address;
    size_t bytes;
};

static struct argument input_of(const struct arrays *arrays, uint64_t n)
{
    return (struct argument){arrays->input_name, arrays->input, n * arrays->bytes};
}

static struct argument output_of(const struct arrays *arrays, uint64_t n)
{
    return (struct argument){arrays->output_name, arrays->output, n * arrays->bytes};
}

static scanbench_status check_address(scanbench_handle *handle, struct argument argument,
                                      size_t alignment)
{
    if (argument.bytes > 0 && argument.address == NULL)
        return refuse(handle, SCANBENCH_ERROR_NULL,
                      "%s is NULL: it must be the address of %zu bytes", argument.name,
                      argument.bytes);
    if (!is_aligned(argument.address, alignment))
        return refuse(handle, SCANBENCH_ERROR_ALIGNMENT,
                      "%s is %p: it must be a multiple of %zu, the size of an element",
                      argument.name, argument.address, alignment);
    return SCANBENCH_OK;
}

static scanbench_status check_apart(scanbench_handle *handle, struct argument written,
                                    struct argument other, const char *right)
{
    if (!overlap(written.address, written.bytes, other.address, other.bytes))
        return SCANBENCH_OK;
    return refuse(handle, SCANBENCH_ERROR_OVERLAP, "%s at %p overlaps %s at %p: %s", written.name,
                  written.address, other.name, other.address, right);
}

static scanbench_status check_arrays(scanbench_handle *handle, const struct arrays *arrays,
                                     uint64_t n)
{
    const struct argument input = input_of(arrays, n), output = output_of(arrays, n);
    if (arrays->bytes == 0)
        return SCANBENCH_OK;
    scanbench_status status = check_address(handle, input, arrays->bytes);
    if (status == SCANBENCH_OK)
        status = check_address(handle, output, arrays->bytes);
    if (status == SCANBENCH_OK && !is_in_place(arrays))
        status = check_apart(handle, output, input, "they must be the same or lie apart");
    return status;
}

static const char LIE_APART[] = "they must lie apart";

/* The count of a compaction lies in neither of its arrays. */
static scanbench_status check_count(scanbench_handle *handle, const struct task *task)
{
    const struct argument count = {"count", task->count, sizeof *task->count};
    if (task->op != OP_COMPACT)
        return SCANBENCH_OK;
    scanbench_status status = check_address(handle, count, count.bytes);
    if (status == SCANBENCH_OK)
        status = check_apart(handle, count, input_of(&task->elements, task->n), LIE_APART);
    if (status == SCANBENCH_OK)
        status = check_apart(handle, count, output_of(&task->elements, task->n), LIE_APART);
    return status;
}

/* Is nothing of the others overwritten? */
static scanbench_status check_others(scanbench_handle *handle, const struct arrays *arrays,
                                     const struct arrays *others, uint64_t n)
{
    const struct argument output = output_of(arrays, n);
    const scanbench_status status = check_apart(handle, output, input_of(others, n), LIE_APART);
    return status == SCANBENCH_OK ? check_apart(handle, output, output_of(others, n), LIE_APART)
                                  : status;
}

scanbench_status check_task(scanbench_handle *handle, const struct task *task)
{
    const struct arrays *elements = &task->elements, *values = &task->values;
    scanbench_status status = check_arrays(handle, elements, task->n);
    if (status == SCANBENCH_OK)
        status = check_arrays(handle, values, task->n);
    if (status == SCANBENCH_OK)
        status = check_arrays(handle, &task->second, task->n);
    if (status == SCANBENCH_OK)
        status = check_count(handle, task);
    if (status == SCANBENCH_OK)
        status = check_others(handle, elements, values, task->n);
    if (status == SCANBENCH_OK)
        status = check_others(handle, values, elements, task->n);
    return status;
}

bool replaces_input(const struct task *task)
{
    return is_in_place(&task->elements) || is_in_place(&task->values) || is_in_place(&task->second);
}
