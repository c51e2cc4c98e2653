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

static scanbench_status reserve(const struct call *call)
{
    const struct problem *p = &call->problem;
    if (p->values != VALUES_NONE)
        return scanbench_reserve_pairs(*call->kept, type_of(p->type), value_bytes(p->values), p->n);
    const scanbench_operation operation = p->op == OP_SCAN      ? SCANBENCH_SUM
                                          : p->op == OP_COMPACT ? SCANBENCH_COMPACT
                                                                : SCANBENCH_SORT;
    return scanbench_reserve(*call->kept, operation, type_of(p->type), p->n);
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
        return (p->kind == KIND_INCLUSIVE ? scanbench_inclusive_sum : scanbench_exclusive_sum)(
            handle, type, call->input, call->output, p->n, stream);
    }
}

void release_row(const struct call *call)
{
    scanbench_destroy(*call->kept);
    *call->kept = NULL;
}

/* The row is skipped where the library would refuse the call. */
static const char *unsupported(const struct problem *problem)
{
    return cpu_side.choose(problem, false).algorithm == NULL ? "no algorithm of the library" : NULL;
}

/* A status other than OK leaves the output as it is, and the check of the result says so. */
static void prepare(const struct call *call)
{
    open_row(call, &cpu_side, call->problem.threads);
}

static void run(const struct call *call)
{
    run_row(call, NULL);
}

#define ROW(operation, its_traits)                                                                \
    {                                                                                             \
        .name = "libscanbench", .op = operation, .family = FAMILY_OWN,                            \
        .traits = TRAIT_HAS_THREADS | (its_traits), .wide_sum_types = TYPES_OF_WIDE_SUMS,         \
        .summary = "what `make library` builds, called as users call it",                         \
        .source = "library/scanbench.h", .supports = unsupported, .prepare = prepare, .run = run, \
        .release = release_row,                                                                   \
    }

const struct algorithm cpu_scan_libscanbench = ROW(OP_SCAN, 0);
const struct algorithm cpu_compact_libscanbench = ROW(OP_COMPACT, 0);
const struct algorithm cpu_sort_libscanbench = ROW(OP_SORT, TRAIT_PAIRS | TRAIT_ALLOCATES(3));
