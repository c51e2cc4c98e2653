/* scanbench: checks the arguments of a call, chooses the algorithm, and provides its scratch. */
#include "handle.h"

#include "../bench/least_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of this alignment can be accessed as the algorithms prefer. */
enum { PACK_BYTES = 16 };

/* What a call reads, and what it writes: the elements, or the values that move with them, or the
 * second input of a recurrence with its result. */
struct arrays {
    const void *input;
    void *output;
    size_t bytes; /* of an element; 0: there are no such arrays */
};

/* One call, as the user makes it. */
struct task {
    enum operation op;
    enum scan_kind kind;
    enum binary_operator binary_operator;
    scanbench_type type;
    enum value_type value_type;             /* sort of pairs */
    struct arrays elements, values, second; /* `bytes` follow from the types */
    uint64_t *count;                        /* compaction; else NULL */
    uint64_t n, row;
    void *stream;
};

/* ---- Checks ---- */

/* The numbers of the types are part of the ABI, and independent of the order in types.def. */
static bool find_type(scanbench_type type, enum operation op, enum element_type *found)
{
    static const enum element_type types[] = {
#define TYPE(NAME, ...) [SCANBENCH_##NAME] = TYPE_##NAME,
#include "../bench/types.def"
    };
    if ((unsigned)type >= sizeof types / sizeof *types || op == OPERATION_COUNT)
        return false;
    *found = types[type];
    return element_bytes(*found) >= least_bytes(op);
}

/* Is the operator defined on elements of that type? */
static bool takes_type(enum binary_operator binary_operator, enum element_type type)
{
    static const bool takes[OPERATOR_COUNT][TYPE_COUNT] = {
#define OPERAND(OPERATOR, TYPE, ...) [OPERATOR_##OPERATOR][TYPE_##TYPE] = true,
#include "../bench/operands.def"
#define TYPE(NAME, ...) [OPERATOR_RECURRENCE][TYPE_##NAME] = true,
#include "../bench/types.def"
    };
    return binary_operator < OPERATOR_COUNT && takes[binary_operator][type];
}

/* VALUE_TYPE_COUNT: there are no values of that size. */
static enum value_type value_type_of(size_t bytes)
{
    return bytes == sizeof(uint32_t)   ? VALUES_U32
           : bytes == sizeof(uint64_t) ? VALUES_U64
                                       : VALUE_TYPE_COUNT;
}

/* Begins a problem by what its call says. There are so few elements that no number of bytes that
 * follows from theirs wraps. */
static scanbench_status begin_problem(const struct task *task, struct problem *problem)
{
    *problem = (struct problem){.op = task->op,
                                .kind = task->kind,
                                .binary_operator = task->binary_operator,
                                .values = task->value_type,
                                .n = task->n};
    if (!find_type(task->type, task->op, &problem->type) || task->value_type == VALUE_TYPE_COUNT ||
        task->kind >= KIND_COUNT || !takes_type(task->binary_operator, problem->type))
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

static bool are_aligned(const struct arrays *arrays, size_t bytes)
{
    return is_aligned(arrays->input, bytes) && is_aligned(arrays->output, bytes);
}

static bool is_in_place(const struct arrays *arrays)
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

static scanbench_status check_task(const struct task *task)
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

static bool replaces_input(const struct task *task)
{
    return is_in_place(&task->elements) || is_in_place(&task->values) || is_in_place(&task->second);
}

/* ---- Scratch ---- */

/* What has been captured may run at any time, so its scratch stays. */
static scanbench_status give_back(scanbench_handle *handle, struct scratch *scratch)
{
    if (scratch->memory != NULL && handle->captured) {
        struct retired *retired = malloc(sizeof *retired);
        if (retired == NULL)
            return SCANBENCH_ERROR_MEMORY;
        *retired = (struct retired){scratch->memory, handle->retired};
        handle->retired = retired;
    } else if (scratch->memory != NULL) {
        handle->side->release(handle, scratch->memory);
    }
    *scratch = (struct scratch){0};
    return SCANBENCH_OK;
}

/* More than is asked for: a smaller problem may need more, since other shapes of an algorithm are
 * chosen for it. library_test looks for one that needs more than this. */
static size_t with_spare(size_t bytes)
{
    const size_t least = 1 << 20, most = 32 << 20, share = bytes / 16;
    return bytes + (share < least ? least : share > most ? most : share);
}

static scanbench_status grow(scanbench_handle *handle, struct scratch *scratch, size_t bytes,
                             bool capturing)
{
    if (bytes <= scratch->bytes)
        return SCANBENCH_OK;
    if (capturing)
        return SCANBENCH_ERROR_SCRATCH;
    if (scratch == &handle->passing)
        handle->prepared = NULL;
    scanbench_status status = give_back(handle, scratch);
    if (status == SCANBENCH_OK)
        status = handle->side->allocate(handle, with_spare(bytes), &scratch->memory);
    if (status == SCANBENCH_OK)
        scratch->bytes = with_spare(bytes);
    return status;
}

/* ---- Calls ---- */

/* What is done for a problem. */
struct plan {
    struct problem problem;
    const struct algorithm *algorithm;
    struct scratch *scratch;
    size_t scratch_bytes;
};

/* Completes a problem by what the handle knows, and chooses the algorithm. */
static scanbench_status make_plan(scanbench_handle *handle, struct problem problem, bool in_place,
                                  struct plan *plan)
{
    problem.threads = handle->threads;
    problem.simd = handle->limits.best_simd;
    problem.device = &handle->limits;
    const struct resolved resolved = handle->side->choose(&problem, in_place);
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

/* Says what the device takes of what a call asks for: of these operators or rows, which types. */
static void explain_unsupported(scanbench_handle *handle, struct problem problem)
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
            make_plan(handle, problem, false, &ignored) == SCANBENCH_OK)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length > 0 ? ", " : "", types[type]);
    }
    snprintf(handle->error, sizeof handle->error, "%s: %s%s is there for %s",
             scanbench_status_text(SCANBENCH_ERROR_UNSUPPORTED), operators[problem.binary_operator],
             problem.segments != SEGMENTS_NONE ? " over rows" : "", list);
}

static bool is_prepared(const scanbench_handle *handle, const struct plan *plan)
{
    const struct problem *last = &handle->prepared_for, *problem = &plan->problem;
    return handle->prepared == plan->algorithm && last->type == problem->type &&
           last->kind == problem->kind && last->values == problem->values &&
           last->binary_operator == problem->binary_operator && last->n == problem->n &&
           last->block == problem->block && last->unaligned == problem->unaligned;
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
    scanbench_status status = grow(handle, &handle->copy, bytes + others, capturing);
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
    scanbench_status status = make_plan(handle, problem, replaces_input(task), &plan);
    if (status == SCANBENCH_ERROR_UNSUPPORTED)
        explain_unsupported(handle, problem);
    if (status == SCANBENCH_OK)
        status = grow(handle, plan.scratch, plan.scratch_bytes, capturing);
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
    scanbench_status status = begin_problem(task, &problem);
    if (status != SCANBENCH_OK)
        return status;
    task->elements.bytes = element_bytes(problem.type);
    task->values.bytes = value_bytes(problem.values);
    if (problem.binary_operator == OPERATOR_RECURRENCE)
        task->second.bytes = element_bytes(problem.type);
    status = check_task(task);
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

/* Keeps the reason of a failure with the handle, if that is not known better there. */
static scanbench_status explained(scanbench_handle *handle, scanbench_status status)
{
    if (status != SCANBENCH_OK && handle->error[0] == '\0')
        snprintf(handle->error, sizeof handle->error, "%s", scanbench_status_text(status));
    return status;
}

static scanbench_status solve(scanbench_handle *handle, struct task task)
{
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    handle->error[0] = '\0';
    return explained(handle, check_and_run(handle, &task));
}

/* ---- The interface ---- */

int scanbench_version(void)
{
    return SCANBENCH_VERSION;
}

const char *scanbench_status_text(scanbench_status status)
{
    static const char *const texts[] = {
        [SCANBENCH_OK] = "no error",
        [SCANBENCH_ERROR_NULL] = "a pointer is NULL that must not be",
        [SCANBENCH_ERROR_TYPE] =
            "no such type, operator, operation or size of values, or not a type of the operation",
        [SCANBENCH_ERROR_SIZE] = "more elements than can be addressed",
        [SCANBENCH_ERROR_ALIGNMENT] = "a pointer is not aligned to its elements",
        [SCANBENCH_ERROR_OVERLAP] =
            "an output or the count overlaps another array, and is not its own input",
        [SCANBENCH_ERROR_DEVICE] = "the handle's device is not the current one",
        [SCANBENCH_ERROR_STREAM] = "a handle of the CPU takes no stream",
        [SCANBENCH_ERROR_SCRATCH] =
            "more scratch memory is needed than was reserved before the capture",
        [SCANBENCH_ERROR_MEMORY] = "scratch memory cannot be allocated",
        [SCANBENCH_ERROR_UNSUPPORTED] = "no algorithm supports this on this device",
        [SCANBENCH_ERROR_NO_DEVICE] = "there is no such GPU, or the library has no CUDA",
        [SCANBENCH_ERROR_CUDA] = "the CUDA runtime reported an error",
        [SCANBENCH_ERROR_THREADS] = "more threads than SCANBENCH_MAX_THREADS",
    };
    return (unsigned)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}

const char *scanbench_error(const scanbench_handle *handle)
{
    return handle != NULL ? handle->error : "";
}

scanbench_status create_handle(scanbench_handle **handle, const struct side *side, unsigned number)
{
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    *handle = NULL;
    scanbench_handle *created = calloc(1, sizeof *created);
    if (created == NULL)
        return SCANBENCH_ERROR_MEMORY;
    created->side = side;
    const scanbench_status status = side->open(created, number);
    created->limits.kind = side->kind;
    created->limits.name = created->name;
    if (status == SCANBENCH_OK)
        *handle = created;
    else
        scanbench_destroy(created);
    return status;
}

scanbench_status scanbench_create_gpu(scanbench_handle **handle, int device)
{
    const struct side *side = &gpu_side != NULL ? &gpu_side : &emulated_side;
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    *handle = NULL;
    if (side == NULL || device < 0)
        return SCANBENCH_ERROR_NO_DEVICE;
    return create_handle(handle, side, (unsigned)device);
}

scanbench_status scanbench_create_cpu(scanbench_handle **handle, unsigned threads)
{
    return create_handle(handle, &cpu_side, threads);
}

void scanbench_destroy(scanbench_handle *handle)
{
    if (handle == NULL)
        return;
    handle->captured = false; /* no graph may be launched any more */
    struct scratch *const all[] = {&handle->lasting, &handle->passing, &handle->copy};
    for (int s = 0; s < 3; s++)
        give_back(handle, all[s]);
    while (handle->retired != NULL) {
        struct retired *retired = handle->retired;
        handle->retired = retired->older;
        handle->side->release(handle, retired->memory);
        free(retired);
    }
    handle->side->close(handle);
    free(handle);
}

/* The largest power of two below n, or 0. */
static uint64_t power_of_two_below(uint64_t n)
{
    return n > 1 ? (uint64_t)1 << (63 - __builtin_clzll(n - 1)) : 0;
}

/* The scratch that calls of some kind need at most. */
struct needs {
    size_t passing, lasting;
};

/* For n, and for the powers of two below, where the choices of sorts change: of fewer elements,
 * another algorithm may need more. */
static scanbench_status add_needs(scanbench_handle *handle, struct problem problem,
                                  struct needs *needs)
{
    scanbench_status status = SCANBENCH_OK;
    for (; problem.n > 0 && status == SCANBENCH_OK; problem.n = power_of_two_below(problem.n))
        for (int unaligned = 0; unaligned < 2 && status == SCANBENCH_OK; unaligned++) {
            struct plan plan = {0};
            problem.unaligned = unaligned;
            status = make_plan(handle, problem, false, &plan);
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
                                          scanbench_type type, enum value_type values, uint64_t n)
{
    const struct task task = {.op = reserved->op,
                              .binary_operator = reserved->first,
                              .type = type,
                              .value_type = values,
                              .n = n};
    struct problem problem;
    struct needs needs = {0};
    bool capturing = false;
    scanbench_status status = begin_problem(&task, &problem);
    if (status == SCANBENCH_OK)
        status = handle->side->enter(handle, NULL, &capturing);
    if (status == SCANBENCH_OK)
        status = find_needs(handle, reserved, &problem, &needs);
    if (status == SCANBENCH_OK)
        status = grow(handle, &handle->passing, needs.passing, capturing);
    if (status == SCANBENCH_OK)
        status = grow(handle, &handle->lasting, needs.lasting, capturing);
    return status;
}

static scanbench_status reserve(scanbench_handle *handle, const struct reserved *reserved,
                                scanbench_type type, enum value_type values, uint64_t n)
{
    if (handle == NULL)
        return SCANBENCH_ERROR_NULL;
    handle->error[0] = '\0';
    return explained(handle, check_and_reserve(handle, reserved, type, values, n));
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
    return reserve(handle, is_known ? &operations[operation] : &unknown, type, VALUES_NONE, n);
}

scanbench_status scanbench_reserve_pairs(scanbench_handle *handle, scanbench_type type,
                                         size_t value_bytes, uint64_t n)
{
    static const struct reserved pairs = {.op = OP_SORT};
    return reserve(handle, &pairs, type, value_type_of(value_bytes), n);
}

size_t scanbench_scratch_bytes(const scanbench_handle *handle)
{
    return handle != NULL ? handle->lasting.bytes + handle->passing.bytes + handle->copy.bytes : 0;
}

scanbench_status scanbench_scan(scanbench_handle *handle, scanbench_operator op,
                                scanbench_type type, scanbench_kind kind, const void *input,
                                void *output, uint64_t n, uint64_t row, void *stream)
{
    /* The numbers are part of the ABI. */
    static const enum binary_operator operators[] = {
#define TWO_INPUT_OPERATOR(...)
#define OPERATOR(NAME, ...) [SCANBENCH_OPERATOR_##NAME] = OPERATOR_##NAME,
#include "../bench/operators.def"
    };
    const bool is_known = (unsigned)op < sizeof operators / sizeof *operators;
    const struct task task = {.op = OP_SCAN,
                              .kind = kind == SCANBENCH_EXCLUSIVE   ? KIND_EXCLUSIVE
                                      : kind == SCANBENCH_INCLUSIVE ? KIND_INCLUSIVE
                                                                    : KIND_COUNT,
                              .binary_operator = is_known ? operators[op] : OPERATOR_COUNT,
                              .type = type,
                              .elements = {.input = input, .output = output},
                              .n = n,
                              .row = row,
                              .stream = stream};
    return solve(handle, task);
}

scanbench_status scanbench_exclusive_sum(scanbench_handle *handle, scanbench_type type,
                                         const void *input, void *output, uint64_t n, void *stream)
{
    return scanbench_scan(handle, SCANBENCH_OPERATOR_SUM, type, SCANBENCH_EXCLUSIVE, input, output,
                          n, 0, stream);
}

scanbench_status scanbench_inclusive_sum(scanbench_handle *handle, scanbench_type type,
                                         const void *input, void *output, uint64_t n, void *stream)
{
    return scanbench_scan(handle, SCANBENCH_OPERATOR_SUM, type, SCANBENCH_INCLUSIVE, input, output,
                          n, 0, stream);
}

scanbench_status scanbench_linear_recurrence(scanbench_handle *handle, scanbench_type type,
                                             const void *a, const void *b, void *h, uint64_t n,
                                             uint64_t row, void *stream)
{
    const struct task task = {.op = OP_SCAN,
                              .kind = KIND_INCLUSIVE,
                              .binary_operator = OPERATOR_RECURRENCE,
                              .type = type,
                              .elements = {.input = a, .output = h},
                              .second = {.input = b, .output = h},
                              .n = n,
                              .row = row,
                              .stream = stream};
    return solve(handle, task);
}

scanbench_status scanbench_compact_nonzero(scanbench_handle *handle, scanbench_type type,
                                           const void *input, void *output, uint64_t *count,
                                           uint64_t n, void *stream)
{
    const struct task task = {.op = OP_COMPACT,
                              .type = type,
                              .elements = {.input = input, .output = output},
                              .count = count,
                              .n = n,
                              .stream = stream};
    return solve(handle, task);
}

scanbench_status scanbench_sort_keys(scanbench_handle *handle, scanbench_type type,
                                     const void *input, void *output, uint64_t n, void *stream)
{
    const struct task task = {.op = OP_SORT,
                              .type = type,
                              .elements = {.input = input, .output = output},
                              .n = n,
                              .stream = stream};
    return solve(handle, task);
}

scanbench_status scanbench_sort_pairs(scanbench_handle *handle, scanbench_type type,
                                      const void *input, void *output, size_t value_bytes,
                                      const void *input_values, void *output_values, uint64_t n,
                                      void *stream)
{
    const struct task task = {.op = OP_SORT,
                              .type = type,
                              .value_type = value_type_of(value_bytes),
                              .elements = {.input = input, .output = output},
                              .values = {.input = input_values, .output = output_values},
                              .n = n,
                              .stream = stream};
    return solve(handle, task);
}
