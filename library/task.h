/* task.h: one call, as the user makes it, and whether its arguments can be. */
#pragma once

#include "handle.h"

/* What a call reads, and what it writes: the elements, or the values that move with them, or the
 * second input of a recurrence with its result. */
struct arrays {
    const void *input;
    void *output;
    const char *input_name, *output_name; /* of the arguments */
    size_t bytes;                         /* of an element; 0: there are no such arrays */
};

/* One call, as the user makes it. */
struct task {
    enum operation op;
    enum binary_operator binary_operator;
    int given; /* the number of the operation or the operator, even where there is none */
    scanbench_kind kind;
    scanbench_type type;
    enum value_type value_type;             /* sort of pairs */
    size_t value_bytes;                     /* the same, even where there is no such type */
    struct arrays elements, values, second; /* `bytes` follow from the types */
    uint64_t *count;                        /* compaction; else NULL */
    uint64_t n, row;
    void *stream;
};

/* The type of values of that size; VALUE_TYPE_COUNT: there are none. */
enum value_type value_type_of(size_t bytes);

/* Is the operator defined on elements of that type? */
bool takes_type(enum binary_operator binary_operator, enum element_type type);

/* Begins a problem by what its call says. There are so few elements that no number of bytes that
 * follows from theirs wraps. */
scanbench_status begin_problem(scanbench_handle *handle, const struct task *task,
                               struct problem *problem);

/* Checks pointers, once `bytes` of the task's arrays are known. */
scanbench_status check_task(scanbench_handle *handle, const struct task *task);

bool are_aligned(const struct arrays *arrays, size_t bytes);
bool is_in_place(const struct arrays *arrays);

/* Is any array replaced by the result? */
bool replaces_input(const struct task *task);
