/* own_algorithm: finds the line of a user's file that solves a problem. */
#include "own_algorithm.h"

#include "names.h"

#include <string.h>

bool own_is_for(const struct scanbench_entry *entry, const struct problem *problem)
{
    return strcmp(entry->type, type_name(problem->type)) == 0 &&
           (problem->op != OP_SCAN ||
            (problem->kind == KIND_INCLUSIVE ? entry->inclusive : entry->exclusive));
}

static bool has_size(const struct scanbench_entry *entry, uint64_t n)
{
    return n >= entry->at_least && n <= entry->at_most &&
           (!entry->powers_of_two || (n & (n - 1)) == 0);
}

/* Returns own->entry_count if no line solves the problem. */
static size_t find_entry(const struct own_algorithm *own, const struct problem *problem)
{
    size_t e = 0;
    while (e < own->entry_count &&
           !(own_is_for(own->entries[e], problem) && has_size(own->entries[e], problem->n)))
        e++;
    return e;
}

const struct scanbench_entry *own_entry(const struct problem *problem)
{
    const struct own_algorithm *own = (const struct own_algorithm *)problem->algorithm;
    const size_t e = find_entry(own, problem);
    return e < own->entry_count ? own->entries[e] : NULL;
}

const struct scanbench_entry *own_observed_entry(const struct problem *problem)
{
    const struct own_algorithm *own = (const struct own_algorithm *)problem->algorithm;
    const size_t e = find_entry(own, problem);
    return e < own->entry_count && own->observed[e] != NULL ? own->observed[e] : own_entry(problem);
}
