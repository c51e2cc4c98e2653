/* registry.h: the rows that --algo selects from, and its words for them.
 *
 * The rows are those of the table, with the choices put where they run. */
#ifndef SCANBENCH_BENCH_REGISTRY_H
#define SCANBENCH_BENCH_REGISTRY_H

#include "names.h" /* a row is spoken of by its operation and its devices */
#include "table.h"

size_t registry_row_count(void);
const struct table_row *registry_row(size_t index);

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

#endif
