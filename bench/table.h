/* table.h: the table of algorithms, as data.
 *
 * Built from algorithms.def alone. It knows algorithms, not options. */
#ifndef SCANBENCH_BENCH_TABLE_H
#define SCANBENCH_BENCH_TABLE_H

#include "algorithm.h"

#include <stdbool.h>

enum { ALGORITHM_NAME_BYTES = 48 };

/* One name of one operation, with its implementation on each kind of device:
 * NULL where it has none, or where this build does not have it. */
struct table_row {
    char name[ALGORITHM_NAME_BYTES];
    enum operation op;
    const struct algorithm *on[DEVICE_KIND_COUNT];
    bool listed_on[DEVICE_KIND_COUNT]; /* the table has it, whatever this build has */
    bool needs_cuda_build;             /* in the table, but not in a build without nvcc */
    bool is_choice; /* `auto`: which algorithm it is depends on the problem; see choice.h */
};

/* The rows in the table's order. Lines of algorithms.def that share a name and
 * an operation (memcpy on the CPU and on the GPU) are one row. A choice is on no
 * device here: the registry says where it runs. */
size_t table_row_count(void);
const struct table_row *table_row(size_t index);

/* NULL if the operation has no row of that name. */
const struct table_row *table_row_named(enum operation op, const char *name);

/* Any implementation of the row, for its summary, family and traits; NULL if
 * this build has none. */
const struct algorithm *row_descriptor(const struct table_row *row);

#endif
