/* registry: matches the words of --algo with the rows of the table. */
#include "registry.h"

#include "choice.h"
#include "base/errors.h"
#include "base/nearest.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static struct table_row *rows; /* NULL until first used */
static size_t row_count;

/* The descriptors that the rows of choices point to. */
static struct algorithm choices[OPERATION_COUNT];

static const char *const groups[] = {"all", "cpu", "gpu", "own", "library"};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

const char *registry_group(size_t index)
{
    return index < GROUP_COUNT ? groups[index] : NULL;
}

/* Sets the devices of a choice. Returns false if it has none. */
static bool place_choice(struct table_row *row)
{
    struct algorithm *choice = &choices[row->op];
    bool placed = false;
    *choice = choice_descriptor(row->op);
    if (strcmp(choice->name, row->name) != 0)
        BUG("the table's choice %s is called %s", row->name, choice->name);
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        row->listed_on[kind] = has_choice(row->op, kind);
        row->on[kind] = choice_in_build(row->op, kind, table_algorithm) ? choice : NULL;
        placed |= row->listed_on[kind];
    }
    return placed;
}

static void make_rows(void)
{
    rows = allocate_or_die(NULL, table_row_count() * sizeof *rows);
    for (size_t i = 0; i < table_row_count(); i++) {
        rows[row_count] = *table_row(i);
        row_count += !rows[row_count].is_choice || place_choice(&rows[row_count]);
    }
}

size_t registry_row_count(void)
{
    if (rows == NULL)
        make_rows();
    return row_count;
}

const struct table_row *registry_row(size_t index)
{
    if (index >= registry_row_count())
        BUG("there is no row %zu", index);
    return &rows[index];
}

/* If this build lacks the algorithm, its family follows from the table: a row that the emulator
 * has is an own kernel; a row without one is a DEVICE line, which means a library. */
static enum family family_on(const struct table_row *row, enum device_kind kind)
{
    if (row->on[kind])
        return row->on[kind]->family;
    return row->on[DEVICE_EMULATOR] ? row->on[DEVICE_EMULATOR]->family : FAMILY_LIBRARY;
}

bool row_matches_on(const struct table_row *row, enum device_kind kind, const char *word)
{
    if (!row->listed_on[kind])
        return false;
    if (strcmp(word, "all") == 0)
        return true;
    if (strcmp(word, "cpu") == 0)
        return kind == DEVICE_CPU;
    if (strcmp(word, "gpu") == 0)
        return kind != DEVICE_CPU;
    if (strcmp(word, "own") == 0)
        return family_on(row, kind) == FAMILY_OWN;
    if (strcmp(word, "library") == 0)
        return family_on(row, kind) == FAMILY_LIBRARY;
    return fnmatch(word, row->name, FNM_NOESCAPE) == 0;
}

bool row_matches(const struct table_row *row, const char *word)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (row_matches_on(row, kind, word))
            return true;
    return false;
}

bool registry_knows(const char *word)
{
    for (size_t i = 0; i < GROUP_COUNT; i++)
        if (strcmp(word, groups[i]) == 0)
            return true;
    for (size_t i = 0; i < registry_row_count(); i++)
        if (row_matches(registry_row(i), word))
            return true;
    return false;
}

const char *registry_nearest(const char *word)
{
    const size_t most = registry_row_count() + GROUP_COUNT;
    const char **candidates = allocate_or_die(NULL, most * sizeof *candidates);
    size_t count = 0;
    for (size_t i = 0; i < registry_row_count(); i++)
        candidates[count++] = registry_row(i)->name;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        candidates[count++] = groups[i];
    const char *nearest = nearest_match(word, candidates, count);
    free(candidates);
    return nearest;
}
