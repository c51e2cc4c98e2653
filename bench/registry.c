/* registry: matches the words of --algo with the rows of the table. */
#include "registry.h"

#include "base/errors.h"
#include "base/nearest.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *const groups[] = {"all", "cpu", "gpu", "own", "library"};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

const char *registry_group(size_t index)
{
    return index < GROUP_COUNT ? groups[index] : NULL;
}

/* If this build lacks the algorithm, its family follows from the table: a row that the emulator
 * has is an own kernel; a row without one is a DEVICE line, which means a library. */
static enum family family_on(const struct table_row *row, enum device_kind kind)
{
    if (row->on[kind] != NULL)
        return row->on[kind]->family;
    return row->on[DEVICE_EMULATOR] != NULL ? row->on[DEVICE_EMULATOR]->family : FAMILY_LIBRARY;
}

bool names_engine(const char *word, enum engine_id engine)
{
    return fnmatch(word, engine_name(engine), FNM_NOESCAPE) == 0;
}

static bool names_engine_on(enum device_kind kind, const char *word)
{
    for (int e = 0; e < ENGINE_COUNT; e++)
        if (engine_listed_on(e, kind) && names_engine(word, e))
            return true;
    return false;
}

bool row_matches_on(const struct table_row *row, enum device_kind kind, const char *word)
{
    if (!row->listed_on[kind])
        return false;
    if (row->own_file != NULL && strcmp(word, row->own_file) == 0)
        return true;
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
    return fnmatch(word, row->name, FNM_NOESCAPE) == 0 ||
           (row->of_team && names_engine_on(kind, word));
}

bool row_matches(const struct table_row *row, const char *word)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (row_matches_on(row, kind, word))
            return true;
    return false;
}

bool is_group(const char *word)
{
    bool any = false;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        any |= strcmp(word, groups[i]) == 0;
    return any;
}

bool registry_knows(const char *word)
{
    if (is_group(word))
        return true;
    for (size_t i = 0; i < table_row_count(); i++)
        if (row_matches(table_row(i), word))
            return true;
    return false;
}

const char *registry_nearest(const char *word)
{
    const size_t most = table_row_count() + GROUP_COUNT + ENGINE_COUNT;
    const char **candidates = allocate_or_die(NULL, most * sizeof *candidates);
    size_t count = 0;
    for (size_t i = 0; i < table_row_count(); i++)
        candidates[count++] = table_row(i)->name;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        candidates[count++] = groups[i];
    for (int e = 0; e < ENGINE_COUNT; e++)
        candidates[count++] = engine_name(e);
    const char *nearest = nearest_match(word, candidates, count);
    free(candidates);
    return nearest;
}
