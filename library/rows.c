/* rows: the library as rows of the program, on the CPU. */
#include "rows.h"

static scanbench_type type_of(enum element_type type)
{
    static const scanbench_type types[TYPE_COUNT] = {
#define TYPE(NAME, ...) [TYPE_##NAME] = SCANBENCH_##NAME,
#include "../bench/types.def"
    };
    return types[type];
}

static scanbench_operation operation_of(const struct problem *p)
{
    if (p->op != OP_SCAN)
        return p->op == OP_COMPACT ? SCANBENCH_COMPACT : SCANBENCH_SORT;
    if (p->binary_operator == OPERATOR_RECURRENCE)
        return SCANBENCH_LINEAR_RECURRENCE;
    return p->binary_operator == OPERATOR_SUM && p->segments == SEGMENTS_NONE ? SCANBENCH_SUM
                                                                              : SCANBENCH_SCAN;
}

static scanbench_status reserve(const struct call *call)
{
    const struct problem *p = &call->problem;
    if (p->values != VALUES_NONE)
        return scanbench_reserve_pairs(*call->kept, type_of(p->type), value_bytes(p->values), p->n);
    return scanbench_reserve(*call->kept, operation_of(p), type_of(p->type), p->n);
}

scanbench_status open_row(const struct call *call, const struct side *side, unsigned number)
{
    scanbench_handle *handle = *call->kept;
    scanbench_status status = SCANBENCH_OK;
    if (handle == NULL)
        status = create_handle(&handle, side, number);
    *call->kept = handle;
    return status == SCANBENCH_OK ? reserve(call) : status;
}

/* Without segments a row's length is 0, as the library has it. */
static scanbench_status run_scan(const struct call *call, void *stream)
{
    static const scanbench_operator operators[OPERATOR_COUNT] = {
#define TWO_INPUT_OPERATOR(...)
#define OPERATOR(NAME, ...) [OPERATOR_##NAME] = SCANBENCH_OPERATOR_##NAME,
#include "../bench/operators.def"
    };
    const struct problem *p = &call->problem;
    const scanbench_type type = type_of(p->type);
    if (p->binary_operator == OPERATOR_RECURRENCE)
        return scanbench_linear_recurrence(*call->kept, type, call->input, call->second,
                                           call->output, p->n, p->segment_length, stream);
    return scanbench_scan(*call->kept, operators[p->binary_operator], type,
                          p->kind == KIND_INCLUSIVE ? SCANBENCH_INCLUSIVE : SCANBENCH_EXCLUSIVE,
                          call->input, call->output, p->n, p->segment_length, stream);
}

scanbench_status run_row(const struct call *call, void *stream)
{
    const struct problem *p = &call->problem;
    const scanbench_type type = type_of(p->type);
    scanbench_handle *handle = *call->kept;
    switch (p->op) {
    case OP_COMPACT:
        return scanbench_compact_nonzero(handle, type, call->input, call->output, call->count, p->n,
                                         stream);
    case OP_SORT:
        if (p->values != VALUES_NONE)
            return scanbench_sort_pairs(handle, type, call->input, call->output,
                                        value_bytes(p->values), call->input_values,
                                        call->output_values, p->n, stream);
        return scanbench_sort_keys(handle, type, call->input, call->output, p->n, stream);
    default:
        return run_scan(call, stream);
    }
}

void release_row(const struct call *call)
{
    scanbench_destroy(*call->kept);
    *call->kept = NULL;
}

const char *no_such_call(const struct problem *problem)
{
    if (problem->segments != SEGMENTS_NONE && problem->segments != SEGMENTS_ROWS)
        return "the library takes segments by rows only";
    if (problem->binary_operator == OPERATOR_RECURRENCE && problem->kind == KIND_EXCLUSIVE)
        return "the library solves inclusive recurrences only: --inclusive";
    return NULL;
}

/* The row is skipped where the library would refuse the call. */
static const char *unsupported(const struct problem *problem)
{
    const char *why = no_such_call(problem);
    if (why == NULL && cpu_side.choose(problem).algorithm == NULL)
        why = "no algorithm of the library";
    return why;
}

/* A status other than OK leaves the output as it is, and the check of the result says so. The
 * library has the helpers of the program, which are pinned. */
static void prepare(const struct call *call)
{
    open_row(call, &cpu_side, call->problem.threads);
    scanbench_handle *handle = *call->kept;
    if (handle != NULL)
        handle->limits.pinned_to = call->problem.device->pinned_to;
}

static void run(const struct call *call)
{
    run_row(call, NULL);
}

#define ROW(operation, its_traits)                                                        \
    {                                                                                     \
        .name = "libscanbench", .op = operation, .family = FAMILY_OWN,                    \
        .traits = TRAIT_HAS_THREADS | (its_traits), .wide_sum_types = TYPES_OF_WIDE_SUMS, \
        .summary = "what `make library` builds, called as users call it",                 \
        .source = "library/scanbench.h", .operator_types = ALL_TYPES,                     \
        .recurrence_types = TYPES_OF_OWN_SUMS, .segment_types = ALL_TYPES,                \
        .segment_operator_types = ALL_TYPES, .narrow_key_types = TYPES_OF_NARROW_KEYS,    \
        .supports = unsupported, .prepare = prepare, .run = run, .release = release_row,  \
    }

const struct algorithm cpu_scan_libscanbench = ROW(OP_SCAN, 0);
const struct algorithm cpu_compact_libscanbench = ROW(OP_COMPACT, 0);
const struct algorithm cpu_sort_libscanbench = ROW(OP_SORT, TRAIT_PAIRS | TRAIT_ALLOCATES(3));
