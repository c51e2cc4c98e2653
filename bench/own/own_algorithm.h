/* own_algorithm.h: an algorithm of the user's, between the registry and the device that calls it.
 */
#pragma once

#define SCANBENCH_OWN_INTERFACE_ONLY
#include "../../own/scanbench_own.h"
#include "../algorithm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The lines of a file with one name and operation: one for each type and kind. */
struct own_algorithm {
    struct algorithm algorithm; /* first: a problem points to it */
    const struct scanbench_entry **entries;
    size_t entry_count;
};

/* The line that solves the problem; NULL: none does. */
const struct scanbench_entry *own_entry(const struct problem *problem);

/* Calls the user's function on the device: bench/device/own_call.cu. */
void gpu_run_own(const struct call *call);
void emulated_run_own(const struct call *call);

/* Of the first GPU; 0: there is none. */
int gpu_compute_capability(void);

#ifdef __cplusplus
}
#endif
