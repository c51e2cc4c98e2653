/* registry.h: the words of --algo, and the rows of the table that they select. */
#pragma once

#include "names.h" /* the operations and devices of a row */
#include "table.h"

/* Does a word of --algo select the row? The word is a name, a glob, a group (all, cpu, gpu, own,
 * library) or the row's own file. An engine's name, which algorithms over slices once had, selects
 * those. */
bool row_matches(const struct table_row *row, const char *word);

/* Does the word select the row on one kind of device? `cpu` selects memcpy on the CPU but not
 * on the GPU. False if the table does not list the row there. */
bool row_matches_on(const struct table_row *row, enum device_kind kind, const char *word);

/* Is the word, or does the glob match, the engine's name? */
bool names_engine(const char *word, enum engine_id engine);

/* Is the word the name of a group? */
bool is_group(const char *word);

/* Is the word a group, or does it select at least one row? */
bool registry_knows(const char *word);

/* The groups in the order of --help, terminated by NULL. */
const char *registry_group(size_t index);

/* The name or group nearest to a misspelt word, never NULL. */
const char *registry_nearest(const char *word);
