/* registry.h: the rows that --algo selects from, and the words that select them.
 *
 * The rows are those of the table, with the devices of each choice filled in. */
#ifndef SCANBENCH_BENCH_REGISTRY_H
#define SCANBENCH_BENCH_REGISTRY_H

#include "names.h" /* the operations and devices of a row */
#include "table.h"

size_t registry_row_count(void);
const struct table_row *registry_row(size_t index);

/* Does a word of --algo select the row? The word is a name, a glob or a group: all, cpu, gpu,
 * own, library. */
bool row_matches(const struct table_row *row, const char *word);

/* Does the word select the row on one kind of device? `cpu` selects memcpy on the CPU but not
 * on the GPU. False if the table does not list the row there. */
bool row_matches_on(const struct table_row *row, enum device_kind kind, const char *word);

/* Is the word a group, or does it select at least one row? */
bool registry_knows(const char *word);

/* The groups in the order of --help, terminated by NULL. */
const char *registry_group(size_t index);

/* The name or group nearest to a misspelt word, never NULL. */
const char *registry_nearest(const char *word);

#endif
