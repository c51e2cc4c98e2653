/* operations.h: the table of operations. */
#pragma once

#include "algorithm.h"

enum operation_property {
    HAS_KIND = 1 << 0,         /* can be exclusive or inclusive: --kind */
    HAS_KEEP = 1 << 1,         /* keeps a fraction of its input: --keep */
    HAS_COUNT = 1 << 2,        /* reports how many elements it has written */
    HAS_OPERATOR = 1 << 3,     /* combines elements by a binary operator: --operator */
    IN_ANY_ORDER = 1 << 4,     /* combines elements that are not neighbours */
    NEEDS_MANY_SCANS = 1 << 5, /* runs many scans if it is built on a scan */
    HAS_VALUES = 1 << 6,       /* can move values with its elements: --values */
    DEPENDS_ON_BITS = 1 << 7,  /* takes less time for small elements: by default they are not */
    HAS_SEGMENTS = 1 << 8,     /* can work on each segment of an array by itself: --segments */
    ONE_PER_SEGMENT = 1 << 9,  /* its result has one element for each segment */
};

/* One line of operations.def. */
struct operation_facts {
    const char *name;
    const char *title;
    unsigned properties;
    uint64_t (*result_elements)(uint64_t n);
};

#ifdef __cplusplus
extern "C" {
#endif

const struct operation_facts *operation_facts(enum operation op);

#ifdef __cplusplus
}
#endif

static inline int operation_has(enum operation op, enum operation_property property)
{
    return (operation_facts(op)->properties & property) != 0;
}

/* Elements of the result; for compaction an upper bound. */
static inline uint64_t result_elements(const struct problem *problem)
{
    if (problem->segments != SEGMENTS_NONE && operation_has(problem->op, ONE_PER_SEGMENT))
        return problem->segment_count;
    return operation_facts(problem->op)->result_elements(problem->n);
}
