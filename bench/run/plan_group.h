/* plan_group.h: what is measured in turns: entries of a plan that share device, input and output.
 */
#pragma once

#include "../cli/options.h"
#include "../device/backends.h"

/* One future row: an algorithm with a block size, a number of threads and a vector path. */
struct plan_entry {
    const struct table_row *row;
    const char *name; /* for users: the row's or, of several devices, the engine's */
    const struct algorithm *algorithm; /* NULL: the algorithm does not exist on this device */
    unsigned block;                    /* threads per block; 0: none */
    unsigned threads;
    enum simd_path simd;
    bool printed; /* false: measured only for comparison */
};

/* Entries that share device, input and output, and are measured in turns. */
struct plan_group {
    struct device_choice device;
    enum operation op;
    enum element_type type;
    enum binary_operator binary_operator;
    enum scan_kind kind;
    enum value_type values;
    enum cache_state cache;
    struct input_spec input;
    uint64_t n;
    bool reference; /* one device, with whose time that of teams is compared */
    struct plan_entry *entries;
    size_t entry_count;
};

/* What all entries of a group solve, before a device is open. */
static inline struct problem problem_of(const struct plan_group *group)
{
    const struct segmentation *segments = &group->input.segments;
    return (struct problem){.op = group->op,
                            .type = group->type,
                            .binary_operator = group->binary_operator,
                            .kind = group->kind,
                            .segments = segments->form,
                            .segment_length = segments->length,
                            .segment_count = segment_count(segments, group->n),
                            .values = group->values,
                            .n = group->n};
}

/* Is it a ceiling that copies the input (memcpy)? False for NULL. */
static inline bool copies_input(const struct algorithm *algorithm)
{
    return algorithm != NULL && algorithm->result == RESULT_COPY;
}

/* Do two groups differ in nothing but the devices of one kind and the state of their caches? */
static inline bool same_problem(const struct plan_group *a, const struct plan_group *b)
{
    return a->op == b->op && a->type == b->type && a->binary_operator == b->binary_operator &&
           a->kind == b->kind && a->values == b->values && a->input.shape == b->input.shape &&
           a->input.max == b->input.max && a->input.keep == b->input.keep &&
           a->input.segments.form == b->input.segments.form &&
           a->input.segments.lengths == b->input.segments.lengths &&
           a->input.segments.length == b->input.segments.length && a->n == b->n &&
           a->device.kind == b->device.kind;
}
