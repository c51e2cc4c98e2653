/* scanbench: the functions of the interface, as tasks. */
#include "solve.h"

int scanbench_version(void)
{
    return SCANBENCH_VERSION;
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
                              .binary_operator = is_known ? operators[op] : OPERATOR_COUNT,
                              .given = (int)op,
                              .kind = kind,
                              .type = type,
                              .elements = {input, output, "input", "output"},
                              .n = n,
                              .row = row,
                              .stream = stream};
    return solve_task(handle, task);
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
                              .kind = SCANBENCH_INCLUSIVE,
                              .binary_operator = OPERATOR_RECURRENCE,
                              .type = type,
                              .elements = {a, h, "a", "h"},
                              .second = {b, h, "b", "h"},
                              .n = n,
                              .row = row,
                              .stream = stream};
    return solve_task(handle, task);
}

scanbench_status scanbench_compact_nonzero(scanbench_handle *handle, scanbench_type type,
                                           const void *input, void *output, uint64_t *count,
                                           uint64_t n, void *stream)
{
    const struct task task = {.op = OP_COMPACT,
                              .type = type,
                              .elements = {input, output, "input", "output"},
                              .count = count,
                              .n = n,
                              .stream = stream};
    return solve_task(handle, task);
}

scanbench_status scanbench_sort_keys(scanbench_handle *handle, scanbench_type type,
                                     const void *input, void *output, uint64_t n, void *stream)
{
    const struct task task = {.op = OP_SORT,
                              .type = type,
                              .elements = {input, output, "input", "output"},
                              .n = n,
                              .stream = stream};
    return solve_task(handle, task);
}

scanbench_status scanbench_sort_pairs(scanbench_handle *handle, scanbench_type type,
                                      const void *input, void *output, size_t value_bytes,
                                      const void *input_values, void *output_values, uint64_t n,
                                      void *stream)
{
    const struct task task = {
        .op = OP_SORT,
        .type = type,
        .value_type = value_type_of(value_bytes),
        .elements = {input, output, "input", "output"},
        .value_bytes = value_bytes,
        .values = {input_values, output_values, "input_values", "output_values"},
        .n = n,
        .stream = stream};
    return solve_task(handle, task);
}
