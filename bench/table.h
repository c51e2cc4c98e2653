/* table.h: the table of algorithms.
 *
 * Built from algorithms.def alone. It knows algorithms, not options. */
#ifndef SCANBENCH_BENCH_TABLE_H
#define SCANBENCH_BENCH_TABLE_H

#include "engine.h"

#include <stdbool.h>

enum { ALGORITHM_NAME_BYTES = 48 };

/* One name of one operation, with its implementation on each kind of device; NULL if it has
 * none, or if this build lacks it. */
struct table_row {
    char name[ALGORITHM_NAME_BYTES];
    enum operation op;
    const struct algorithm *on[DEVICE_KIND_COUNT];
    bool listed_on[DEVICE_KIND_COUNT]; /* the table lists it there, even if this build lacks it */
    bool needs_cuda_build;             /* missing from a build without nvcc */
    bool of_team;   /* works on the slices of several devices, by an engine of that name */
    bool is_choice; /* `auto`: the problem decides which algorithm it is; see choice.h */
};

/* The rows in the table's order. Lines of algorithms.def with the same name and operation
 * (memcpy on the CPU and on the GPU) are one row. A choice has no device here: the registry
 * adds them. */
size_t table_row_count(void);
const struct table_row *table_row(size_t index);

/* NULL if the operation has no row of that name. */
const struct table_row *table_row_named(enum operation op, const char *name);

/* The algorithm of that name on that kind of device; NULL if this build lacks it. The table must
 * have a row of that name. */
const struct algorithm *table_algorithm(enum operation op, const char *name, enum device_kind kind);

/* Any implementation of the row, for its summary, family and traits; NULL if this build has
 * none. */
const struct algorithm *row_descriptor(const struct table_row *row);

/* What to install or build for an algorithm that this build lacks; NULL if it has it. */
const char *missing_package(const struct algorithm *algorithm);

#endif
