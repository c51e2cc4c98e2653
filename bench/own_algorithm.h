/* own_algorithm.h: an algorithm of the user's: what the lines of its file say. */
#pragma once

#define SCANBENCH_OWN_INTERFACE_ONLY
#include "../own/scanbench_own.h"
#include "algorithm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lines of a file with one name and operation: one for each type and kind. */
struct own_algorithm {
    struct algorithm algorithm; /* first: a problem points to it */
    const struct scanbench_entry **entries;
    /* The same lines, compiled so that the emulator sees each access; for those without, NULL. */
    const struct scanbench_entry **observed;
    size_t entry_count;
};

/* Is the line for the problem's type and kind, whatever its n? */
bool own_is_for(const struct scanbench_entry *entry, const struct problem *problem);

/* The line that solves the problem; NULL: none does. */
const struct scanbench_entry *own_entry(const struct problem *problem);

/* The same, compiled so that the emulator sees each access, if it is. */
const struct scanbench_entry *own_observed_entry(const struct problem *problem);

#ifdef __cplusplus
}
#endif
