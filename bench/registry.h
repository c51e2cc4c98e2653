/* registry.h: the table of algorithms, as data.
 *
 * Built from algorithms.def alone. It knows algorithms, not options. */
#ifndef SCANBENCH_BENCH_REGISTRY_H
#define SCANBENCH_BENCH_REGISTRY_H

#include "algorithm.h"

#include <stdbool.h>
#include <stdio.h>

enum { ALGORITHM_NAME_BYTES = 48 };

/* One name of one operation, with its implementation on each kind of device:
 * NULL where it has none, or where this build does not have it. */
struct table_row {
    char name[ALGORITHM_NAME_BYTES];
    enum operation op;
    const struct algorithm *on[DEVICE_KIND_COUNT];
    bool listed_on[DEVICE_KIND_COUNT]; /* the table has it, whatever this build has */
    bool needs_cuda_build;             /* in the table, but not in a build without nvcc */
};

/* The rows in the table's order. Lines of algorithms.def that share a name and
 * an operation (memcpy on the CPU and on the GPU) are one row. */
size_t registry_row_count(void);
const struct table_row *registry_row(size_t index);

/* Any implementation of the row, for its summary, family and traits; NULL if
 * this build has none. */
const struct algorithm *row_descriptor(const struct table_row *row);

/* Does a word of --algo (a name, a glob, or a group: all, cpu, gpu, own,
 * library) select the row? */
bool row_matches(const struct table_row *row, const char *word);

/* The same for the row on one kind of device: `cpu` selects memcpy on the CPU,
 * not memcpy on the GPU. False where the table does not list the row there. */
bool row_matches_on(const struct table_row *row, enum device_kind kind, const char *word);

/* Is the word a group, or does it select any row at all? */
bool registry_knows(const char *word);

/* The groups, in the order of --help; NULL behind the last. */
const char *registry_group(size_t index);

/* The known name or group nearest to a misspelt word, never NULL. */
const char *registry_nearest(const char *word);

/* Names as users write them. */
const char *operation_name(enum operation op);
const char *type_name(enum element_type type);
const char *kind_name(enum scan_kind kind);
const char *device_kind_name(enum device_kind kind);
const char *simd_path_name(enum simd_path path);

#endif
